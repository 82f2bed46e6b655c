import type { StoredExtent } from "@seneschal/adapters/devices";
import { openDataChannel, openObjectClient, openRemoteDevices } from "@seneschal/adapters/grpc-storage";
import { afterEach, describe, expect, test } from "vitest";
import { type ClusterRig, openCluster } from "./cluster-rig.ts";
import { flipExtent } from "./damage-extent.ts";
import { refusal } from "./grpc-rig.ts";
import { operator, pattern } from "./rig.ts";

const ids = ["n1", "n2", "n3"] as const;
let rigs: ClusterRig[] = [];
async function clusterOf(...options: Parameters<typeof openCluster>): Promise<ClusterRig> {
  const rig = await openCluster(...options);
  rigs.push(rig);
  return rig;
}
afterEach(async () => {
  await Promise.all(rigs.map((r) => r.dispose()));
  rigs = [];
});
const each = (rig: ClusterRig) => ids.map((id) => rig.node(id));

describe("three nodes on one log", () => {
  test("agree on members, devices, shards and leaders, and take writes only once all have joined", async () => {
    const rig = await clusterOf(ids);
    const [a, b, c] = each(rig).map((n) => JSON.stringify(n.cluster.state));
    expect([b, c]).toEqual([a, a]);
    const { state } = rig.node("n3").cluster;
    expect([Object.keys(state.nodes), Object.keys(state.devices).length, state.shards.length]).toEqual([[...ids], 6, 9]);
    expect(new Set(state.shards.map((s) => s.leader))).toEqual(new Set(ids));
    expect(state.shards.every((s) => s.voters.length === 3)).toBe(true);
    const alone = await clusterOf(["m1"], { expectedNodes: 2 });
    expect(await refusal(alone.put("m1", "k", pattern(9)))).toMatchObject({ code: "ShardUnavailable" });
  });

  test("a process under the id of a node that answers elsewhere does not start, and changes nothing; once that one is gone it does", async () => {
    const rig = await clusterOf(ids);
    const before = JSON.stringify(rig.node("n2").cluster.state);
    await expect(rig.start("n4", "n1")).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(
        /^storage\.node_id \(STORE_NODE_ID\): another process is node n1, at .*: end it, or give this node an id/,
      ),
    });
    await rig.node("n2").cluster.refresh();
    expect(JSON.stringify(rig.node("n2").cluster.state)).toBe(before);
    await rig.stop("n1");
    await rig.start("n4", "n1");
    expect(rig.node("n4").cluster.state.nodes["n1"]?.peerAddress).toBe(rig.peerAddress("n4"));
  });

  test("place the copies of a chunk on distinct nodes and read them anywhere, equal", async () => {
    const rig = await clusterOf(ids);
    const bytes = pattern(5 << 20);
    await rig.put("n1", "big", bytes);
    for (const places of await rig.places()) expect([...places].sort()).toEqual([...ids]);
    for (const id of ids) expect((await rig.get(id, "big")).equals(bytes)).toBe(true);
  });

  test("spread an erasure-coded chunk as evenly as the nodes allow, and decode it from what answers", async () => {
    const rig = await clusterOf(ids, { pools: [{ id: "fast", class: "ssd", durability: { kind: "ec", data: 4, parity: 2 } }] });
    const bytes = pattern(300_000);
    await rig.put("n2", "coded", bytes);
    for (const places of await rig.places()) expect([...places].sort()).toEqual(["n1", "n1", "n2", "n2", "n3", "n3"]);
    await rig.stop("n1");
    expect((await rig.get("n3", "coded")).equals(bytes)).toBe(true);
  });

  test("go on reading and writing without one node; the node that comes back gets what it missed", async () => {
    const rig = await clusterOf(ids);
    const bytes = pattern(200_000);
    await rig.put("n1", "before", bytes);
    await rig.stop("n2");
    await rig.rounds(3);
    expect(rig.node("n1").monitor.nodeStatus("n2")).toBe("unreachable");
    expect(rig.node("n3").cluster.state.shards.every((s) => s.leader !== "n2")).toBe(true);
    for (const id of ["n1", "n3"]) expect((await rig.get(id, "before")).equals(bytes)).toBe(true);
    const during = pattern(200_000, 2);
    await rig.put("n3", "during", during);
    await rig.start("n2");
    await rig.rounds(3);
    expect((await rig.places()).flat()).not.toContain("");
    expect((await rig.get("n2", "during")).equals(during)).toBe(true);
    expect(rig.node("n1").monitor.nodeStatus("n2")).toBe("healthy");
  });

  test("rebuild what a node holds on the others once it has been away for ten minutes, and not before", async () => {
    const rig = await clusterOf(ids);
    const bytes = pattern(120_000);
    await rig.put("n1", "a", bytes);
    await rig.stop("n3");
    await rig.rounds(3);
    const scrubs = async () => (await rig.node("n1").jobs.list({ limit: 10 })).filter((j) => j.kind === "scrub").length;
    rig.clock.set(rig.clock.now() + 599_999);
    await rig.rounds(1);
    expect([await scrubs(), (await rig.places()).flat().filter((n) => n === "n3").length]).toEqual([0, 1]);
    rig.clock.set(rig.clock.now() + 1);
    await rig.rounds(3);
    expect(await scrubs()).toBe(1);
    for (const id of ["n1", "n2"]) await rig.node(id).jobs.drain();
    const [places = []] = await rig.places();
    expect([places.length, places.includes("n3"), places.includes("")]).toEqual([3, false, false]);
    await rig.start("n3");
    await rig.rounds(3);
    expect((await rig.get("n3", "a")).equals(bytes)).toBe(true);
  });

  test("refuse writes retriably without a majority, and still read what is here", async () => {
    const rig = await clusterOf(ids);
    const bytes = pattern(100_000);
    await rig.put("n1", "kept", bytes);
    await rig.stop("n2");
    await rig.stop("n3");
    await rig.rounds(3);
    expect(await refusal(rig.put("n1", "lost", bytes))).toMatchObject({ code: "QuorumLost" });
    expect((await rig.get("n1", "kept")).equals(bytes)).toBe(true);
    expect(rig.node("n1").monitor.health()).toBe("down");
    await rig.start("n2");
    await rig.rounds(3);
    await rig.put("n1", "again", bytes);
  });

  test("a shard whose leader has just gone is ShardUnavailable until another voter leads it", async () => {
    const rig = await clusterOf(ids);
    await rig.stop("n2");
    const led = rig.node("n1").cluster.state.shards.filter((s) => s.leader === "n2");
    expect(led.length).toBeGreaterThan(0);
    await rig.rounds(3);
    expect(rig.node("n1").objects.up("n2")).toBe(false);
    expect(rig.node("n1").cluster.state.shards.filter((s) => s.leader === "n2")).toEqual([]);
    const events = rig.node("n1").events.query({ since: 0, limit: 1000, category: "shard" });
    expect(events.filter((e) => e.message.startsWith("leader changed from n2")).length).toBe(led.length);
  });

  test("heal a damaged copy on another node by a scrub, and evacuate another node's device", async () => {
    const rig = await clusterOf(ids);
    const bytes = pattern(150_000);
    await rig.put("n1", "a", bytes);
    const used = (await Promise.all(["n3-d0", "n3-d1"].map(async (d) => ({ d, files: await rig.extents(d) })))).find(
      ({ files }) => files.length > 0,
    );
    await flipExtent(used?.files[0] as StoredExtent);
    await rig.node("n1").scrub({ kind: "cluster" }, operator);
    await rig.node("n1").jobs.drain();
    const [scrub] = await rig.node("n2").jobs.list({ limit: 1 });
    expect(scrub?.result).toMatchObject({ repaired: 1, lost: 0 });
    const device = (await rig.extents("n3-d0")).length > 0 ? "n3-d0" : "n3-d1";
    await rig.node("n2").evacuate(device, operator);
    await rig.node("n1").jobs.drain();
    expect(rig.node("n3").cluster.state.devices[device]?.state).toBe("Removed");
    expect((await rig.get("n3", "a")).equals(bytes)).toBe(true);
  });

  test("maintenance on one node refuses writes on every node", async () => {
    const rig = await clusterOf(ids);
    await rig.node("n1").cluster.propose({ kind: "maintenance.set", enabled: true }, operator);
    for (const id of ids) expect(await refusal(rig.put(id, "k", pattern(10)))).toMatchObject({ code: "MaintenanceMode" });
  });

  test("every change is in the audit log exactly once, whoever made it", async () => {
    const rig = await clusterOf(ids);
    for (const id of ids)
      await rig.node(id).cluster.propose({ kind: "tuning.set", values: { gc_interval_s: 300 + Number(id[1]) } }, operator);
    await rig.rounds(2);
    const changes = (await rig.store.auditRead(0, 1000)).flatMap((e) =>
      e.event["change"] === undefined ? [] : [e.event["change"]],
    );
    expect(changes).toEqual(Array.from({ length: rig.node("n1").cluster.status().entries }, (_, i) => i + 1));
  });

  test("a crypto-shred on one node ends reads on every node at once", async () => {
    const rig = await clusterOf(ids);
    await rig.put("n1", "secret", pattern(1000));
    for (const id of ids) await rig.get(id, "secret");
    await rig.node("n2").tenants.shred("alpha", operator);
    await rig.rounds(1);
    for (const id of ids) expect(await refusal(rig.get(id, "secret"))).toMatchObject({ code: "CryptoShredComplete" });
  });

  test("a key rotation on one node is followed by the others' writes", async () => {
    const rig = await clusterOf(ids);
    await rig.put("n3", "first", pattern(10));
    const epoch = await rig.node("n1").rotateKeys(operator);
    await rig.rounds(1);
    expect((await rig.node("n3").keys.forWrite()).epoch).toBe(epoch);
  });
});

test("a drained node's shards move one at a time by learner and promotion, then it can be evicted", async () => {
  const rig = await clusterOf(["n1"]);
  await rig.start("n2");
  const { cluster } = rig.node("n2");
  await cluster.propose({ kind: "node.state", id: "n1", state: "Draining" }, operator);
  const evict = { kind: "node.state", id: "n1", state: "Evicted" } as const;
  expect(await refusal(cluster.propose(evict, operator))).toMatchObject({ code: "InvariantViolation" });
  const votes = () => cluster.state.shards.filter((s) => s.voters.includes("n1")).length;
  expect(votes()).toBe(3);
  for (let round = 0; votes() > 0 && round < 50; round++) {
    await rig.rounds(1);
    expect(cluster.state.shards.filter((s) => s.migration !== undefined).length).toBeLessThanOrEqual(1);
    expect(cluster.state.shards.every((s) => s.voters.includes(s.leader))).toBe(true);
  }
  expect(votes()).toBe(0);
  await cluster.propose(evict, operator);
  await rig.put("n2", "k", pattern(10_000));
  expect((await rig.places()).flat()).not.toContain("n1");
});

describe("between nodes", () => {
  test("only certificates with OU store-server are served", async () => {
    const rig = await clusterOf(["n1"]);
    const tlsOf = async (subject: string) => ({ ca: rig.ca.pem, ...(await rig.ca.issue(subject)) });
    const address = rig.node("n1").cluster.state.nodes["n1"]?.dataAddress ?? "";
    for (const subject of ["CN=t,OU=tenant-alpha", "CN=a,OU=storage-admin", "CN=k,OU=store-keyserver", "CN=x"]) {
      const tls = await tlsOf(subject);
      const remote = openRemoteDevices({ address, tls });
      expect(await refusal(remote.device("n1-d0").usage())).toMatchObject({ details: { reason: "AuthenticationFailed" } });
      remote.close();
      const peers = openDataChannel("seneschal.storage.v1.PeerService", { address: rig.peerAddress("n1"), tls });
      expect(await refusal(peers.ask("Status", {}))).toMatchObject({ code: "AuthenticationFailed", details: { status: 16 } });
      peers.close();
    }
    const tls = await tlsOf("CN=n9,OU=store-server");
    const remote = openRemoteDevices({ address, tls });
    expect(await refusal(remote.device("elsewhere").usage())).toMatchObject({ code: "device_unavailable" });
    await remote.device("n1-d0").write("ab.0.x", pattern(3 << 20));
    expect(Buffer.from((await remote.device("n1-d0").read("ab.0.x")) ?? []).equals(pattern(3 << 20))).toBe(true);
    expect(await refusal(remote.device("n1-d0").write("ab.0.x", pattern(3)))).toMatchObject({ code: "extent_exists" });
    const names: string[] = [];
    for await (const name of remote.device("n1-d0").list()) names.push(name);
    expect(names).toEqual(["ab.0.x"]);
    await remote.device("n1-d0").delete("ab.0.x");
    expect(await remote.device("n1-d0").read("ab.0.x")).toBeUndefined();
    remote.close();
    const client = openObjectClient({ address, tls });
    expect(await client.has({ tenant: "alpha", bucket: "docs", key: "none" })).toBeUndefined();
    client.close();
  });

  test("the log, the key manager and tenants' keys answer by role, and every change is audited", async () => {
    const rig = await clusterOf(["n1"]);
    const { cluster } = rig.node("n1");
    const tlsOf = async (unit: string) => ({ ca: rig.ca.pem, ...(await rig.ca.issue(`CN=${unit},OU=${unit}`)) });
    const address = rig.peerAddress("n1");
    const open = async (service: "LogService" | "KeyManagerService" | "TenantKeyService", unit: string) =>
      openDataChannel(`seneschal.storage.v1.${service}`, {
        address: service === "TenantKeyService" ? (cluster.state.nodes["n1"]?.dataAddress ?? "") : address,
        tls: await tlsOf(unit),
      });
    const log = await open("LogService", "store-server");
    const before = cluster.status().entries;
    const command = JSON.stringify({ kind: "tuning.set", values: { gc_interval_s: 60 } });
    expect(await log.ask("AppendDelta", { command })).toEqual({ n: before + 1 });
    for (const bad of ["{", "{}", JSON.stringify({ kind: "device.delete", id: "n1-d0" })])
      expect(await refusal(log.ask("AppendDelta", { command: bad }))).toMatchObject({ code: "InvalidArgument" });
    const deltas: unknown[] = [];
    for await (const delta of log.receive("ReadDeltas", { after: before })) deltas.push(delta);
    expect(deltas).toMatchObject([{ n: before + 1, command, actor: "store-server" }]);
    expect(await log.ask("SetMaintenance", { enabled: true, shard_id: "shard-0" })).toEqual({ enabled: true });
    expect(await log.ask("ShardHealth", { shard_id: "shard-0" })).toMatchObject({
      leader: "n1",
      voters: ["n1"],
      quorum: true,
      maintenance: true,
    });
    expect(await refusal(log.ask("ShardHealth", { shard_id: "none" }))).toMatchObject({ code: "NotFound" });

    const keys = await open("KeyManagerService", "store-keyserver");
    expect(await keys.ask("CurrentEpoch", {})).toEqual({ epoch: 1 });
    expect(await keys.ask("Health", {})).toEqual({ reachable: true, cached_epochs: [1] });
    expect(await refusal(keys.ask("Rotate", {}))).toMatchObject({ code: "AuthenticationFailed" });
    const admin = await open("KeyManagerService", "storage-admin");
    expect(await admin.ask("Rotate", {})).toEqual({ epoch: 2 });

    const tenants = await open("TenantKeyService", "storage-admin");
    await rig.node("n1").cluster.propose({ kind: "maintenance.set", enabled: false, shard: "shard-0" }, operator);
    await rig.put("n1", "a", pattern(50));
    await tenants.ask("Rotate", { tenant: "alpha" });
    rig.node("n1").tenants.purge("alpha");
    expect((await rig.get("n1", "a")).equals(pattern(50))).toBe(true);
    expect(await tenants.ask("CheckKmsHealth", { tenant: "alpha" })).toEqual({ reachable: true });
    rig.vault.away = true;
    expect((await tenants.ask("CheckKmsHealth", { tenant: "alpha" }))["reachable"] ?? false).toBe(false);
    rig.vault.away = false;
    expect(await refusal(tenants.ask("CryptoShred", { tenant: "alpha", confirm: "beta" }))).toMatchObject({
      code: "InvalidArgument",
    });
    await tenants.ask("CryptoShred", { tenant: "alpha", confirm: "alpha" });
    expect(await refusal(rig.get("n1", "a"))).toMatchObject({ code: "CryptoShredComplete" });
    for (const channel of [log, keys, admin, tenants]) channel.close();
    const audited = (await rig.store.auditRead(0, 1000)).map((e) => e.event["action"]);
    for (const action of ["op.append_delta", "op.maintenance", "op.rotate_keys", "op.rotate_tenant_key", "op.crypto_shred"])
      expect(audited).toContain(action);
  });
});
