import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAdmittedDevice } from "@seneschal/adapters/devices";
import { roomAt } from "@seneschal/adapters/files";
import { openDataChannel } from "@seneschal/adapters/grpc-storage";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { poolViews } from "../../src/storage/admin/views.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { type ClusterRig, openCluster } from "./cluster-rig.ts";
import { type Harness, servers, startStorage } from "./harness.ts";
import { bytesOf, collect, openRig, operator, pattern, type Rig } from "./rig.ts";

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error: { code: string }) => error.code,
  );

describe.each(servers)("devices and pools of a running node on %s", (_, serve) => {
  let h: Harness;
  let base: string;
  beforeAll(async () => {
    base = await mkdtemp(join(tmpdir(), "seneschal-growth-"));
    await mkdir(join(base, "disks"));
    h = await startStorage(serve, { device_roots: [join(base, "disks")] });
  });
  afterAll(async () => {
    await h.stop();
    await rm(base, { recursive: true, force: true });
  });
  const add = (body: Record<string, unknown>) =>
    h.call("root", "POST", "/ui/api/ops/devices", {
      device_id: "new",
      pool_id: "fast",
      directory: join(base, "disks", "new"),
      capacity_bytes: 64 << 20,
      ...body,
    });

  test("a device is opened where the settings allow it, and nowhere else; a refusal changes nothing and is in the audit log", async () => {
    await symlink("/tmp", join(base, "disks", "out"));
    for (const [body, status, code] of [
      [{ directory: "/etc/seneschal" }, 403, "FORBIDDEN"],
      [{ directory: join(base, "disks", "..", "other") }, 403, "FORBIDDEN"],
      [{ directory: `${base}/disks/../other` }, 403, "FORBIDDEN"],
      [{ directory: join(base, "disks", "out", "x") }, 403, "FORBIDDEN"],
      [{ directory: join(base, "disks") }, 403, "FORBIDDEN"],
      [{ device_id: "d0" }, 409, "CONFLICT"],
      [{ pool_id: "none" }, 404, "RESOURCE_NOT_FOUND"],
      [{ node_id: "none" }, 404, "RESOURCE_NOT_FOUND"],
      [{ capacity_bytes: 1 }, 400, "VALIDATION_ERROR"],
      [{ device_id: "../x" }, 400, "VALIDATION_ERROR"],
      [{ directory: "" }, 400, "VALIDATION_ERROR"],
    ] as const) {
      const answer = await add(body);
      expect([body, answer.status, answer.body.error?.code]).toEqual([body, status, code]);
    }
    expect((await h.call(undefined, "GET", "/ui/api/devices")).body).toHaveLength(7);
    const made = await add({});
    expect([made.status, made.body]).toMatchObject([
      201,
      { device_id: "new", node_id: "node-1", pool_id: "fast", class: "ssd", state: "Healthy", capacity_bytes: 64 << 20 },
    ]);
    expect((await add({ device_id: "newer", directory: join(base, "disks", "new", "inner") })).body.error.code).toBe("CONFLICT");
    expect((await h.call(undefined, "GET", "/ui/api/pools")).body[0]).toMatchObject({ device_count: 8 });
    const log = (await h.store.auditRead(0, 10_000)).map(({ event }) => event);
    expect(log).toContainEqual(expect.objectContaining({ action: "op.add_device", outcome: "directory_not_allowed" }));
    expect(log).toContainEqual(expect.objectContaining({ action: "device.add", actor: "root" }));
  });

  test("a device that its disk has no room for, alone or beside those on it already, is refused, and its directory not made", async () => {
    const { freeBytes } = await roomAt(base);
    const directory = (id: string) => join(base, "disks", id);
    const some = (id: string, share: number) =>
      add({ device_id: id, directory: directory(id), capacity_bytes: Math.floor(freeBytes * share) });
    for (const capacity_bytes of [Number.MAX_SAFE_INTEGER, 2 * freeBytes]) {
      const answer = await add({ device_id: "vast", directory: directory("vast"), capacity_bytes });
      expect([answer.status, answer.body.error]).toMatchObject([
        400,
        { code: "INVALID_SETTING", details: { field: "capacity_bytes" } },
      ]);
    }
    // What else is written to this disk meanwhile is far less than a fifth of it.
    expect((await some("half", 0.6)).status).toBe(201);
    const beside = await some("other-half", 0.6);
    expect([beside.status, beside.body.error.code]).toEqual([400, "INVALID_SETTING"]);
    expect(beside.body.error.message).toMatch(/beside the other devices/);
    const names = await readdir(join(base, "disks"));
    expect(["vast", "half", "other-half"].filter((name) => names.includes(name))).toEqual(["half"]);
  });

  test("a pool is made and goes again, not while it has a device or the settings name it", async () => {
    const pools = "/ui/api/ops/pools";
    const made = await h.call("root", "POST", pools, { pool_id: "slow", class: "hdd", durability: { copies: 2 } });
    expect([made.status, made.body]).toMatchObject([201, { pool_id: "slow", durability: "replication-2", state: "full" }]);
    expect((await h.call("root", "POST", pools, { pool_id: "slow", class: "hdd" })).status).toBe(409);
    for (const body of [
      { pool_id: "x", class: "tape" },
      { pool_id: "x", class: "hdd", durability: { copies: 9 } },
      { pool_id: "X", class: "hdd" },
    ])
      expect((await h.call("root", "POST", pools, body)).status).toBe(400);
    await add({ device_id: "s0", pool_id: "slow", directory: join(base, "disks", "s0") });
    expect((await h.call("root", "DELETE", `${pools}/slow`)).body.error.code).toBe("FAILED_PRECONDITION");
    expect((await h.call("root", "DELETE", `${pools}/fast`)).body.error.code).toBe("FAILED_PRECONDITION");
    expect((await h.call("root", "DELETE", `${pools}/none`)).status).toBe(404);
  });

  test("a node alone neither drains nor is evicted", async () => {
    expect((await h.call("root", "POST", "/ui/api/ops/nodes/node-1/drain")).body.error.code).toBe("FAILED_PRECONDITION");
    expect((await h.call("root", "DELETE", "/ui/api/ops/nodes/node-1")).body.error.code).toBe("FAILED_PRECONDITION");
    expect((await h.call("root", "POST", "/ui/api/ops/nodes/none/drain")).status).toBe(404);
    expect((await h.call(undefined, "GET", "/ui/api/nodes")).body).toMatchObject([{ status: "healthy" }]);
  });
});

test("a node without device_roots takes no device", async () => {
  const h = await startStorage(servers[0]![1]);
  const body = { device_id: "new", pool_id: "fast", directory: "/tmp/new", capacity_bytes: 64 << 20 };
  expect((await h.call("root", "POST", "/ui/api/ops/devices", body)).body.error.code).toBe("FORBIDDEN");
  await h.stop();
});

describe("a node that grows", () => {
  let rig: Rig;
  afterEach(() => rig.dispose());
  const draft = (id: string) => ({ id, pool: "fast", directory: join(rig.directory, id), capacityBytes: 64 << 20 });
  const put = (key: string, bytes: Uint8Array) =>
    putObject(rig.node.objects, {
      tenant: "alpha",
      bucket: "docs",
      key,
      body: bytesOf(bytes),
      contentType: "",
      headers: {},
      meta: {},
    });
  const get = async (key: string) =>
    collect(readObject(rig.node.objects, await headObject(rig.node.objects, "alpha", "docs", key)));
  const open = async (options: Parameters<typeof openRig>[0] = {}) => {
    rig = await openRig({ devices: 3, data: 2, parity: 1, tenants: ["alpha"], ...options });
    await createBucket(rig.node.objects, "alpha", "docs", "us-east-1");
  };

  test("keeps what it was given over restarts, fills it by a rebalance, and gives it back evacuated and closed", async () => {
    await open();
    const bytes = pattern(100_000);
    for (let i = 0; i < 12; i++) await put(`k${i}`, pattern(10_000, i + 2));
    await put("a", bytes);
    await rig.node.addDevice("node-1", draft("grown"), operator);
    rig = await rig.restart();
    expect(rig.node.devices.isLocal("grown")).toBe(true);
    const job = await rig.node.rebalance("fast", operator);
    await rig.node.jobs.drain();
    expect((await rig.node.jobs.get(job.id))?.state).toBe("succeeded");
    expect((await rig.extents("grown")).length).toBeGreaterThan(0);
    expect(await refusal(rig.node.removeDevice("grown", operator))).toBe("DeviceNotEvacuated");
    await rig.node.evacuate("grown", operator);
    await rig.node.jobs.drain();
    await rig.node.removeDevice("grown", operator);
    // The same directory again: what was in it is no longer open.
    await rig.node.addDevice("node-1", draft("grown"), operator);
    expect((await get("a")).equals(bytes)).toBe(true);
    rig = await rig.restart();
    expect((await get("a")).equals(bytes)).toBe(true);
  });

  test("starts without a device that is gone, gives it up after two rounds and rebuilds what was on it; not with one that is not allowed", async () => {
    let roots = [tmpdir()];
    await open({ devices: 4, extra: { openDevice: (device) => openAdmittedDevice({ ...device, roots }) } });
    await rig.node.addDevice("node-1", draft("grown"), operator);
    const sizes = [50_000, 50_001, 50_002, 50_003, 50_004, 50_005];
    for (const size of sizes) await put(`k${size}`, pattern(size));
    expect((await rig.extents("grown")).length).toBeGreaterThan(0);
    await rm(join(rig.directory, "grown"), { recursive: true });
    roots = ["/srv"];
    expect(await refusal(rig.restart())).toBe("config_invalid");
    roots = [tmpdir()];
    rig = await rig.restart();
    const messages = () => rig.node.events.query({ since: 0, limit: 100, severity: "critical" }).map((e) => e.message);
    expect(messages()).toContain("device grown does not open");
    await rig.node.tick();
    expect(rig.node.cluster.state.devices["grown"]?.state).toBe("Healthy");
    await rig.node.tick();
    expect(rig.node.cluster.state.devices["grown"]?.state).toBe("Failed");
    await rig.node.jobs.drain();
    await rig.node.tick();
    expect(rig.node.cluster.state.devices["grown"]?.state).toBe("Removed");
    for (const size of sizes) expect((await get(`k${size}`)).equals(pattern(size))).toBe(true);
    await rig.node.removeDevice("grown", operator);
    expect(await refusal(rig.node.addDevice("node-1", draft("grown"), operator))).toBe("done");
  });

  test("foretells when a pool is full: in its view, as a metric, and as an alert a week before", async () => {
    await open({ capacityBytes: 4 << 20 });
    const pool = () => poolViews(rig.node)[0];
    const alerts = () => rig.node.monitor.alerts().filter((a) => a.message.includes("present rate"));
    const metric = async () =>
      (await rig.node.metrics.registry.getSingleMetricAsString("store_pool_time_to_full_seconds")).split("\n").length - 2;
    for (let i = 0; i < 6; i++) {
      await put(`k${i}`, pattern(20_000, i + 1));
      rig.clock.set(rig.clock.now() + 600_000);
      await rig.node.tick();
      expect([pool()?.full_at, pool()?.growth_bytes_per_day]).toEqual([null, null]);
    }
    rig.clock.set(rig.clock.now() + 600_000);
    await rig.node.tick();
    expect(Date.parse(pool()?.full_at ?? "")).toBeGreaterThan(rig.clock.now());
    expect(pool()?.growth_bytes_per_day).toBeGreaterThan(0);
    expect(await metric()).toBe(1);
    expect(alerts()).toMatchObject([{ severity: "warning", subject: "fast" }]);
    // A device more: the rate begins anew.
    await rig.node.addDevice("node-1", draft("grown"), operator);
    await rig.node.tick();
    expect([pool()?.full_at, alerts(), await metric()]).toEqual([null, [], 0]);
  });
});

describe("nodes that come and go", () => {
  let rig: ClusterRig;
  afterEach(() => rig.dispose());
  const put = async (count: number) => {
    for (let i = 0; i < count; i++) await rig.put("n1", `k${i}`, pattern(9000 + i, i + 1));
  };
  const check = async (at: string, count: number) => {
    for (let i = 0; i < count; i++) expect((await rig.get(at, `k${i}`)).equals(pattern(9000 + i, i + 1))).toBe(true);
  };
  const drained = async (at: string) => {
    await rig.node(at).jobs.drain();
    await rig.rounds(1);
  };

  test("any node takes a device for any node: the one that has it opens it, all see it, over HTTP's path and gRPC's", async () => {
    rig = await openCluster(["n1", "n2"]);
    const device = { id: "n2-new", pool: "fast", directory: rig.directoryOf("n2-new"), capacityBytes: 64 << 20 };
    await rig.node("n1").addDevice("n2", device, operator);
    expect(rig.node("n2").devices.isLocal("n2-new")).toBe(true);
    expect(rig.node("n1").devices.isLocal("n2-new")).toBe(false);
    expect(rig.node("n1").cluster.state.devices["n2-new"]).toMatchObject({ node: "n2", directory: device.directory });
    expect(await refusal(rig.node("n1").addDevice("n2", device, operator))).toBe("AlreadyExists");
    expect(await refusal(rig.node("n1").addDevice("n9", device, operator))).toBe("NotFound");
    const tls = { ca: rig.ca.pem, ...(await rig.ca.issue("CN=ops,OU=storage-admin")) };
    const address = rig.node("n1").cluster.state.nodes["n1"]?.dataAddress ?? "";
    const admin = openDataChannel("seneschal.storage.v1.StorageAdminService", { address, tls });
    const made = { device_id: "n2-newer", node_id: "n2", pool_id: "fast", capacity_bytes: 64 << 20 };
    expect(await admin.ask("AddDevice", { ...made, directory: rig.directoryOf("n2-newer") })).toMatchObject({
      node_id: "n2",
      state: "Healthy",
    });
    expect(await refusal(admin.ask("AddDevice", { ...made, device_id: "X y" }))).toBe("InvalidArgument");
    await admin.ask("CreatePool", { pool_id: "slow", class: "hdd", copies: 2 });
    expect(await refusal(admin.ask("CreatePool", { pool_id: "s", class: "hdd", copies: 7 }))).toBe("InvalidArgument");
    expect((await admin.ask("ListPools", {}))["pools"]).toMatchObject([
      { pool_id: "fast" },
      { pool_id: "slow", durability: "replication-2" },
    ]);
    await admin.ask("RemovePool", { pool_id: "slow" });
    expect((await admin.ask("RebalancePool", { pool_id: "fast" }))["job_id"]).toMatch(/^[0-9a-f]{32}$/);
    const tenant = openDataChannel("seneschal.storage.v1.StorageAdminService", {
      address,
      tls: { ca: rig.ca.pem, ...(await rig.ca.issue("CN=t,OU=tenant-alpha")) },
    });
    expect(await refusal(tenant.ask("AddDevice", { ...made, device_id: "evil", directory: "/etc" }))).toBe(
      "AuthenticationFailed",
    );
    for (const subject of ["CN=a,OU=storage-admin", "CN=t,OU=tenant-alpha"]) {
      const peers = openDataChannel("seneschal.storage.v1.PeerService", {
        address: rig.peerAddress("n1"),
        tls: { ca: rig.ca.pem, ...(await rig.ca.issue(subject)) },
      });
      expect(
        await refusal(peers.ask("AddDevice", { device_id: "evil", pool_id: "fast", directory: "/etc", capacity_bytes: 1 << 20 })),
      ).toBe("AuthenticationFailed");
      peers.close();
    }
    for (const channel of [admin, tenant]) channel.close();
  });

  test("a node drains into the others, is evicted, and a new one takes its part by a rebalance; nothing is ever unreadable", async () => {
    rig = await openCluster(["n1", "n2", "n3"], { plaintext: true });
    await put(6);
    expect(await refusal(rig.node("n1").evictNode("n3", operator))).toBe("DeviceNotEvacuated");
    const { id } = await rig.node("n1").drainNode("n3", operator);
    expect(await refusal(rig.node("n2").drainNode("n3", operator))).toBe("AlreadyExists");
    await drained("n1");
    expect((await rig.node("n1").jobs.get(id))?.result).toMatchObject({ node: "n3", devices: ["n3-d0", "n3-d1"] });
    expect((await rig.places()).flat()).not.toContain("n3");
    expect((await rig.places()).flat()).not.toContain("");
    await check("n2", 6);
    const device = { id: "n3-late", pool: "fast", directory: rig.directoryOf("n3-late"), capacityBytes: 64 << 20 };
    expect(await refusal(rig.node("n1").addDevice("n3", device, operator))).toBe("InvalidSetting");
    await rig.start("n4");
    for (let i = 0; i < 200 && rig.node("n1").cluster.state.shards.some((s) => s.voters.includes("n3") || s.migration); i++) {
      rig.clock.set(rig.clock.now() + 1000);
      await rig.rounds(1);
    }
    await rig.node("n1").evictNode("n3", operator);
    await rig.stop("n3");
    await rig.node("n1").rebalance("fast", operator);
    await drained("n1");
    expect(new Set((await rig.places()).flat())).toEqual(new Set(["n1", "n2", "n4"]));
    for (const places of await rig.places()) expect(new Set(places).size).toBe(3);
    await check("n4", 6);
  });

  test("no node drains and no device leaves where the loss of a node would no longer be covered", async () => {
    rig = await openCluster(["n1", "n2"], { plaintext: true, devices: 3 });
    await put(3);
    expect(await refusal(rig.node("n1").drainNode("n2", operator))).toBe("EvacuationRefused");
    expect(rig.node("n1").cluster.state.nodes["n2"]?.state).toBe("Active");
    // One of three may go, as long as its node has another.
    await rig.node("n1").evacuate("n2-d0", operator);
    await drained("n1");
    await rig.node("n1").evacuate("n2-d1", operator);
    await drained("n1");
    expect(await refusal(rig.node("n1").evacuate("n2-d2", operator))).toBe("EvacuationRefused");
    for (const places of await rig.places()) expect(new Set(places)).toEqual(new Set(["n1", "n2"]));
    await check("n2", 3);
  });

  test("while a node leaves, what is acknowledged lies on two others, or the write is refused", async () => {
    rig = await openCluster(["n1", "n2", "n3"], { plaintext: true });
    await rig.node("n1").cluster.propose({ kind: "node.state", id: "n3", state: "Draining" }, operator);
    await rig.put("n1", "whole", pattern(9000));
    await rig.cut("n2");
    for (const key of ["unnoticed", "noticed"]) {
      expect([key, await refusal(rig.put("n1", key, pattern(9000, 7)))]).toEqual([key, "ShardUnavailable"]);
      await rig.rounds(2);
    }
    for (const places of await rig.places()) expect(new Set(places)).toEqual(new Set(["n1", "n2"]));
    await rig.mend("n2");
  });

  test("a drain that is cancelled, or cut off by a restart, leaves every object whole; a cancelled node stays and takes writes", async () => {
    rig = await openCluster(["n1", "n2", "n3"], { plaintext: true });
    await put(4);
    await rig.node("n1").drainNode("n3", operator);
    await rig.node("n1").jobs.tick();
    await rig.stop("n1");
    await rig.start("n1");
    await check("n1", 4);
    await rig.node("n1").cancelDrain("n3", operator);
    await drained("n1");
    await rig.rounds(2);
    const { nodes, devices } = rig.node("n2").cluster.state;
    expect(nodes["n3"]?.state).toBe("Active");
    expect(Object.values(devices).filter((d) => d.node === "n3" && d.state === "Evacuating")).toEqual([]);
    await check("n3", 4);
    await put(5);
    await check("n2", 5);
  });
});
