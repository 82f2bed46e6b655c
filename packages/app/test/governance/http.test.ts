import { createHash } from "node:crypto";
import { openMemoryStore } from "@seneschal/adapters/memory";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { governanceContract } from "@seneschal/contract/governance";
import { canonicalJson } from "@seneschal/crypto";
import { verifyConsistency, verifyInclusion } from "@seneschal/crypto/merkle";
import type { PolicyAnswer, PolicyEngine } from "@seneschal/kernel/ports";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterEach, describe, expect, test } from "vitest";
import { governanceSchema } from "../../src/governance/index.ts";
import { type Rig, type RigOptions, servers, startRig } from "./rig.ts";
import { runEvent } from "./run-event.ts";

const customers = {
  tier: "INTERNAL",
  columns: { id: { type: "int" }, email: { type: "text" }, ssn: { type: "text" }, country: { type: "text", tier: "INTERNAL" } },
};
const request = (more: Record<string, unknown> = {}) => ({
  operation_type: "EXPORT",
  source_resources: ["crm.customers"],
  destination_resource: "s3://warehouse",
  user_context: { user_id: "ada", role: "analyst", department: "sales" },
  ...more,
});
const event = (run: string, type: string) => runEvent({ run, type, inputs: ["crm.customers"], outputs: ["dwh.customers"] });

describe.each(servers)("data governance on %s", (_, serve) => {
  let rig: Rig;
  const start = async (options?: RigOptions) => {
    rig = await startRig(serve, options);
    return rig;
  };
  afterEach(() => rig.stop());

  test("a query is classified without a key, and its values are in no answer and no record", async () => {
    await start();
    const answer = await rig.call(undefined, "POST", "/api/v1/classify", {
      query: "my ssn is 536-22-8726 and card 4111 1111 1111 1111",
      context: { user_id: "ada" },
    });
    expect(answer.status).toBe(200);
    expect(answer.body.tier).toBe("RESTRICTED");
    expect(answer.body.tags).toEqual(expect.arrayContaining(["PII", "PCI", "SSN", "CREDIT_CARD", "GDPR", "PCI_DSS"]));
    expect(answer.body.classifier_used).toBe("heuristic");
    const { items } = await rig.store.list("audit", "by_time", ["anonymous"], { limit: 10 });
    expect(items).toHaveLength(1);
    for (const text of [JSON.stringify(answer.body), JSON.stringify(items)]) {
      expect(text).not.toContain("536-22-8726");
      expect(text).not.toContain("4111 1111");
    }
    expect(items[0]?.doc["event"]).toMatchObject({ operation_type: "CLASSIFY", user_id: expect.stringMatching(/^person:/) });
  });

  test("SQL over a registered table takes the table's classification; masked and counted columns count less", async () => {
    await start();
    await rig.call("writer", "PUT", "/api/v1/resources/crm.customers", customers);
    const tierOf = async (query: string) =>
      (await rig.call("judge", "POST", "/api/v1/classify", { query, context: {} })).body.tier;
    expect(await tierOf("SELECT ssn FROM crm.customers")).toBe("PROPRIETARY");
    expect(await tierOf("SELECT * FROM crm.customers")).toBe("PROPRIETARY");
    expect(await tierOf("SELECT sha256(ssn) FROM crm.customers")).toBe("CONFIDENTIAL");
    expect(await tierOf("SELECT count(ssn) FROM crm.customers")).toBe("CONFIDENTIAL");
    expect(await tierOf("SELECT country FROM crm.customers")).toBe("INTERNAL");
    expect(await tierOf("SELECT country FROM crm.customers WHERE ssn = '536-22-8726'")).toBe("PROPRIETARY");
  });

  test("requests in plain language: emails in bulk are personal, a count is internal, masked ones count less", async () => {
    await start();
    const of = async (query: string) => (await rig.call("judge", "POST", "/api/v1/classify", { query, context: {} })).body;
    const bulk = await of("export all customer emails");
    expect(bulk).toMatchObject({ tier: "CONFIDENTIAL", operation: "EXPORT", scope: "bulk" });
    expect(bulk.tags).toEqual(expect.arrayContaining(["PII", "EMAIL"]));
    expect((await of("how many customers signed up")).tier).toBe("INTERNAL");
    expect((await of("export customers with emails masked")).tier).toBe("INTERNAL");
    expect((await of("What are my options?")).tier).toBe("PUBLIC");
  });

  test("an export is judged by the named policy, and every alternative replays as allowed", async () => {
    await start();
    await rig.call("writer", "PUT", "/api/v1/resources/crm.customers", customers);
    await rig.call("writer", "PUT", `/api/v1/resources/${encodeURIComponent("s3://warehouse")}`, {
      accepts_tier: "CONFIDENTIAL",
    });
    const denied = await rig.call("judge", "POST", "/api/v1/evaluate", request());
    expect(denied.status).toBe(200);
    expect(denied.body).toMatchObject({ allowed: false, classification: { tier: "PROPRIETARY" } });
    expect(denied.body.policy_evaluation.policy_id).not.toBe("");
    expect(denied.body.alternatives.length).toBeGreaterThan(0);
    expect(denied.body.alternatives).toEqual(denied.body.alternative_requests.map((a: { description: string }) => a.description));
    for (const alternative of denied.body.alternative_requests) {
      const replay = await rig.call("judge", "POST", "/api/v1/evaluate", alternative.request);
      expect(replay.body.allowed, alternative.description).toBe(true);
      expect(replay.body.obligations).toEqual(alternative.obligations);
      expect(replay.body.policy_evaluation.policy_name).not.toBe("");
    }
    const records = await rig.call("admin", "POST", "/api/v1/audit/query", { operation_types: ["EXPORT"], allowed_only: false });
    expect(records.body.records.some((r: { id: string }) => r.id === denied.body.decision_id)).toBe(true);
  });

  test.each([
    ["an unknown source", { source_resources: ["no.such"] }],
    ["a missing destination", { destination_resource: undefined }],
    ["an unknown destination", { destination_resource: "s3://elsewhere" }],
    ["an unknown role", { user_context: { user_id: "x", role: "wizard", department: "" } }],
    ["an unknown operation", { operation_type: "TELEPORT" }],
    ["no source", { source_resources: [] }],
  ])("%s is denied", async (__, more) => {
    await start();
    await rig.call("writer", "PUT", "/api/v1/resources/crm.customers", { tier: "INTERNAL" });
    const answer = await rig.call("judge", "POST", "/api/v1/evaluate", request(more));
    expect([answer.status, answer.body.allowed]).toEqual([200, false]);
  });

  test("a resource of another organisation is as unknown as one that does not exist", async () => {
    await start();
    await rig.call("other", "PUT", "/api/v1/resources/secret.plans", { tier: "PUBLIC" });
    const foreign = await rig.call("judge", "POST", "/api/v1/evaluate", request({ source_resources: ["secret.plans"] }));
    const missing = await rig.call("judge", "POST", "/api/v1/evaluate", request({ source_resources: ["no.such"] }));
    expect(foreign.body.reasoning).toBe(missing.body.reasoning);
    expect((await rig.call("reader", "GET", "/api/v1/lineage/secret.plans")).status).toBe(404);
    const { records } = (await rig.call("reader", "GET", "/api/v1/audit")).body;
    expect(records.map((r: { operation_type: string }) => r.operation_type)).not.toContain("RESOURCE_REGISTER");
  });

  test("a failing policy engine is POLICY_EVALUATION_FAILED, recorded as not allowed", async () => {
    const embedded = embeddedPolicyEngine();
    const failed: PolicyAnswer = { kind: "error", code: "budget", message: "too long" };
    const broken: PolicyEngine = {
      ...embedded,
      compile: async (sources) => {
        const result = await embedded.compile(sources);
        const decides = result.ok && result.policy.packages.some((path) => path.join(".") === "governance");
        return decides ? { ok: true, policy: { ...result.policy, evaluate: async () => failed } } : result;
      },
    };
    await start({ policy: broken });
    const answer = await rig.call("judge", "POST", "/api/v1/evaluate", request());
    expect([answer.status, answer.body.error.code]).toEqual([500, "POLICY_EVALUATION_FAILED"]);
    const { body } = await rig.call("admin", "GET", "/api/v1/audit?user_id=ada");
    expect(body.records).toEqual([expect.objectContaining({ allowed: false })]);
    expect((await rig.call(undefined, "GET", "/ready")).status).toBe(503);
  });

  test("a fault of the classifier is CLASSIFICATION_FAILED, never a tier, and says nothing of the text", async () => {
    const broken = { parse: () => [new Proxy({}, { ownKeys: () => expect.fail("a tree that cannot be read") })] };
    await start({ sql: broken });
    const answer = await rig.call("judge", "POST", "/api/v1/classify", { query: "SELECT secret_of_ada FROM t", context: {} });
    expect([answer.status, answer.body.error.code]).toEqual([500, "CLASSIFICATION_FAILED"]);
    expect(JSON.stringify(answer.body)).not.toContain("secret_of_ada");
    expect((await rig.call("judge", "POST", "/api/v1/classify", { query: "hello", context: {} })).body.tier).toBe("PUBLIC");
  });

  test("when the service stops, the log of every organisation has a signed checkpoint", async () => {
    const store = openMemoryStore(governanceSchema);
    await start({ store });
    await rig.call("judge", "POST", "/api/v1/classify", { query: "hello", context: {} });
    await rig.call(undefined, "POST", "/api/v1/classify", { query: "hello", context: {} });
    await rig.call("other", "PUT", "/api/v1/resources/plans", { tier: "PUBLIC" });
    await rig.stop();
    for (const org of ["default", "anonymous", "elsewhere"]) {
      const { items } = await store.list("audit_checkpoints", "by_size", [org], { limit: 10 });
      expect([org, items.map((item) => item.doc["size"])]).toEqual([org, [1]]);
    }
  });

  test("lineage comes from events, tiers flow downstream, and a block stops them", async () => {
    await start();
    await rig.call("writer", "PUT", "/api/v1/resources/crm.customers", { tier: "CONFIDENTIAL", tags: ["PII"] });
    expect((await rig.call("writer", "POST", "/api/v1/lineage", event("r1", "START"))).status).toBe(201);
    expect((await rig.call("reader", "GET", "/api/v1/lineage/dwh.customers")).body.upstream).toEqual([]);
    await rig.call("writer", "POST", "/api/v1/lineage", event("r1", "COMPLETE"));
    await rig.call("writer", "POST", "/api/v1/lineage", event("r1", "COMPLETE"));
    const { body } = await rig.call("reader", "GET", "/api/v1/lineage/dwh.customers?depth=3&direction=both");
    expect(body).toMatchObject({
      resource_id: "dwh.customers",
      depth: 3,
      classification: { tier: "CONFIDENTIAL", tags: ["PII"] },
    });
    expect(body.upstream).toEqual([expect.objectContaining({ resource_id: "crm.customers", hop: 1 })]);
    const down = await rig.call("reader", "GET", "/api/v1/lineage/crm.customers/downstream");
    expect(down.body).toMatchObject({ total: 1, by_tier: { CONFIDENTIAL: 1 } });
    expect((await rig.call("reader", "GET", "/api/v1/lineage/dwh.customers/upstream")).body.dependencies).toHaveLength(1);
    await rig.call("writer", "PUT", "/api/v1/lineage-edges", { source: "crm.customers", target: "dwh.customers", blocked: true });
    expect((await rig.call("reader", "GET", "/api/v1/lineage/dwh.customers")).body.classification.tier).toBe("INTERNAL");
  });

  test("a batch takes what is usable and names what is not", async () => {
    await start();
    const answer = await rig.call("writer", "POST", "/api/v1/lineage/batch", [event("r", "COMPLETE"), { eventType: "COMPLETE" }]);
    expect(answer.body).toMatchObject({ accepted: 1, rejected: [{ index: 1 }] });
    const single = await rig.call("writer", "POST", "/api/v1/lineage", { eventType: "COMPLETE" });
    expect([single.status, single.body.error.code]).toEqual([400, "VALIDATION_ERROR"]);
  });

  test("what was written is there after a restart and in another process on the same store", async () => {
    const store = openMemoryStore(governanceSchema);
    await start({ store });
    const twin = await startRig(serve, { store });
    await rig.call("writer", "PUT", "/api/v1/resources/crm.customers", { tier: "RESTRICTED" });
    await rig.call("writer", "POST", "/api/v1/lineage", event("r1", "COMPLETE"));
    expect((await twin.call("reader", "GET", "/api/v1/lineage/dwh.customers")).body.classification.tier).toBe("RESTRICTED");
    await twin.stop();
    const third = await startRig(serve, { store });
    expect((await third.call("reader", "GET", "/api/v1/lineage/dwh.customers")).body.classification.tier).toBe("RESTRICTED");
    await third.stop();
  });

  test.each([
    ["GET", "/api/v1/lineage/none", undefined, 404, "RESOURCE_NOT_FOUND"],
    ["GET", "/api/v1/lineage/x?depth=101", undefined, 400, "VALIDATION_ERROR"],
    ["GET", "/api/v1/lineage/x?depth=-1", undefined, 400, "VALIDATION_ERROR"],
    ["GET", "/api/v1/lineage/x?direction=sideways", undefined, 400, "VALIDATION_ERROR"],
    ["GET", "/api/v1/audit?limit=1001", undefined, 400, "VALIDATION_ERROR"],
    ["GET", "/api/v1/audit?limit=0", undefined, 400, "VALIDATION_ERROR"],
    ["POST", "/api/v1/audit/query", { limit: 1001 }, 400, "VALIDATION_ERROR"],
    ["POST", "/api/v1/classify", { text: "x" }, 400, "VALIDATION_ERROR"],
    ["POST", "/api/v1/classify", { query: "x".repeat(600_000) }, 400, "VALIDATION_ERROR"],
    ["POST", "/api/v1/classify", "{", 400, "VALIDATION_ERROR"],
    ["POST", "/api/v1/evaluate", { operation_type: "READ" }, 400, "VALIDATION_ERROR"],
    ["PUT", "/api/v1/resources/x", { tier: "ULTRA" }, 400, "VALIDATION_ERROR"],
    ["GET", "/api/v1/nothing", undefined, 404, "RESOURCE_NOT_FOUND"],
  ] as const)("%s %s is refused with its code", async (method, path, body, status, code) => {
    await start();
    const answer = await rig.call("admin", method, path, body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect(typeof answer.body.error.message).toBe("string");
    expect(answer.body.error.details).toBeTypeOf("object");
  });

  test("every guarded route refuses callers without a key, and a key without the scope", async () => {
    await start();
    const weak = (await rig.call("admin", "POST", "/api/v1/api-keys", { name: "weak", scopes: ["classify"] })).body
      .api_key as string;
    for (const [id, route] of Object.entries(governanceContract)) {
      if (route.auth === "public" || id === "classify") continue;
      const path = route.path.replace(/:[a-z_]+/g, "x");
      const anonymous = await rig.call(
        undefined,
        route.method,
        path,
        route.method === "GET" || route.method === "DELETE" ? undefined : {},
      );
      expect([id, anonymous.status, anonymous.body.error?.code]).toEqual([id, 401, "AUTHENTICATION_REQUIRED"]);
      if (route.action === "classify") continue;
      const lacking = await rig.call(
        { key: weak },
        route.method,
        path,
        route.method === "GET" || route.method === "DELETE" ? undefined : {},
      );
      expect([id, lacking.status, lacking.body.error?.code]).toEqual([id, 403, "FORBIDDEN"]);
    }
  });

  test("a key is shown once, kept hashed, rotated and revoked at once", async () => {
    await start();
    const created = await rig.call("admin", "POST", "/api/v1/api-keys", { name: "ci", scopes: ["evaluate"], expires_in_days: 1 });
    expect(created.status).toBe(201);
    const first = { key: created.body.api_key as string };
    expect((await rig.call(first, "POST", "/api/v1/evaluate", request())).status).toBe(200);
    const rotated = await rig.call("admin", "POST", `/api/v1/api-keys/${created.body.id}/rotate`);
    expect((await rig.call(first, "POST", "/api/v1/evaluate", request())).status).toBe(401);
    const second = { key: rotated.body.api_key as string };
    expect((await rig.call(second, "POST", "/api/v1/evaluate", request())).status).toBe(200);
    const listed = await rig.call("admin", "GET", "/api/v1/api-keys");
    expect(listed.body.api_keys).toEqual([expect.objectContaining({ id: created.body.id, last_used_at: expect.any(String) })]);
    const stored = JSON.stringify([await rig.store.get("api_keys", created.body.id), listed.body]);
    expect(stored).not.toContain(first.key);
    expect(stored).not.toContain(second.key);
    expect((await rig.call("other", "DELETE", `/api/v1/api-keys/${created.body.id}`)).status).toBe(404);
    expect((await rig.call("admin", "DELETE", `/api/v1/api-keys/${created.body.id}`)).status).toBe(204);
    expect((await rig.call(second, "POST", "/api/v1/evaluate", request())).status).toBe(401);
    const third = await rig.call("admin", "POST", "/api/v1/api-keys", {
      name: "short",
      scopes: ["evaluate"],
      expires_in_days: 1,
    });
    rig.clock.advance(86_400_001);
    expect((await rig.call({ key: third.body.api_key }, "POST", "/api/v1/evaluate", request())).status).toBe(401);
  });

  test("callers without a key have the lower rate, bad keys count against it, and the headers say so", async () => {
    await start({ settings: { rate_limit: { anonymous: { limit: 2 }, authenticated: { limit: 1000 } } } });
    const classify = (who?: { readonly key: string } | "judge") =>
      rig.call(who, "POST", "/api/v1/classify", { query: "hello", context: {} });
    const known = await classify("judge");
    expect(known.headers.get("ratelimit-policy")).toMatch(/^"authenticated";q=1000;w=3600;pk=:/);
    expect((await classify()).headers.get("ratelimit")).toMatch(/^"anonymous";r=1;t=\d+$/);
    expect((await classify({ key: "sgk_wrong" })).status).toBe(401);
    const refused = await classify();
    expect([refused.status, refused.body.error.code]).toEqual([429, "RATE_LIMIT_EXCEEDED"]);
    expect(refused.body.error.details).toMatchObject({ limit: 2, window_seconds: 3600 });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await classify("judge")).status).toBe(200);
    expect((await rig.call(undefined, "GET", "/health")).status).toBe(200);
  });

  test("the audit log pages newest first, counts the whole filter, and proves every record", async () => {
    await start();
    for (let i = 0; i < 5; i++) {
      await rig.call("judge", "POST", "/api/v1/classify", { query: "hello", context: { user_id: i % 2 === 0 ? "even" : "odd" } });
      rig.clock.advance(1000);
    }
    const page = await rig.call("reader", "GET", "/api/v1/audit?user_id=even&limit=2");
    expect(page.body.total).toBe(3);
    expect(page.body.records.map((r: { log_index: number }) => r.log_index)).toEqual([4, 2]);
    const filtered = await rig.call("reader", "POST", "/api/v1/audit/query", {
      user_id: "even",
      operation_types: ["CLASSIFY"],
      limit: 1,
      offset: 2,
    });
    expect([filtered.body.total, filtered.body.records.length]).toEqual([3, 1]);
    const ranged = await rig.call("reader", "POST", "/api/v1/audit/query", {
      start_date: "2026-03-01T12:00:01Z",
      end_date: "2026-03-01T12:00:02Z",
    });
    expect(ranged.body.total).toBe(2);
    const proof = (await rig.call("reader", "GET", `/api/v1/audit/${page.body.records[0].id}/proof`)).body;
    const bytes = (text: string) => new Uint8Array(Buffer.from(text, "base64"));
    expect(
      verifyInclusion({
        index: proof.index,
        size: proof.size,
        leaf: bytes(proof.leaf),
        proof: proof.proof.map(bytes),
        root: bytes(proof.root),
      }),
    ).toBe(true);
    const { log_index: _, ...record } = proof.record;
    const leaf = canonicalJson({ ...record, user_id: proof.person.commitment });
    expect(proof.leaf).toBe(createHash("sha256").update(Buffer.of(0)).update(leaf).digest("base64"));
  });

  test("what was logged since a checkpoint was kept is proven to go on from it; a size that is not there is refused by name", async () => {
    await start();
    const at = (query: string) => rig.call("reader", "GET", `/api/v1/audit/checkpoint/consistency?${query}`);
    const log = () => rig.call("judge", "POST", "/api/v1/classify", { query: "SELECT 1", context: {} });
    for (let entry = 0; entry < 3; entry += 1) await log();
    const kept = (await rig.call("reader", "GET", "/api/v1/audit/checkpoint")).body;
    await log();
    const { status, body } = await at(`first=${kept.size}`);
    const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));
    expect([status, body.first, body.first_root]).toEqual([200, kept.size, kept.root]);
    const claim = { oldSize: body.first, newSize: body.second, oldRoot: bytes(kept.root), newRoot: bytes(body.second_root) };
    expect(verifyConsistency({ ...claim, proof: body.proof.map(bytes) })).toBe(true);
    const another = { ...claim, oldRoot: bytes(body.second_root), proof: body.proof.map(bytes) };
    expect([body.first < body.second, verifyConsistency(another)]).toEqual([true, false]);
    for (const [query, field] of [
      ["first=1000000", "first"],
      ["first=1&second=1000000", "second"],
      ["first=2&second=1", "first"],
      ["first=0", "first"],
      ["", "first"],
    ] as const) {
      const refused = await at(query);
      expect([query, refused.status, refused.body.error.details.field]).toEqual([query, 400, field]);
    }
  });

  test("a person can be erased from the log: no record names them any more, every proof still holds", async () => {
    await start();
    const ada = "ada.lovelace@example.org";
    const path = `/api/v1/audit/persons/${encodeURIComponent(ada)}`;
    const classify = (user_id: string) => rig.call("judge", "POST", "/api/v1/classify", { query: "hello", context: { user_id } });
    await classify(ada);
    await classify("bob");
    const checkpoint = (await rig.call("reader", "GET", "/api/v1/audit/checkpoint")).body;
    const [record] = (await rig.call("reader", "GET", `/api/v1/audit?user_id=${encodeURIComponent(ada)}`)).body.records;
    const before = (await rig.call("reader", "GET", `/api/v1/audit/${record.id}/proof`)).body;
    const salted = createHash("sha256").update(Buffer.from(before.person.salt, "base64url")).update(ada).digest("base64url");
    expect(before.person.commitment).toBe(`person:${salted}`);
    expect((await rig.call("reader", "DELETE", path)).status).toBe(403);
    expect((await rig.call("other", "DELETE", path)).status).toBe(404);
    expect((await rig.call("admin", "DELETE", path)).status).toBe(204);
    const { records } = (await rig.call("reader", "GET", "/api/v1/audit")).body;
    expect(records.map((r: { user_id: string }) => r.user_id)).toEqual(["admin", "bob", "(erased)"]);
    expect(
      JSON.stringify([
        await rig.store.list("audit", "by_time", ["default"], { limit: 9 }),
        await rig.store.list("audit_persons", "by_commitment", [], { limit: 9 }),
      ]),
    ).not.toContain(ada);
    const after = (await rig.call("reader", "GET", `/api/v1/audit/${record.id}/proof`)).body;
    expect([after.leaf, after.person.salt]).toEqual([before.leaf, null]);
    const verdict = await rig.call("reader", "POST", "/api/v1/audit/verify", { size: checkpoint.size, root: checkpoint.root });
    expect(verdict.body).toMatchObject({ valid: true, records: 3 });
    expect((await rig.call("admin", "DELETE", path)).status).toBe(404);
  });

  test("verification agrees with its checkpoints and names a client's that the log contradicts", async () => {
    await start();
    await rig.call("judge", "POST", "/api/v1/classify", { query: "hello", context: {} });
    const checkpoint = (await rig.call("reader", "GET", "/api/v1/audit/checkpoint")).body;
    expect(checkpoint.size).toBe(1);
    await rig.call("judge", "POST", "/api/v1/classify", { query: "hello again", context: {} });
    const good = await rig.call("reader", "POST", "/api/v1/audit/verify", { size: checkpoint.size, root: checkpoint.root });
    expect(good.body).toMatchObject({ valid: true, records: 2, checked_client_checkpoint: true, missing: 0 });
    const forged = await rig.call("reader", "POST", "/api/v1/audit/verify", {
      size: 1,
      root: Buffer.alloc(32).toString("base64"),
    });
    expect(forged.body).toMatchObject({ valid: false, first_bad_checkpoint: 1 });
    const cut = await rig.call("reader", "POST", "/api/v1/audit/verify", { size: 9, root: checkpoint.root });
    expect(cut.body).toMatchObject({ valid: false, missing: 7 });
  });

  test("decisions are exported one JSON document per line", async () => {
    await start();
    await rig.call("judge", "POST", "/api/v1/evaluate", request());
    await rig.call("judge", "POST", "/api/v1/classify", { query: "hello", context: {} });
    const { body } = await rig.call("reader", "GET", "/api/v1/audit/decision-log");
    const lines = String(body)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toEqual([
      expect.objectContaining({ path: "governance/decision", result: expect.objectContaining({ allowed: false }) }),
    ]);
  });

  test("health, readiness, tiers and the reference pages are open", async () => {
    await start();
    for (const path of ["/health", "/api/v1/health"])
      expect((await rig.call(undefined, "GET", path)).body.status).toBe("healthy");
    for (const path of ["/ready", "/api/v1/ready"]) {
      expect((await rig.call(undefined, "GET", path)).body).toEqual({
        ready: true,
        services: { database: "connected", cache: "connected", policy_engine: "connected" },
      });
    }
    expect((await rig.call(undefined, "GET", "/api/v1/tiers")).body.tiers.map((t: { tier: string }) => t.tier)).toEqual([
      "PUBLIC",
      "INTERNAL",
      "CONFIDENTIAL",
      "PROPRIETARY",
      "RESTRICTED",
    ]);
    for (const path of ["/docs", "/redoc"]) expect((await rig.call(undefined, "GET", path)).status).toBe(200);
    const document = await rig.call(undefined, "GET", "/openapi.json");
    expect(await new Validator().validate(document.body)).toMatchObject({ valid: true });
  });

  test("the lineage page holds its data as inert JSON and loads only from here", async () => {
    await start();
    const evil = "</script><img src=x onerror=alert(1)>";
    await rig.call("writer", "PUT", `/api/v1/resources/${encodeURIComponent(evil)}`, { tier: "INTERNAL" });
    const page = await rig.call("reader", "GET", `/api/v1/lineage/${encodeURIComponent(evil)}/view`);
    expect(page.status).toBe(200);
    expect(page.body).not.toContain(evil);
    expect(page.body).not.toContain("<img");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    for (const [, source = ""] of String(page.body).matchAll(/(?:src|href)="(\/[^"]+)"/g))
      expect((await rig.call(undefined, "GET", source)).status).toBe(200);
  });
});
