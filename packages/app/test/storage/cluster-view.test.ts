import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDataChannel } from "@seneschal/adapters/grpc-storage";
import { serveGrpc } from "@seneschal/server-grpc";
import { afterEach, expect, test } from "vitest";
import { chunkPage } from "../../src/storage/jobs/chunk-pages.ts";
import { type ClusterRig, openCluster } from "./cluster-rig.ts";
import { removeExtent } from "./damage-extent.ts";
import { operator, pattern } from "./rig.ts";

let ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

const ids = ["n1", "n2", "n3"] as const;
/** What each running node says of the cluster, in words. */
const said = (rig: ClusterRig, nodes: readonly string[] = ids) =>
  nodes.map((id) => ({ health: rig.node(id).monitor.health(), alerts: rig.node(id).monitor.alerts() }));
const same = (rig: ClusterRig, nodes: readonly string[] = ids) => {
  const [first, ...others] = said(rig, nodes);
  for (const other of others) expect(other).toEqual(first);
  return first;
};

test("lost chunks, and who is not reached, are the same asked of any node, and after any restart", async () => {
  const rig = await openCluster(ids);
  ends.push(() => rig.dispose());
  await rig.put("n1", "k", pattern(200_000));
  expect(same(rig)).toEqual({ health: "healthy", alerts: [] });

  const [chunk] = (await chunkPage(rig.store, undefined, 1)).chunks;
  for (const fragment of chunk?.doc.fragments ?? []) {
    const kept = (await rig.extents(fragment?.device ?? "")).find(({ name }) => name === fragment?.extent);
    if (kept !== undefined) await removeExtent(kept);
  }
  await rig.node("n2").scrub({ kind: "cluster" }, operator);
  await rig.node("n2").jobs.drain();
  await rig.rounds(2);
  const lost = {
    health: "degraded",
    alerts: [{ severity: "critical", subject: "data", message: "1 chunk lost more fragments than parity covers" }],
  };
  expect(same(rig)).toEqual(lost);
  await rig.stop("n1");
  await rig.start("n1");
  await rig.rounds(3);
  expect(same(rig)).toEqual(lost);

  // Nobody reaches n3, which itself reaches everybody.
  await rig.cut("n3");
  await rig.rounds(4);
  expect(same(rig)?.alerts.map((a) => a.subject)).toContain("n3");
  await rig.mend("n3");
  await rig.rounds(4);
  expect(same(rig)).toEqual(lost);
});

test("background work that fails on one node, and the events of all, are the same asked of any node", async () => {
  const rig = await openCluster(ids);
  ends.push(() => rig.dispose());
  await rig.rounds(2);
  const healthy = { health: "healthy", alerts: [] };
  expect(same(rig)).toEqual(healthy);

  const message = "background work fails on n2: it was not done when it last should have been";
  await rig.node("n2").background.step("only here", () => Promise.reject(new Error("no")));
  await rig.rounds(2);
  expect(same(rig)).toEqual({ health: "degraded", alerts: [{ severity: "critical", subject: "only here", message }] });
  await rig.node("n2").background.step("only here", async () => undefined);
  await rig.rounds(2);
  expect(same(rig)).toEqual(healthy);

  const query = { since: 0, limit: 1000 };
  rig.node("n2").context.emit("warning", "node", "of n2", { n: 2 });
  rig.node("n3").context.emit("info", "device", "of n3");
  for (const id of ids) {
    const events = await rig.node(id).clusterEvents(query);
    expect(events.filter((e) => e.message.startsWith("of n")).map((e) => [e.source, e.message, e.details])).toEqual(
      expect.arrayContaining([
        ["n2", "of n2", { n: 2 }],
        ["n3", "of n3", {}],
      ]),
    );
    expect(events.map((e) => e.timestamp)).toEqual(events.map((e) => e.timestamp).sort((a, b) => b - a));
    const devices = await rig.node(id).clusterEvents({ ...query, category: "device", severity: "info" });
    expect(new Set(devices.map((e) => [e.category, e.severity].join()))).toEqual(new Set(["device,info"]));
    expect(await rig.node(id).clusterEvents({ since: 0, limit: 1 })).toHaveLength(1);
  }
  // Who does not answer keeps nobody from the events of the others.
  await rig.cut("n3");
  await rig.rounds(4);
  expect((await rig.node("n1").clusterEvents(query)).some((e) => e.message === "of n2")).toBe(true);
});

test("full system disks are alerts by the names of their nodes, the same asked of any", async () => {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-view-"));
  ends.push(() => rm(directory, { recursive: true }));
  // Whatever is on the disk is above nothing.
  const rig = await openCluster(ids, { metadataDirectory: directory, systemDiskLimits: { soft: 0, hard: 101 } });
  ends.push(() => rig.dispose());
  await rig.rounds(3);
  for (const id of ids) {
    const full = rig
      .node(id)
      .monitor.alerts()
      .filter(({ subject }) => subject === "system disk");
    expect(full.map(({ message }) => message.split(":")[0])).toEqual(ids);
  }
});

test("a node that is stopped and started again and again is healthy to all after each start", async () => {
  const rig = await openCluster(ids);
  ends.push(() => rig.dispose());
  for (let round = 0; round < Number(process.env["RESTARTS"] ?? 4); round++) {
    const id = ids[1 + (round % 2)] ?? "n2";
    await rig.stop(id);
    await rig.rounds(3);
    await rig.start(id);
    await rig.rounds(4);
    expect(same(rig)).toEqual({ health: "healthy", alerts: [] });
    await rig.put("n1", `k${round}`, pattern(9000, round + 1));
  }
});

test("a connection that stands and never answers is given up with the first question: the next one is asked on a new one", async () => {
  const server = await serveGrpc({
    host: "127.0.0.1",
    port: 0,
    handlers: { "seneschal.storage.v1.PeerService": { Status: async () => ({ node_id: "n1" }) } },
  });
  ends.push(() => server.close());
  const sockets = new Set<Socket>();
  let connections = 0;
  const proxy = createServer((near) => {
    sockets.add(near);
    near.on("error", () => undefined);
    connections += 1;
    // The first one is accepted, and then nobody is there.
    if (connections === 1) return;
    const far = connect(server.port, "127.0.0.1");
    sockets.add(far);
    far.on("error", () => near.destroy());
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  ends.push(async () => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const { port } = proxy.address() as { port: number };
  const channel = openDataChannel("seneschal.storage.v1.PeerService", { address: `127.0.0.1:${port}`, timeoutMs: 300 });
  ends.push(async () => channel.close());
  await expect(channel.ask("Status", {})).rejects.toMatchObject({ code: "Unavailable" });
  expect(await channel.ask("Status", {})).toMatchObject({ node_id: "n1" });
});
