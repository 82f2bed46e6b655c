import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type Rig, servers, startRig } from "./rig.ts";

const [serve] = servers[0] === undefined ? [] : [servers[0][1]];
if (serve === undefined) throw new Error("no server");

describe("what a deployment adds", () => {
  let rig: Rig | undefined;
  afterEach(async () => {
    await rig?.stop();
    rig = undefined;
  });
  const start = async (settings: Record<string, unknown>) => {
    rig = await startRig(serve, { settings });
    return rig;
  };
  const classify = async (service: Rig, query: string) =>
    (await service.call("judge", "POST", "/api/v1/classify", { query, context: {} })).body;

  test("its recognisers, tiers, tags and regimes hold in answers and in GET /tiers", async () => {
    const service = await start({
      classification: {
        tiers: ["PUBLIC", "INTERNAL", "CONFIDENTIAL", "PROPRIETARY", "RESTRICTED", "TOP"],
        recognisers: [{ entity: "BADGE", pattern: "EMP-\\d{5}", context: ["Badge"] }],
        entities: { BADGE: { tier: "TOP", tags: ["STAFF", "BADGE_NO"] }, US_SSN: { tier: "RESTRICTED", tags: ["PII", "SSN"] } },
        regimes: { STAFF: ["WORKS_COUNCIL"], PII: ["LGPD"] },
      },
    });
    const badge = await classify(service, "badge EMP-12345 was used");
    expect([badge.tier, badge.tags]).toEqual(["TOP", ["BADGE_NO", "STAFF", "WORKS_COUNCIL"]]);
    expect(JSON.stringify(badge)).not.toContain("12345");
    const ssn = await classify(service, "my ssn is 536-22-8726");
    expect([ssn.tier, ssn.tags]).toEqual(["RESTRICTED", ["PII", "SSN", "LGPD"]]);
    const tiers = await service.call("judge", "GET", "/api/v1/tiers");
    expect(JSON.stringify(tiers.body)).toContain('"TOP"');
  });

  test("its threads answer by its recognisers and its catalogue, as the serving thread does", async () => {
    const classification = { recognisers: [{ entity: "BADGE", pattern: "EMP-\\d{5}" }] };
    const resource = { tier: "RESTRICTED", columns: { id: {}, note: {} } };
    const queries = ["badge EMP-12345 was used", "SELECT * FROM crm.notes", "SELECT id FROM other", "mail ada@example.org"];
    const answers = [];
    for (const threads of [0, 2]) {
      const service = await start({ classification: { ...classification, threads } });
      expect((await service.call("admin", "PUT", "/api/v1/resources/crm.notes", resource)).status).toBeLessThan(300);
      answers.push(await Promise.all(queries.map((query) => classify(service, query))));
      await service.stop();
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[1]?.map(({ tier }) => tier)).toEqual(["CONFIDENTIAL", "RESTRICTED", "INTERNAL", "CONFIDENTIAL"]);
  });

  test("while a thread reads half a megabyte, others are answered", async () => {
    const service = await start({ classification: { threads: 1 } });
    await classify(service, "the thread is up");
    const order: string[] = [];
    const long = classify(service, "ada@example.org 4111 1111 1111 1111 ".repeat(14_000)).then(() => order.push("long"));
    for (let i = 0; i < 5; i++) await service.call(undefined, "GET", "/health").then(() => order.push("short"));
    await long;
    expect(order).toEqual([...Array(5).fill("short"), "long"]);
  });

  test("a scale of its own takes the built-in entities by a table of names", async () => {
    const service = await start({
      classification: {
        tiers: ["OPEN", "OFFICIAL", "SECRET"],
        tier_names: { INTERNAL: "OFFICIAL", CONFIDENTIAL: "OFFICIAL", PROPRIETARY: "SECRET", RESTRICTED: "SECRET" },
      },
    });
    expect((await classify(service, "my ssn is 536-22-8726")).tier).toBe("SECRET");
    expect((await classify(service, "mail ada@example.org")).tier).toBe("OFFICIAL");
    expect((await classify(service, "hello")).tier).toBe("OPEN");
  });

  test.each([
    ["a tier that the scale lacks", { entities: { BADGE: { tier: "NO_SUCH" } } }, /classification\.entities\.BADGE/],
    ["a scale without names for the built-in tiers", { tiers: ["LOW", "HIGH"] }, /classification\.entities\./],
    ["a back reference", { recognisers: [{ entity: "X1", pattern: "(a)\\1" }] }, /classification\.recognisers\.0\.pattern/],
    ["nested repetitions", { recognisers: [{ entity: "X1", pattern: "(a+)+$" }] }, /classification\.recognisers\.0\.pattern/],
    ["a pattern for nothing", { recognisers: [{ entity: "X1", pattern: "a*" }] }, /classification\.recognisers\.0\.pattern/],
  ])("%s is refused at the start by its field", async (_, classification, field) => {
    await expect(start({ classification })).rejects.toThrow(field);
  });

  test("obligations of its policy are in the response as they are: masking, row filter, retention", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "seneschal-policy-"));
    try {
      const obligations = [
        { type: "masking", id: "mask-email", properties: { column: "email", method: "hash" } },
        { type: "retention", id: "thirty-days", properties: { days: 30 } },
        { type: "row_filter", id: "own-country", properties: { column: "country", equals: "DE" } },
      ];
      await writeFile(
        join(cwd, "own.rego"),
        `package governance\n\ndecision := {"allowed": true, "policy_id": "own", "policy_name": "Our own", "reasons": ["fine"], "obligations": ${JSON.stringify(obligations)}}\n`,
      );
      const service = await start({ policy_files: [join(cwd, "own.rego")] });
      await service.call("writer", "PUT", "/api/v1/resources/crm.customers", { tier: "INTERNAL" });
      const answer = await service.call("judge", "POST", "/api/v1/evaluate", {
        operation_type: "READ",
        source_resources: ["crm.customers"],
        user_context: { user_id: "ada", role: "analyst", department: "sales" },
      });
      expect(answer.body).toMatchObject({ allowed: true, policy_evaluation: { policy_id: "own", policy_name: "Our own" } });
      expect([...answer.body.obligations].sort((a, b) => (a.type < b.type ? -1 : 1))).toEqual(obligations);
    } finally {
      await rm(cwd, { recursive: true, force: true });
    }
  });
});
