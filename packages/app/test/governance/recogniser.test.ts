import { serve } from "@seneschal/server-fastify";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { json, type PresidioStub, startPresidioStub } from "../../../../tools/presidio-stub.ts";
import { checkConfig } from "../../src/compose/check-config.ts";
import { processSettings } from "../../src/compose/process-settings.ts";
import { type Rig, startRig } from "./rig.ts";
import { type StubModel, say, startStubModel } from "./stub-model.ts";

let presidio: PresidioStub;
let upstream: StubModel;
beforeAll(async () => {
  presidio = await startPresidioStub({ Zorkblat: "PER", Oblongs: "TRIBE" });
  upstream = await startStubModel();
});
afterAll(async () => {
  await presidio.close();
  await upstream.close();
});
afterEach(() => {
  presidio.answer();
  upstream.told.length = 0;
});

const settings = (more: object = {}) => ({
  classification: {
    entities: { TRIBE: { tier: "RESTRICTED", tags: ["PII"] } },
    recogniser: {
      kind: "presidio",
      url: presidio.url,
      entities: { PER: "PERSON", TRIBE: "TRIBE", MISC: null },
      timeout: "60s",
      ...more,
    },
  },
  models: { upstream: upstream.url },
});
const TEXT = "lunch with Zorkblat at noon";
const rule = { entity: "PERSON", operator: "replace" };
const redaction = { text: TEXT, format: "text", rules: [rule] };
const prompt = { model: "stub-1", messages: [{ role: "user", content: TEXT }] };

describe.each([0, 1])("a recogniser of the configuration, beside %i threads", (threads) => {
  let rig: Rig;
  beforeAll(async () => {
    const { classification, models } = settings();
    rig = await startRig(serve, { settings: { models, classification: { ...classification, threads, deadline: "60s" } } });
  });
  afterAll(() => rig.stop());

  test("is asked about texts: what it finds counts, with a tier of the configuration as well", async () => {
    const { status, body } = await rig.call(undefined, "POST", "/api/v1/classify", { query: TEXT });
    expect([status, body.tier]).toEqual([200, "CONFIDENTIAL"]);
    expect(body.findings).toMatchObject([{ entity: "PERSON", start: 11, end: 19, score: 0.85, pattern: "recogniser" }]);
    const tribe = await rig.call(undefined, "POST", "/api/v1/classify", { query: "dinner with the Oblongs" });
    expect(tribe.body.tier).toBe("RESTRICTED");
  });

  test("is asked again where tables had to be looked up, and once for each text", async () => {
    expect((await rig.call("admin", "PUT", "/api/v1/resources/lunches", { tier: "PUBLIC" })).status).toBe(200);
    presidio.asked.length = 0;
    const query = "select id from lunches where note = 'Zorkblat'";
    const { body } = await rig.call("admin", "POST", "/api/v1/classify", { query });
    expect([body.tier, body.form]).toEqual(["CONFIDENTIAL", "sql"]);
    const texts = presidio.asked.map(({ text }) => text);
    expect(texts.sort()).toEqual([...new Set(texts)]);
  });

  test("what it finds is hidden, and a rule may name what it alone finds", async () => {
    const hidden = await rig.call("admin", "POST", "/api/v1/redact", redaction);
    expect(hidden.body.text).toBe("lunch with <PERSON> at noon");
    const tribe = { text: "dinner with the Oblongs", format: "text", rules: [{ entity: "TRIBE", operator: "mask" }] };
    expect((await rig.call("admin", "POST", "/api/v1/redact", tribe)).body.text).toBe("dinner with the *******");
  });

  test("what it finds is told to no language model", async () => {
    upstream.answer(({ path }, response) => say(path, "fine", response));
    const { status } = await rig.call("admin", "POST", "/v1/chat/completions", prompt);
    expect(status).toBe(200);
    expect(JSON.stringify(upstream.told)).toContain("lunch with");
    expect(JSON.stringify(upstream.told)).not.toContain("Zorkblat");
  });

  const wrong: readonly (readonly [string, Parameters<PresidioStub["answer"]>[0]])[] = [
    ["fails", (_, response) => void response.writeHead(500).end()],
    ["answers what is none", (_, response) => json(response, [{ entity_type: "PER", start: 0, end: 9999, score: 1 }])],
    ["hangs up", (_, response) => void response.destroy()],
  ];
  test.each(wrong)("one that %s answers nobody: 503 with the time to ask again, and nothing is sent", async (_, answer) => {
    presidio.answer(answer);
    for (const [path, body] of [
      ["/api/v1/classify", { query: TEXT }],
      ["/api/v1/redact", redaction],
      ["/v1/chat/completions", prompt],
    ] as const) {
      const { status, headers, body: said } = await rig.call("admin", "POST", path, body);
      expect([path, status, headers.get("retry-after")]).toEqual([path, 503, "5"]);
      expect(JSON.stringify(said)).not.toContain("Zorkblat");
    }
    expect(upstream.told).toEqual([]);
    const { body: health } = await rig.call("admin", "GET", "/health");
    expect([health.status, health.components.recogniser.status]).toEqual(["degraded", "unhealthy"]);
    expect((await rig.call(undefined, "GET", "/ready")).status).toBe(200);
    expect((await rig.call(undefined, "GET", "/metrics")).body).toMatch(/^governance_recogniser_failing 1$/m);
    presidio.answer();
    expect((await rig.call(undefined, "POST", "/api/v1/classify", { query: TEXT })).status).toBe(200);
    expect((await rig.call(undefined, "GET", "/metrics")).body).toMatch(/^governance_recogniser_failing 0$/m);
    expect((await rig.call("admin", "GET", "/health")).body.components.recogniser.status).toBe("healthy");
  });
});

test("without a recogniser nobody is asked, and health says nothing of one", async () => {
  const rig = await startRig(serve);
  presidio.asked.length = 0;
  expect((await rig.call(undefined, "POST", "/api/v1/classify", { query: TEXT })).body.findings).toEqual([]);
  expect(Object.keys((await rig.call("admin", "GET", "/health")).body.components)).not.toContain("recogniser");
  expect(presidio.asked).toEqual([]);
  await rig.stop();
});

describe("the settings of a recogniser", () => {
  const processOf = (recogniser: object) =>
    processSettings.parse({ services: ["governance"], governance: { classification: { recogniser } } });

  test("are refused where texts would leave this machine in the clear, or nothing is told", async () => {
    const refused = startRig(serve, { settings: settings({ url: "http://presidio.example" }) });
    await expect(refused).rejects.toThrow("classification.recogniser.url");
    expect(() => processOf({ kind: "presidio", url: presidio.url, entities: { MISC: null } })).toThrow("no entity is told");
  });

  test("are tried by `config check`", async () => {
    const findings = async (recogniser: object) =>
      (await checkConfig(processOf(recogniser), { now: 0 })).filter(({ setting }) => setting.includes("recogniser"));
    expect(await findings({ kind: "presidio", url: presidio.url })).toEqual([]);
    presidio.answer((_, response) => void response.writeHead(500).end());
    expect(await findings({ kind: "presidio", url: presidio.url })).toMatchObject([
      { severity: "warning", setting: "governance.classification.recogniser", message: "the recogniser answered 500" },
    ]);
    expect(await findings({ kind: "presidio", url: "http://presidio.example" })).toMatchObject([{ severity: "error" }]);
  });
});
