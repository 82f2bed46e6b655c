import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";

const LETTER = "Dear Ms Okafor, your card 4111 1111 1111 1111 was charged; questions to ada@example.org or ada@example.org.";

describe.each(servers)("redaction on %s", (_, serve) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig(serve, {
      settings: { redaction: { rules: [{ entity: "CREDIT_CARD", operator: "mask", keep_last: 4 }] } },
    });
  });
  afterAll(() => rig.stop());

  const redact = (text: string, more: object = {}, who: "admin" | "other" | "judge" = "admin") =>
    rig.call(who, "POST", "/api/v1/redact", { text, ...more });

  test("every value is gone, where it was and where it is now are told, and the deployment's rule comes before the caller's", async () => {
    const { status, body } = await redact(LETTER, {
      rules: [{ operator: "replace" }, { entity: "CREDIT_CARD", operator: "keep" }],
    });
    expect(status).toBe(200);
    expect(body.text).toBe(
      "Dear Ms <PERSON>, your card **** **** **** 1111 was charged; questions to <EMAIL_ADDRESS> or <EMAIL_ADDRESS>.",
    );
    for (const { entity, start, end, redacted_start, redacted_end } of body.redactions) {
      expect(LETTER.slice(start, end)).toMatch(entity === "PERSON" ? /^Okafor$/ : entity === "CREDIT_CARD" ? /^4111/ : /^ada@/);
      expect(body.text.slice(redacted_start, redacted_end)).toMatch(/^<|^\*/);
    }
    expect((await redact(body.text)).body.text).toBe(body.text);
  });

  test("what was tokenised or encrypted comes back for the organisation that took it, and for no other", async () => {
    const given = JSON.stringify({ name: "Ada Lovelace", phone: 2025550143, note: 'she said "call\u00a0me"\n+44 20 7946 0958' });
    const { body } = await redact(given, {
      format: "json",
      rules: [{ entity: "PERSON", operator: "tokenise" }, { operator: "encrypt" }],
    });
    expect(Object.keys(JSON.parse(body.text))).toEqual(["name", "phone", "note"]);
    expect(body.text).not.toMatch(/Ada|2025550143|7946/);
    const restore = (who: "admin" | "other" | "judge") => rig.call(who, "POST", "/api/v1/restore", { text: body.text });
    expect((await restore("admin")).body).toEqual({ text: given, count: 3 });
    expect((await restore("other")).body).toEqual({ text: body.text, count: 0 });
    expect((await restore("judge")).status).toBe(403);
  });

  test("a caller asks for some entities, allows values and sets a score; what the deployment hides is hidden all the same", async () => {
    expect((await redact(LETTER, { entities: ["EMAIL_ADDRESS"] })).body.text).toBe(
      "Dear Ms Okafor, your card **** **** **** 1111 was charged; questions to <EMAIL_ADDRESS> or <EMAIL_ADDRESS>.",
    );
    const allow_list = ["ada@example.org", "4111 1111 1111 1111"];
    expect((await redact(LETTER, { allow_list })).body.text).toBe(
      "Dear Ms <PERSON>, your card **** **** **** 1111 was charged; questions to ada@example.org or ada@example.org.",
    );
    expect((await redact("see 10.1.2.3 there", { score_threshold: 1 })).body.text).toBe("see 10.1.2.3 there");
    const classify = (more: object) => rig.call("admin", "POST", "/api/v1/classify", { query: LETTER, ...more });
    const found = async (more: object) =>
      new Set((await classify(more)).body.findings.map(({ entity }: { entity: string }) => entity));
    expect(await found({ entities: ["EMAIL_ADDRESS"] })).toEqual(new Set(["EMAIL_ADDRESS"]));
    expect(await found({ allow_list })).toEqual(new Set(["PERSON"]));
    for (const [more, field] of [
      [{ entities: ["NO_SUCH"] }, "entities[0]"],
      [{ score_threshold: 2 }, "score_threshold"],
      [{ allow_list: [""] }, "allow_list[0]"],
    ] as const)
      for (const { status, body } of [await classify(more), await redact(LETTER, more)])
        expect([status, body.error.details.field]).toEqual([400, field]);
  });

  test("equal values have equal tokens inside an organisation only", async () => {
    const rules = [{ operator: "tokenise" }];
    const [one, again, other] = [
      await redact("write to ada@example.org", { rules }),
      await redact("it is ada@example.org", { rules }),
      await redact("write to ada@example.org", { rules }, "other"),
    ].map(({ body }) => body.text.split(" ").slice(2).join(" "));
    expect(one).toMatch(/^<EMAIL_ADDRESS token:/);
    expect(again).toBe(one);
    expect(other).not.toBe(one);
  });

  test("an event stream is hidden whole, and restored byte for byte", async () => {
    const given =
      'event: piece\r\ndata: {"delta":"write to ada@exam"}\r\n\r\nevent: piece\r\ndata: {"delta":"ple.org"}\r\n\r\ndata: [DONE]\r\n\r\n';
    const { body } = await redact(given, { format: "sse", rules: [{ operator: "tokenise" }] });
    expect(body.text).toMatch(
      /^(event: piece\r\ndata: \{"delta":"(write to )?<EMAIL_ADDRESS token:[\w-]+>"\}\r\n\r\n){2}data: \[DONE\]\r\n\r\n$/,
    );
    expect((await rig.call("admin", "POST", "/api/v1/restore", { text: body.text })).body).toEqual({ text: given, count: 2 });
  });

  test("the name of the table says what a column of several meanings holds", async () => {
    const given = { csv: "race\nquorvath\n", tsv: "id\trace\n1\tquorvath\n", json: '{"race":"quorvath"}' };
    for (const [format, text] of Object.entries(given)) {
      expect((await redact(text, { format })).body.text, format).toBe(text);
      const { body } = await redact(text, { format, about: "hr.patients" });
      expect(body.text, format).toBe(text.replace("quorvath", "<ETHNICITY>"));
    }
    expect((await redact("x", { about: "x".repeat(256) })).status).toBe(400);
  });

  test("what cannot be redacted is refused, and so is a caller without the scope", async () => {
    expect((await redact("{", { format: "json" })).status).toBe(400);
    expect((await redact("ada \ud800")).status).toBe(400);
    expect((await redact("x", { rules: [{ operator: "burn" }] })).status).toBe(400);
    expect((await redact("x", {}, "judge")).status).toBe(403);
    expect((await rig.call(undefined, "POST", "/api/v1/redact", { text: "x" })).status).toBe(401);
  });

  test.each(["tier", "entity"])("a rule that fits nothing is refused by its field: an unknown %s", async (field) => {
    const rules = [{ operator: "keep" }, { [field]: "EMAIL", operator: "drop" }];
    const { status, body } = await redact("write to ada@example.org", { rules });
    expect([status, body.error?.details.field]).toEqual([400, `rules[1].${field}`]);
  });

  test("every entity that the tiers speak of may be named in a rule", async () => {
    const { body } = await rig.call("admin", "GET", "/api/v1/tiers");
    const entities = Object.keys(body.entities);
    for (let at = 0; at < entities.length; at += 200) {
      const rules = entities.slice(at, at + 200).map((entity) => ({ entity, operator: "drop" }));
      expect((await redact("x", { rules })).status).toBe(200);
    }
  });

  test("the log says what was hidden and that something was restored, and no value", async () => {
    await redact("my ssn is 536-22-8726");
    await rig.call("admin", "POST", "/api/v1/restore", { text: "nothing" });
    const { body } = await rig.call("admin", "GET", "/api/v1/audit?limit=2");
    expect(body.records.map((r: { operation_type: string }) => r.operation_type).sort()).toEqual(["REDACT", "RESTORE"]);
    expect(JSON.stringify(body)).toContain("US_SSN");
    expect(JSON.stringify(body)).not.toContain("536-22");
  });
});

test.each(["tier", "entity"])("a rule for an unknown %s is refused at the start", async (field) => {
  await expect(
    startRig(servers[0]?.[1] as never, { settings: { redaction: { rules: [{ [field]: "NONE", operator: "drop" }] } } }),
  ).rejects.toThrow(`redaction.rules.0.${field}`);
});
