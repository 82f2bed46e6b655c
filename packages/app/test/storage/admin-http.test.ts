import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { storageContract } from "@seneschal/contract/storage";
import { tuningTable } from "@seneschal/core/storage";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { type Harness, type Person, servers, startStorage, tokenOf } from "./harness.ts";
import { bytesOf, pattern } from "./rig.ts";

const put = (h: Harness, key: string, bytes: Uint8Array) =>
  putObject(h.storage.node.objects, {
    tenant: "alpha",
    bucket: "docs",
    key,
    body: bytesOf(bytes),
    contentType: "a/b",
    headers: {},
    meta: {},
  });

describe.each(servers)("admin interface on %s", (_, serve) => {
  let h: Harness;
  beforeAll(async () => {
    h = await startStorage(serve);
    await h.call("root", "POST", "/ui/api/ops/tenants", { tenant_id: "alpha" });
    await createBucket(h.storage.node.objects, "alpha", "docs", "us-east-1");
    await put(h, "a", pattern(300_000));
  });
  afterAll(() => h.stop());

  const job = async (id: string) => {
    await h.storage.node.jobs.drain();
    return (await h.call("root", "GET", `/ui/api/jobs/${id}`)).body;
  };

  test("filters take `all`; health stands before the state; points have a time; nobody is signed in without a 401", async () => {
    const all = await h.call(undefined, "GET", "/ui/api/events?severity=all&category=all");
    expect(all.body.length).toBeGreaterThan(0);
    expect((await h.call(undefined, "GET", "/ui/api/events?severity=every")).status).toBe(400);
    const nodes = (await h.call(undefined, "GET", "/ui/api/nodes")).text;
    expect(nodes.indexOf('"healthy"')).toBe(nodes.indexOf('"healthy":true'));
    const { points } = (await h.call(undefined, "GET", "/ui/api/history")).body;
    expect(points[0].time).toBe(points[0].timestamp);
    expect(await h.call(undefined, "GET", "/ui/api/session")).toMatchObject({ status: 200, body: null });
  });

  test("tenants and credentials that are made or revoked, and the start of a node, are events", async () => {
    const { body: made } = await h.call("root", "POST", "/ui/api/ops/tenants/alpha/credentials", {});
    await h.call("root", "DELETE", `/ui/api/ops/credentials/${made.access_key}`);
    const events = (await h.call(undefined, "GET", "/ui/api/events")).body as { message: string; details: object }[];
    const messages = events.map(({ message }) => message);
    for (const message of ["tenant created", "S3 credential created", "S3 credential revoked", "node node-1 started"])
      expect(messages).toContain(message);
    expect(JSON.stringify(events)).not.toContain(made.secret_key);
  });

  test("a bucket's quota is set, read and taken away, and stands in the audit log; what is no quota is refused before anything is set", async () => {
    const path = "/ui/api/ops/buckets/docs/quota";
    const none = { bucket: "docs", tenant_id: "alpha", max_bytes: null, max_objects: null, used_bytes: null, used_objects: null };
    const call = (method: string, body?: unknown, who: Person = "root") => h.call(who, method, path, body);
    expect((await call("GET")).body).toEqual({ ...none, counting: false });
    for (const body of [{}, { max_bytes: -1 }, { max_bytes: 1.5 }, { max_objects: "1" }, { max_size: 1 }])
      expect((await call("PUT", body)).status).toBe(400);
    expect((await call("PUT", { max_bytes: 1 }, "oncall")).status).toBe(403);
    expect((await h.call("root", "PUT", "/ui/api/ops/buckets/none/quota", { max_bytes: 1 })).status).toBe(404);
    expect((await call("GET")).body).toEqual({ ...none, counting: false });
    const used = { used_bytes: 300_000, used_objects: 1, counting: false };
    const set = await call("PUT", { max_bytes: 400_000 });
    expect([set.status, set.body]).toEqual([200, { ...none, max_bytes: 400_000, ...used }]);
    await expect(put(h, "b", pattern(100_001))).rejects.toMatchObject({ code: "QuotaExceeded" });
    expect((await call("PUT", { max_objects: 2 })).body).toEqual({ ...none, max_objects: 2, ...used });
    expect((await call("DELETE")).body).toEqual({ ...none, counting: false });
    const log = await h.store.auditRead(0, 10_000);
    const actions = log.map(({ event }) => event["action"]);
    for (const action of ["bucket.quota", "op.set_bucket_quota", "op.remove_bucket_quota"]) expect(actions).toContain(action);
  });

  test("/health is exactly ok, /metrics is Prometheus text with real values", async () => {
    expect(await h.call(undefined, "GET", "/health")).toMatchObject({ status: 200, text: "ok" });
    const { text, headers } = await h.call(undefined, "GET", "/metrics");
    expect(headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(text).toMatch(/^store_chunk_writes_total\{pool="fast"\} 1$/m);
    expect(text).toMatch(/^store_pool_capacity_bytes\{pool="fast"\} 469762048$/m);
    expect(text).toMatch(/^store_raft_state\{shard="shard-0",state="leader"\} 1$/m);
    expect(text).toMatch(/^store_key_manager_reachable 1$/m);
    expect(text).toMatch(/^store_device_state\{device="d0",state="Healthy"\} 1$/m);
  });
  test("cluster, nodes, history and events have their shapes", async () => {
    const cluster = (await h.call(undefined, "GET", "/ui/api/cluster")).body;
    expect(cluster).toMatchObject({
      node_count: 1,
      shard_count: 3,
      pool_count: 1,
      device_count: 7,
      health: "healthy",
      maintenance_mode: false,
      leader_node: "node-1",
      total_nodes: 1,
      healthy_nodes: 1,
    });
    expect(cluster.used_capacity_bytes).toBeGreaterThan(300_000);
    expect(cluster.total_capacity_bytes).toBe(7 * (64 << 20));
    const nodes = (await h.call(undefined, "GET", "/ui/api/nodes")).body;
    expect(nodes).toMatchObject([{ node_id: "node-1", status: "healthy", device_count: 7, shard_count: 3, healthy: true }]);
    expect(nodes[0].node_id).not.toBe(nodes[0].address);
    const history = (await h.call(undefined, "GET", "/ui/api/history?hours=0.5")).body;
    expect(history.hours).toBe(0.5);
    expect(history.points[0].timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Array.isArray((await h.call(undefined, "GET", "/ui/api/events")).body)).toBe(true);
    for (const path of ["devices", "pools", "shards", "jobs", "repairs"])
      expect(Array.isArray((await h.call(undefined, "GET", `/ui/api/${path}`)).body), path).toBe(true);
  });
  test("bad queries are 400 in the one error shape", async () => {
    for (const query of [
      "hours=0",
      "hours=-1",
      "hours=NaN",
      "hours=x",
      "hours=1e3",
      "severity=bad",
      "category=nope",
      "limit=0",
      "unknown=1",
    ]) {
      const { status, body } = await h.call(undefined, "GET", `/ui/api/events?${query}`);
      expect([status, body.error.code], query).toEqual([400, "VALIDATION_ERROR"]);
    }
    expect((await h.call(undefined, "GET", "/ui/api/events?category=raft")).status).toBe(200);
    expect((await h.call(undefined, "GET", "/nope")).status).toBe(404);
    expect((await h.call(undefined, "POST", "/ui/api/cluster")).status).toBe(405);
  });
  test("every guarded route refuses nobody's, a wrong and an insufficient credential, and changes nothing", async () => {
    for (const [id, route] of Object.entries(storageContract)) {
      if (route.auth !== "principal") continue;
      const path = route.path
        .replace(":device_id", "d0")
        .replace(":pool_id", "fast")
        .replace(":node_id", "node-1")
        .replace(":job_id", "j")
        .replace(":tenant_id", "alpha")
        .replace(":access_key", "K");
      const statusOf = async (who: Person | undefined, headers = {}) =>
        (await h.call(who, route.method, path, undefined, headers)).status;
      expect(await statusOf(undefined), id).toBe(401);
      expect(await statusOf(undefined, { authorization: "Bearer wrong" }), id).toBe(401);
      expect(await statusOf(undefined, { authorization: `Basic ${tokenOf("root")}` }), id).toBe(401);
      expect(await statusOf(undefined, { cookie: "seneschal_session=forged" }), id).toBe(401);
      if (route.action === "storage:admin") {
        expect(await statusOf("oncall"), id).toBe(403);
        expect(await statusOf("incident"), id).toBe(403);
      }
      if (route.action === "storage:operate") expect(await statusOf("oncall"), id).toBe(403);
    }
    expect(h.storage.node.cluster.state.maintenance).toBe(false);
    const events = (await h.call(undefined, "GET", "/ui/api/events?category=security")).body;
    expect(events.length).toBeGreaterThan(0);
  });
  test("maintenance: validated, idempotent, enforced, reported, audited", async () => {
    const set = (body: unknown) => h.call("root", "POST", "/ui/api/ops/maintenance", body);
    for (const bad of [{}, { enabled: "true" }, { enabled: 1 }, { enabled: true, extra: 1 }])
      expect((await set(bad)).status).toBe(400);
    expect((await set({ enabled: true, shard_id: "shard-99" })).body.error.code).toBe("RESOURCE_NOT_FOUND");
    expect((await set({ enabled: true })).body).toMatchObject({ status: "ok", enabled: true, shard_id: null });
    expect((await set({ enabled: true })).status).toBe(200);
    expect((await h.call(undefined, "GET", "/ui/api/cluster")).body.maintenance_mode).toBe(true);
    await expect(put(h, "b", pattern(10))).rejects.toMatchObject({ code: "MaintenanceMode" });
    expect((await set({ enabled: false })).status).toBe(200);
    const audit = await h.store.auditRead(0, 10_000);
    expect(audit.map((e) => e.event)).toContainEqual(
      expect.objectContaining({
        action: "op.maintenance",
        actor: "root",
        outcome: "NotFound",
        parameters: { enabled: true, shard_id: "shard-99" },
      }),
    );
  });
  test("scrub: every form of scope, 404 for unknown targets, 409 for the same scope while it runs, a report at the end", async () => {
    const scrub = (body?: unknown, who: Person = "incident") => h.call(who, "POST", "/ui/api/ops/scrub", body);
    for (const body of [
      undefined,
      {},
      { scope: "cluster" },
      { pool: "fast" },
      { device: "d0" },
      { scope: "pool", id: "fast" },
      { scope: "device", id: "d1" },
    ]) {
      const started = await scrub(body);
      expect(started.status, JSON.stringify(body)).toBe(200);
      expect(await job(started.body.job_id)).toMatchObject({ state: "succeeded", error: null, result: { lost: 0 } });
    }
    expect((await scrub({ pool: "none" })).status).toBe(404);
    expect((await scrub({ device: "none" })).status).toBe(404);
    for (const bad of [{ scope: "pool" }, { scope: "moon" }, { pool: "fast", device: "d0" }, []])
      expect((await scrub(bad)).status, JSON.stringify(bad)).toBe(400);
  });
  test("tuning: both ends of every range are taken, one beyond is refused with nothing applied", async () => {
    const before = (await h.call(undefined, "GET", "/ui/api/tuning")).body;
    for (const [name, { min, max }] of Object.entries(tuningTable)) {
      for (const value of [min, max])
        expect((await h.call("root", "PUT", "/ui/api/ops/tuning", { [name]: value })).body[name]).toBe(value);
      for (const value of [min - 1, max + 1, min + 0.5, "5"]) {
        const refused = await h.call("root", "PUT", "/ui/api/ops/tuning", { gc_interval_s: 60, [name]: value });
        expect(refused.status).toBe(400);
        expect(JSON.stringify(refused.body.error.details)).toContain(name);
      }
    }
    expect((await h.call("root", "PUT", "/ui/api/ops/tuning", before)).body).toEqual(before);
    expect((await h.call("root", "PUT", "/ui/api/ops/tuning", {})).status).toBe(400);
  });
  test("thresholds: effective values are shown, an order that does not hold is refused by field", async () => {
    const set = (body: unknown) => h.call("root", "PUT", "/ui/api/ops/pools/fast/thresholds", body);
    expect((await set({ warning: 71 })).body.thresholds).toEqual({
      warning: 71,
      critical: 85,
      read_only: 92,
      full: 97,
      target_fill: 70,
    });
    expect((await set({ warning: 90 })).body.error).toMatchObject({ code: "INVALID_SETTING", details: { field: "warning" } });
    expect((await set({ warning: 0 })).body.thresholds.warning).toBe(75);
  });
  test("devices: evacuation, its refusals, and removal only from Removed", async () => {
    expect((await h.call("root", "DELETE", "/ui/api/ops/devices/d6")).body.error).toMatchObject({
      code: "DEVICE_NOT_EVACUATED",
      message: expect.stringContaining("Healthy"),
    });
    expect((await h.call("root", "POST", "/ui/api/ops/devices/none/evacuate")).status).toBe(404);
    const started = await h.call("root", "POST", "/ui/api/ops/devices/d6/evacuate");
    expect(await job(started.body.job_id)).toMatchObject({ state: "succeeded", scope: "device:d6" });
    expect((await h.call("root", "POST", "/ui/api/ops/devices/d6/cancel-evacuation")).body.error.code).toBe(
      "FAILED_PRECONDITION",
    );
    expect((await h.call("root", "POST", "/ui/api/ops/devices/d5/evacuate")).body.error.code).toBe("FAILED_PRECONDITION");
    expect((await h.call("root", "DELETE", "/ui/api/ops/devices/d6")).status).toBe(200);
    expect((await h.call(undefined, "GET", "/ui/api/devices")).body).toHaveLength(6);
  });
  test("tenants and access keys: the secret is shown once and nowhere else, a shred needs the name twice", async () => {
    expect((await h.call("root", "POST", "/ui/api/ops/tenants", { tenant_id: "Bad Name" })).status).toBe(400);
    expect((await h.call("root", "POST", "/ui/api/ops/tenants", { tenant_id: "alpha" })).status).toBe(409);
    const made = await h.call("root", "POST", "/ui/api/ops/tenants/alpha/credentials");
    expect(made.status).toBe(201);
    const audit = JSON.stringify(await h.store.auditRead(0, 10_000));
    expect(audit).not.toContain(made.body.secret_key);
    expect(JSON.stringify((await h.store.get("storage_credentials", made.body.access_key))?.doc)).not.toContain(
      made.body.secret_key,
    );
    expect((await h.call("root", "DELETE", `/ui/api/ops/credentials/${made.body.access_key}`)).status).toBe(200);
    const limits = { access: "read_only", resources: [{ bucket: "docs", prefix: "a/" }] };
    const limited = await h.call("root", "POST", "/ui/api/ops/tenants/alpha/credentials", limits);
    expect([limited.status, limited.body]).toMatchObject([201, limits]);
    for (const wrong of [
      { access: "write_only" },
      { resources: [] },
      { resources: [{ bucket: "Docs" }] },
      { resources: [{ bucket: "docs", prefix: "a\0" }] },
      { resources: [{ prefix: "a" }] },
      { scope: "all" },
    ])
      expect((await h.call("root", "POST", "/ui/api/ops/tenants/alpha/credentials", wrong)).status).toBe(400);
    await h.call("root", "POST", "/ui/api/ops/tenants", { tenant_id: "doomed" });
    expect((await h.call("root", "POST", "/ui/api/ops/tenants/doomed/shred", { confirm: "yes" })).status).toBe(400);
    expect((await h.call("root", "POST", "/ui/api/ops/tenants/doomed/shred", { confirm: "doomed" })).status).toBe(200);
    expect((await h.call("root", "GET", "/ui/api/ops/tenants")).body).toContainEqual(
      expect.objectContaining({ tenant_id: "doomed", state: "shredded" }),
    );
    expect((await h.call("root", "POST", "/ui/api/ops/keys/rotate")).body.epoch).toBe(2);
  });
  test("access keys are listed page by page with what they may, never with a secret, as long as they are good", async () => {
    await h.call("root", "POST", "/ui/api/ops/tenants", { tenant_id: "listed" });
    const keys = "/ui/api/ops/tenants/listed/credentials";
    const list = (query = "") => h.call("root", "GET", `${keys}${query}`);
    expect((await list()).body).toEqual([]);
    const bodies = [{}, { access: "read_only" }, { resources: [{ bucket: "docs", prefix: "a/" }, { bucket: "docs2" }] }, {}, {}];
    const made = [];
    for (const body of bodies) made.push((await h.call("root", "POST", keys, body)).body);
    const shown = made
      .map(({ access_key, access, resources }) => ({ access_key, access, resources, created_at: expect.stringMatching(/Z$/) }))
      .sort((a, b) => (a.access_key < b.access_key ? -1 : 1));
    const all = await list();
    expect([all.status, all.body]).toEqual([200, shown]);
    for (const { secret_key } of made) expect(all.text).not.toContain(secret_key);
    for (const limit of [1, 2, 5]) {
      const pages = [];
      for (let offset = 0; offset < 6; offset += limit) pages.push(...(await list(`?limit=${limit}&offset=${offset}`)).body);
      expect(pages).toEqual(shown);
    }
    for (const query of ["?limit=0", "?limit=1001", "?offset=-1", "?limit=1&limit=2", "?bucket=docs"])
      expect([query, (await list(query)).status]).toEqual([query, 400]);
    await h.call("root", "DELETE", `/ui/api/ops/credentials/${shown[0]?.access_key}`);
    expect((await list()).body).toEqual(shown.slice(1));
    expect((await h.call("root", "GET", "/ui/api/ops/tenants/none/credentials")).status).toBe(404);
    for (const who of ["oncall", "incident"] as const) expect((await h.call(who, "GET", keys)).status).toBe(403);
    expect((await h.call(undefined, "GET", keys)).status).toBe(401);
  });
  test("open replies name no tenant, key or object", async () => {
    for (const path of ["cluster", "nodes", "devices", "pools", "shards", "history"]) {
      const { text } = await h.call(undefined, "GET", `/ui/api/${path}`);
      expect(text).not.toContain("alpha");
      expect(text).not.toContain("docs");
    }
  });
  test("a SMART file drives a device's flags", async () => {
    await writeFile(join(h.directory, "d0", "smart.json"), '{"temperature_celsius": 75}');
    await h.storage.node.tick();
    expect((await h.call(undefined, "GET", "/ui/api/devices")).body[0]).toMatchObject({
      temperature_celsius: 75,
      flags: ["temperature_warning"],
    });
    await writeFile(join(h.directory, "d0", "smart.json"), '{"temperature_celsius": 30}');
    await h.storage.node.tick();
    expect((await h.call(undefined, "GET", "/ui/api/cluster")).body.active_alerts).toEqual([]);
  });
  test("the dashboard is served from here alone, under a policy that lets nothing else in", async () => {
    for (const path of ["/ui", "/ui/"]) {
      const { status, headers, text } = await h.call(undefined, "GET", path);
      expect(status).toBe(200);
      expect(headers.get("content-security-policy")).toContain("default-src 'self'");
      expect(text).not.toMatch(/https?:\/\/|<script>|style=|onclick/);
      for (const [, asset] of text.matchAll(/(?:src|href)="(\/ui\/assets\/[^"]+)"/g))
        expect((await h.call(undefined, "GET", asset ?? "")).status).toBe(200);
    }
    expect((await h.call(undefined, "GET", "/ui/assets/nope.js")).status).toBe(404);
    for (const f of ["cluster-cards", "node-table", "chart-data", "alerts", "devices", "shards", "jobs"]) {
      const { status, headers } = await h.call(undefined, "GET", `/ui/fragment/${f}`);
      expect([status, headers.get("content-type")], f).toEqual([200, "text/html; charset=utf-8"]);
    }
    const data = await h.call(undefined, "GET", "/ui/fragment/chart-data", undefined, { accept: "application/json" });
    expect(Object.keys(data.body)).toEqual(["labels", "writes", "reads", "requests"]);
  });
  test("a browser session: HttpOnly strict cookie, changes only with its token and from its own origin", async () => {
    expect((await h.call(undefined, "POST", "/ui/api/session", { token: "wrong" })).status).toBe(401);
    for (const elsewhere of [
      { origin: "https://evil.example" },
      { origin: "null" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
    ] as readonly Record<string, string>[]) {
      const refused = await h.call(undefined, "POST", "/ui/api/session", { token: tokenOf("root") }, elsewhere);
      expect([elsewhere, refused.status, refused.headers.get("set-cookie")]).toEqual([elsewhere, 403, null]);
    }
    const opened = await h.call(undefined, "POST", "/ui/api/session", { token: tokenOf("root") }, { origin: h.service.url });
    const setCookie = opened.headers.get("set-cookie") ?? "";
    expect(setCookie).toMatch(/HttpOnly; SameSite=Strict/);
    const cookie = setCookie.split(";")[0] ?? "";
    const rotate = (headers: Record<string, string>) =>
      h.call(undefined, "POST", "/ui/api/ops/keys/rotate", undefined, { cookie, ...headers });
    expect((await rotate({})).status).toBe(403);
    expect((await rotate({ "x-csrf-token": "guess" })).status).toBe(403);
    expect((await rotate({ "x-csrf-token": opened.body.csrf_token, origin: "https://evil.example" })).status).toBe(403);
    expect((await rotate({ "x-csrf-token": opened.body.csrf_token, origin: h.service.url })).status).toBe(200);
    await h.call(undefined, "DELETE", "/ui/api/session", undefined, { cookie, "x-csrf-token": opened.body.csrf_token });
    expect((await rotate({ "x-csrf-token": opened.body.csrf_token })).status).toBe(401);
  });
});

test("without any configured credential operations are closed, not open", async () => {
  const h = await startStorage(servers[0]![1], { admin: {} });
  expect((await h.call(undefined, "POST", "/ui/api/ops/scrub")).status).toBe(401);
  expect((await h.call("root", "POST", "/ui/api/ops/scrub")).status).toBe(401);
  await h.stop();
});

test("status can be closed too: then only a credential reads it, health and metrics stay open", async () => {
  const closed = { tokens: [{ id: "oncall", role: "sre-on-call", sha256: "0".repeat(64) }], open_status: false };
  const h = await startStorage(servers[1]![1], { admin: closed });
  expect((await h.call(undefined, "GET", "/ui/api/cluster")).status).toBe(401);
  expect((await h.call(undefined, "GET", "/ui/fragment/alerts")).status).toBe(401);
  expect((await h.call(undefined, "GET", "/health")).status).toBe(200);
  await h.stop();
});
