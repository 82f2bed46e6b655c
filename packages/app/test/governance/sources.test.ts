import { openMemoryStore } from "@seneschal/adapters/memory";
import { CodedError } from "@seneschal/kernel";
import { serve } from "@seneschal/server-fastify";
import { afterEach, describe, expect, test } from "vitest";
import { governanceSchema, governanceSettings } from "../../src/governance/index.ts";
import { column, memorySource } from "./memory-source.ts";
import { type Rig, startRig } from "./rig.ts";

const WAIT = { timeout: 60_000, interval: 20 };
const SSN = "536-22-8726";
const shop = { kind: "postgres", host: "db", database: "shop", user: "scanner" };
const idOf = (table: string) => `postgres://db:5432/shop.public.${table}`;

describe("scans", () => {
  const rigs: Rig[] = [];
  afterEach(async () => {
    for (const rig of rigs.splice(0)) await rig.stop();
  });
  const start = async (memory: ReturnType<typeof memorySource>, store = openMemoryStore(governanceSchema)) => {
    const rig = await startRig(serve, { settings: { sources: { shop } }, store, source: memory.open });
    rigs.push(rig);
    return rig;
  };
  const ended = async (rig: Rig) => {
    const newest = async () => (await rig.call("reader", "GET", "/api/v1/sources")).body.sources[0].last_scan;
    await expect.poll(async () => ["succeeded", "failed", "cancelled"].includes((await newest())?.state), WAIT).toBe(true);
    return newest();
  };
  const scan = async (rig: Rig) => {
    // The newest is told by when it was asked for.
    rig.clock.set(rig.clock.now() + 1000);
    expect((await rig.call("writer", "POST", "/api/v1/sources/shop/scans")).status).toBe(202);
    return ended(rig);
  };
  const resource = (rig: Rig, table: string) => rig.call("reader", "GET", `/api/v1/resources/${encodeURIComponent(idOf(table))}`);

  test("the first one begins by itself and registers tables with their columns; no value is kept, logged or told", async () => {
    const memory = memorySource();
    memory.tables.set("people", { columns: [column("ssn", "text", SSN, SSN), column("note", "text", "as ever")] });
    const rig = await start(memory);
    const done = await ended(rig);
    expect(done).toMatchObject({ state: "succeeded", created_by: "schedule", result: { assets: 1, scanned: 1, failed: 0 } });
    const { body } = await resource(rig, "people");
    expect(body).toMatchObject({ classification: { tier: "PROPRIETARY" }, declared: null });
    expect(body.columns).toMatchObject({ ssn: { type: "text", tier: "PROPRIETARY" }, note: { tier: "INTERNAL" } });
    const kept = await Promise.all([
      rig.store.list("scanned_assets", "by_source", [], { limit: 100 }),
      rig.store.list("lineage_events", "by_arrival", [], { limit: 100 }),
      rig.store.list("jobs", "created", [], { limit: 100 }),
      rig.store.auditRead(0, 100),
      rig.call(undefined, "GET", "/metrics"),
    ]);
    expect(JSON.stringify(kept)).toContain("people");
    expect(JSON.stringify(kept)).not.toContain(SSN);
    expect([memory.state.opened, memory.state.closed]).toEqual([1, 1]);
  });

  test("a scan never lowers what a person says, nor what an earlier scan found, whichever came first", async () => {
    const memory = memorySource();
    memory.tables.set("a", { columns: [column("x", "text", "plain")] });
    memory.tables.set("b", { columns: [column("ssn", "text", SSN)] });
    const rig = await start(memory);
    await ended(rig);
    const declare = (table: string, body: object) =>
      rig.call("writer", "PUT", `/api/v1/resources/${encodeURIComponent(idOf(table))}`, body);
    await declare("a", { columns: { x: { tier: "RESTRICTED" } } });
    await declare("b", { tier: "PUBLIC", columns: { ssn: { tier: "PUBLIC" } } });
    memory.tables.set("b", { columns: [column("ssn", "text", "none")] });
    await scan(rig);
    for (const seen of [rig, await start(memory, rig.store)]) {
      expect((await resource(seen, "a")).body.columns.x.tier).toBe("RESTRICTED");
      expect((await resource(seen, "b")).body.columns.ssn.tier).toBe("PROPRIETARY");
    }
    // Nor does a declaration that is taken back take the scan's back.
    await rig.call("writer", "DELETE", `/api/v1/resources/${encodeURIComponent(idOf("b"))}`);
    expect((await resource(rig, "b")).body.classification.tier).toBe("PROPRIETARY");
  });

  test("what cannot be read is of the highest tier until it was read, and seen in the scan, the metrics and the health", async () => {
    const memory = memorySource();
    memory.tables.set("secret", { columns: [column("x", "text", "plain")], fails: "the role may not read it" });
    const rig = await start(memory);
    const done = await ended(rig);
    expect(done.result).toMatchObject({
      failed: 1,
      failures: [{ resource_id: idOf("secret"), reason: "the role may not read it" }],
    });
    expect((await resource(rig, "secret")).body.classification.tier).toBe("RESTRICTED");
    expect((await rig.call(undefined, "GET", "/health")).body).toMatchObject({
      status: "degraded",
      components: { database: { status: "healthy" }, sources: { status: "unhealthy" } },
    });
    expect((await rig.call(undefined, "GET", "/ready")).status).toBe(200);
    const metrics = async () => (await rig.call(undefined, "GET", "/metrics")).body;
    expect(await metrics()).toMatch(/_source_failing\{source="shop"\} 1/);
    memory.tables.set("secret", { columns: [column("x", "text", "plain")] });
    await scan(rig);
    expect((await resource(rig, "secret")).body.classification.tier).toBe("INTERNAL");
    expect(await metrics()).toMatch(/_source_failing\{source="shop"\} 0/);
    memory.state.fails = "no connection";
    expect(await scan(rig)).toMatchObject({ state: "failed", error: "no connection" });
    expect((await resource(rig, "secret")).body.classification.tier).toBe("INTERNAL");
    expect(await metrics()).toMatch(/_source_failing\{source="shop"\} 1/);
  });

  test("whatever one table does to who reads it, it fails alone and is of the highest tier, and no value is in what is told, kept or logged", async () => {
    const canary = `canary ${SSN}`;
    const fails: readonly unknown[] = [
      "the role may not read it",
      new CodedError("source_unavailable", "the source cannot be read: ECONNRESET"),
    ];
    const names = ["x\0y", "\ud800", "\u0007", "", "__proto__", "constructor", "k".repeat(70_000), SSN, `of ${SSN}`, "a\nb"];
    const memory = memorySource();
    memory.tables.set("a0", { columns: [column("ssn", "text", SSN)] });
    for (const [i, one] of fails.entries()) memory.tables.set(`fails${i}`, { columns: [], fails: one });
    for (const [i, name] of names.entries()) memory.tables.set(`named${i}`, { columns: [column(name, "text", canary)] });
    const many = Array.from({ length: 1200 }, (_, i) =>
      column(`${"n".repeat(950)}_${"abcdefgh"[i % 8]}${"z".repeat(i >> 3)}`.slice(-1000), "t"),
    );
    memory.tables.set("too_many", { columns: many });
    memory.tables.set("con\u0001trol", { columns: [column("x", "text", canary)] });
    memory.tables.set("half\ud800", { columns: [column("x", "text", canary)] });
    memory.tables.set("z9", { columns: [column("ssn", "text", SSN)] });
    const rig = await start(memory);
    const done = await ended(rig);
    expect(done).toMatchObject({ state: "succeeded", result: { assets: memory.tables.size } });
    const failed = ["fails0", "fails1", "too_many"];
    expect(done.result.failures.map((one: { resource_id: string }) => one.resource_id)).toEqual([
      ...failed.map(idOf),
      idOf("con\ufffdtrol"),
      idOf("half\ufffd"),
    ]);
    for (const table of ["a0", "z9"]) expect((await resource(rig, table)).body.classification.tier).toBe("PROPRIETARY");
    for (const table of failed) expect((await resource(rig, table)).body.classification.tier).toBe("RESTRICTED");
    for (const i of names.keys()) expect((await resource(rig, `named${i}`)).body.classification.tier).toBe("PROPRIETARY");
    const told = await Promise.all([
      rig.store.list("scanned_assets", "by_source", [], { limit: 100 }),
      rig.store.list("lineage_events", "by_arrival", [], { limit: 100 }),
      rig.store.list("jobs", "created", [], { limit: 100 }),
      rig.store.auditRead(0, 100),
      rig.call("reader", "GET", "/api/v1/resources?limit=1000"),
      rig.call("reader", "GET", "/api/v1/sources/shop/scans"),
      rig.call(undefined, "GET", "/metrics"),
      rig.call(undefined, "GET", "/health"),
    ]);
    expect(JSON.stringify(told)).toContain("of <US_SSN>");
    expect(JSON.stringify(told)).not.toContain(SSN);
    expect(JSON.stringify(told)).not.toContain("canary");
  });

  test("a scan ends with the source, not with a table, and tells of an inner fault its code alone", async () => {
    const memory = memorySource();
    const lost = new CodedError("source_unavailable", "the source cannot be read: ECONNRESET");
    memory.tables.set("a", { columns: [column("x", "text")], fails: lost });
    memory.state.answers = false;
    const rig = await start(memory);
    expect(await ended(rig)).toMatchObject({ state: "failed", error: "no connection" });
    memory.tables.set("a", { columns: [], fails: new CodedError("odd_fault", `saw ${SSN}`) });
    expect(await scan(rig)).toMatchObject({ state: "failed", error: "the scan failed: odd_fault" });
    memory.tables.set("a", { columns: [], fails: new TypeError(`saw ${SSN}`) });
    expect(await scan(rig)).toMatchObject({ state: "failed", error: "the scan failed: TypeError" });
  });

  test("columns of one name count all", async () => {
    const memory = memorySource();
    for (const [table, columns] of [
      ["a", [column("x", "text", SSN), column("x", "text", "plain")]],
      ["b", [column("x", "text", "plain"), column("x", "text", SSN)]],
      ["c", [column("ada@example.org", "text", "plain"), column("bob@example.org", "text", SSN)]],
    ] as const)
      memory.tables.set(table, { columns });
    const rig = await start(memory);
    await ended(rig);
    for (const [table, name] of [
      ["a", "x"],
      ["b", "x"],
      ["c", "<EMAIL_ADDRESS>"],
    ] as const)
      expect((await resource(rig, table)).body.columns).toMatchObject({ [name]: { tier: "PROPRIETARY" } });
  });

  test("what changed and cannot be read is of the highest tier, for what is there now nobody read", async () => {
    const memory = memorySource();
    memory.tables.set("a", { columns: [column("x", "text", "plain")], revision: "1" });
    const rig = await start(memory);
    await ended(rig);
    memory.tables.set("a", { columns: [], revision: "2", fails: "damaged" });
    await scan(rig);
    expect((await resource(rig, "a")).body.classification.tier).toBe("RESTRICTED");
    memory.tables.set("a", { columns: [column("x", "text", "plain")], revision: "2" });
    expect((await scan(rig)).result).toMatchObject({ scanned: 1 });
    expect((await resource(rig, "a")).body.classification.tier).toBe("INTERNAL");
  });

  test("one scrape asks the store once for the newest scans of a source", async () => {
    const store = openMemoryStore(governanceSchema);
    let asked = 0;
    const counted: typeof store = {
      ...store,
      list(coll, index, ...rest) {
        if (coll === "jobs" && index === "owner") asked++;
        return store.list(coll, index, ...rest);
      },
    };
    const rig = await start(memorySource(), counted);
    await ended(rig);
    asked = 0;
    const text = (await rig.call(undefined, "GET", "/metrics")).body;
    for (const name of ["failing", "scanned_at_seconds", "schedule_seconds", "assets"])
      expect(text).toContain(`governance_source_${name}{`);
    expect(asked).toBe(1);
  });

  test("columns that come, change and go, and tables that are dropped, are changes of the schema", async () => {
    const memory = memorySource();
    memory.tables.set("orders", { columns: [column("id", "int"), column("note", "text")] });
    const rig = await start(memory);
    await ended(rig);
    const changes = async () =>
      (await rig.call("reader", "GET", `/api/v1/lineage/${encodeURIComponent(idOf("orders"))}/schema-changes`)).body;
    memory.tables.set("orders", { columns: [column("id", "bigint"), column("mail", "text")] });
    await scan(rig);
    expect(await changes()).toMatchObject({
      added: [{ column: "mail", type: "text" }],
      removed: [{ column: "note", type: "text" }],
      retyped: [{ column: "id", from: "int", to: "bigint" }],
    });
    memory.tables.delete("orders");
    expect((await scan(rig)).result).toMatchObject({ assets: 0, dropped: 1 });
    expect((await changes()).removed.map((one: { column: string }) => one.column)).toEqual(["id", "note"]);
    expect((await scan(rig)).result).toMatchObject({ assets: 0, dropped: 0 });
    const events = await rig.store.list("lineage_events", "by_arrival", [], { limit: 100 });
    expect(events.items).toHaveLength(3);
  });

  test("what has not changed is not read again", async () => {
    const memory = memorySource();
    memory.tables.set("a", { columns: [column("x", "text")], revision: "1" });
    const rig = await start(memory);
    await ended(rig);
    expect((await scan(rig)).result).toMatchObject({ scanned: 0, unchanged: 1 });
    memory.tables.set("a", { columns: [column("x", "text")], revision: "2" });
    expect((await scan(rig)).result).toMatchObject({ scanned: 1, unchanged: 0 });
    expect(memory.state.sampled).toBe(2);
  });

  test("a scan that has not ended keeps others from beginning, and ends when it is cancelled", async () => {
    const memory = memorySource();
    for (const name of ["a", "b"]) memory.tables.set(name, { columns: [column("x", "text")] });
    let release = (): void => undefined;
    memory.state.held = new Promise((resolve) => {
      release = resolve;
    });
    const rig = await start(memory);
    const [running] = (await rig.call("reader", "GET", "/api/v1/sources/shop/scans")).body.scans;
    expect((await rig.call("writer", "POST", "/api/v1/sources/shop/scans")).status).toBe(409);
    const path = `/api/v1/sources/shop/scans/${running.id}`;
    expect((await rig.call("writer", "DELETE", path)).status).toBe(202);
    release();
    expect((await ended(rig)).state).toBe("cancelled");
    expect((await rig.call("writer", "DELETE", path)).status).toBe(409);
    expect((await rig.call("reader", "GET", path)).body).toMatchObject({ id: running.id, source: "shop", result: null });
  });

  test("of two processes on one store one scans, and when it is due again either does", async () => {
    const memory = memorySource();
    memory.tables.set("a", { columns: [column("x", "text")] });
    const one = await start(memory);
    const two = await start(memory, one.store);
    await ended(one);
    await ended(two);
    expect(memory.state.opened).toBe(1);
    expect((await two.call("reader", "GET", "/api/v1/sources/shop/scans")).body.total).toBe(1);
    expect((await resource(two, "a")).status).toBe(200);
  });

  test("other organisations, and keys without the scope, have no source", async () => {
    const rig = await start(memorySource());
    await ended(rig);
    expect((await rig.call("other", "GET", "/api/v1/sources")).body).toEqual({ sources: [], count: 0 });
    expect((await rig.call("other", "POST", "/api/v1/sources/shop/scans")).status).toBe(404);
    expect((await rig.call("other", "GET", "/api/v1/sources/shop/scans")).status).toBe(404);
    expect((await rig.call("reader", "POST", "/api/v1/sources/shop/scans")).status).toBe(403);
    expect((await rig.call("judge", "GET", "/api/v1/sources")).status).toBe(403);
    expect((await rig.call(undefined, "GET", "/api/v1/sources")).status).toBe(401);
    expect((await rig.call("reader", "GET", "/api/v1/sources/shop/scans/none")).status).toBe(404);
  });
});

describe("settings of sources", () => {
  const refused = (source: object) =>
    governanceSettings.safeParse({ sources: { shop: source } }).error?.issues[0]?.path.join(".");
  const lake = { kind: "s3", endpoint: "https://s3.example", bucket: "lake", access_key: "k", secret_key_file: "f" };

  test("a database or bucket elsewhere is reached over TLS alone, and no secret stands in an address", () => {
    expect(refused(shop)).toBeUndefined();
    expect(refused(lake)).toBeUndefined();
    expect(refused({ ...shop, tls: "off" })).toBe("sources.shop.tls");
    expect(refused({ ...shop, host: "127.0.0.1", tls: "off" })).toBeUndefined();
    expect(refused({ ...lake, endpoint: "http://s3.example" })).toBe("sources.shop.endpoint");
    expect(refused({ ...lake, endpoint: "https://user:word@s3.example" })).toBe("sources.shop.endpoint");
    expect(refused({ ...shop, password: "word" })).toBe("sources.shop");
    expect(refused({ ...shop, schedule: "1s" })).toBe("sources.shop.schedule");
  });
});
