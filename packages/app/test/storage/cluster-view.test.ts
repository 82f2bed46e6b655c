import { connect, createServer, type Socket } from "node:net";
import { openDataChannel, openDataServer } from "@seneschal/adapters/grpc-storage";
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
  const server = await openDataServer({
    host: "127.0.0.1",
    port: 0,
    handlers: { "seneschal.storage.v1.PeerService": { Status: async () => ({ node_id: "n1" }) } },
  } as never);
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
