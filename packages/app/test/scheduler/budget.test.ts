import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Repeat, schedulerSettings } from "../../src/scheduler/index.ts";
import { type Harness, servers, startScheduler } from "./harness.ts";

const [, serve] = servers[1]!;
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/** A peer that records what it is sent and answers as told. */
interface Peer {
  readonly url: string;
  readonly requests: { url: string; headers: IncomingHttpHeaders; body: string }[];
  answer: (url: string) => { status: number; body: string };
}
let server: Server;
let peer: Peer;
beforeEach(async () => {
  const requests: Peer["requests"] = [];
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    requests.push({ url: request.url ?? "", headers: request.headers, body });
    const { status, body: text } = peer.answer(request.url ?? "");
    response.writeHead(status).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  peer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: () => ({ status: 200, body: "{}" }),
  };
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Background work by hand: `turn` runs every loop once, in the order of their beginning. */
function byHand(): { repeat: Repeat; turn: () => Promise<void> } {
  const loops: (() => Promise<void>)[] = [];
  return {
    repeat: (_ms, work) => {
      loops.push(work);
      return { stop: async () => undefined };
    },
    turn: async () => {
      for (const loop of loops) await loop();
    },
  };
}

async function exhaust(s: Harness): Promise<void> {
  await s.cluster(1, { node_hours_budget: 1 });
  await s.submit("ada");
  await s.cycle();
  await s.pass(2);
  await s.cycle();
}

test("a soft quota that changes counts from the next cycle on, and cycles are 5 to 30 s apart", async () => {
  for (const [cycle, fits] of [
    ["4s", false],
    ["5s", true],
    ["30s", true],
    ["31s", false],
  ] as const)
    expect([cycle, schedulerSettings.safeParse({ scheduling: { cycle } }).success]).toEqual([cycle, fits]);
  const loops: { ms: number; work: () => Promise<void> }[] = [];
  const repeat: Repeat = (ms, work) => {
    loops.push({ ms, work });
    return { stop: async () => undefined };
  };
  const s = await startScheduler(serve, { scheduling: { cycle: "30s" } }, { repeat });
  const due = loops.find(({ ms }) => ms === 30_000);
  await s.cluster(1, { node_hours_budget: 100 });
  await s.submit("ada");
  await due?.work();
  const waiting = await s.submit("ada");
  const why = async () => (await s.ok("ada", "GET", `/api/v1/allocations/${waiting}`)).status_reason;
  await due?.work();
  expect(await why()).toBe("waiting for nodes: next to get them");
  await s.ok("root", "PUT", "/api/v1/tenants/physics", { node_hours_budget: 0 });
  expect(await why(), "not before").toBe("waiting for nodes: next to get them");
  await due?.work();
  expect(await why()).toBe("low priority: budget exhausted");
  await s.stop();
});

test("bounded work ends after its walltime and the grace where that is asked for, and only there", async () => {
  for (const end of [true, false]) {
    const s = await startScheduler(serve, { scheduling: { end_at_walltime: end, walltime_grace: "6m" } });
    await s.cluster(2);
    const [bounded, service] = [await s.submit("ada"), await s.submit("ada", { lifecycle: "unbounded" })];
    const states = async (): Promise<string[]> => {
      await s.cycle();
      return Promise.all([bounded, service].map(async (id) => (await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).state));
    };
    await s.cycle();
    await s.pass(1.1);
    expect(await states()).toEqual(["running", "running"]);
    await s.pass(0.01);
    expect(await states()).toEqual([end ? "failed" : "running", "running"]);
    await s.stop();
  }
});

test("an exhausted budget reaches the webhook once, signed, after as many tries as it takes", async () => {
  const hand = byHand();
  const s = await startScheduler(serve, { webhook: { url: `${peer.url}/hook`, secret: SECRET } }, { repeat: hand.repeat });
  peer.answer = () => ({ status: 503, body: "" });
  await exhaust(s);
  await hand.turn();
  await hand.turn();
  expect(peer.requests).toHaveLength(2);
  peer.answer = () => ({ status: 204, body: "" });
  for (let i = 0; i < 3; i++) await hand.turn();
  expect(peer.requests).toHaveLength(3);
  const [first, , last] = peer.requests;
  expect(last?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } = last?.headers ?? {};
  // A receiver that knows the standard and nothing of us.
  expect(signature).toBe(new Webhook(SECRET).sign(String(id), new Date(Number(at) * 1000), last?.body ?? ""));
  expect(JSON.parse(last?.body ?? "")).toMatchObject({
    type: "budget_exhausted",
    data: { tenant: "physics", metric: "node_hours", fraction: 2, source: "ledger" },
  });
  await s.stop();
});

test("a redirect is no acknowledgement: the secret-signed message follows nobody elsewhere", async () => {
  const hand = byHand();
  const s = await startScheduler(serve, { webhook: { url: `${peer.url}/hook`, secret: SECRET } }, { repeat: hand.repeat });
  peer.answer = () => ({ status: 307, body: "" });
  await exhaust(s);
  await hand.turn();
  expect(peer.requests.map(({ url }) => url)).toEqual(["/hook"]);
  await s.stop();
});

test("the accounting system's answer overrides the ledger; when it fails the ledger takes over, with one event each; work goes on", async () => {
  const hand = byHand();
  const s = await startScheduler(serve, { accounting: { url: peer.url, token: "books" } }, { repeat: hand.repeat });
  await s.cluster(2, { gpu_hours_budget: 10 });
  peer.answer = () => ({ status: 200, body: '{"gpu_hours": 0}' });
  await hand.turn();
  const usage = () => s.ok("chief", "GET", "/api/v1/tenants/physics/usage");
  expect(await usage()).toMatchObject({ gpu_hours_used: 10, gpu_fraction_used: 1, source: "external" });
  const id = await s.submit("ada");
  await s.cycle();
  expect((await s.ok("ada", "GET", `/api/v1/allocations/${id}`)).state).toBe("running");
  peer.answer = () => ({ status: 500, body: "" });
  await hand.turn();
  await hand.turn();
  expect(await usage()).toMatchObject({ gpu_hours_used: 0, source: "ledger" });
  const events = await s.ok("chief", "GET", "/api/v1/events?type=accounting.source_changed");
  expect(events.map(({ payload }: { payload: { source: string } }) => payload.source)).toEqual(["external", "ledger"]);
  await s.stop();
});

test("what is claimed, released, changed and suspended is pushed too, each once, with its own name", async () => {
  const hand = byHand();
  const s = await startScheduler(serve, { accounting: { url: peer.url, token: "books" } }, { repeat: hand.repeat });
  await s.cluster(2);
  await s.ok("root", "PUT", "/api/v1/system/quotas", { sensitive_pool_size: 1 });
  await s.ok("ada", "POST", "/api/v1/nodes/n1/claim");
  await s.ok("ada", "POST", "/api/v1/nodes/n1/release");
  await s.ok("root", "PUT", "/api/v1/tenants/physics", { max_nodes: 9 });
  const id = await s.submit("ada", { checkpoint: "auto" });
  await s.cycle();
  await s.ok("ada", "POST", `/api/v1/allocations/${id}/suspend`);
  await s.ok("agent-1", "POST", `/api/v1/allocations/${id}/checkpointed`);
  for (let i = 0; i < 3; i++) await hand.turn();
  const pushed = peer.requests.filter(({ url }) => url === "/api/accounting/events/");
  expect(pushed.every(({ headers }) => headers.authorization === "Bearer books")).toBe(true);
  const events = pushed.flatMap(({ body }) => JSON.parse(body) as { resource_type: string; tenant_id: string }[]);
  expect(events.map(({ resource_type, tenant_id }) => `${resource_type} ${tenant_id}`)).toEqual([
    "quota.updated ",
    "node.claimed physics",
    "node.released physics",
    "quota.updated physics",
    "allocation.started physics",
    "node_hours physics",
    "gpu_hours physics",
    "allocation.checkpointed physics",
  ]);
  await s.stop();
});

test("hours used are pushed at the end of work, kept while the accounting system is away, and sent under the same ids", async () => {
  const hand = byHand();
  const s = await startScheduler(serve, { accounting: { url: peer.url, token: "books" } }, { repeat: hand.repeat });
  peer.answer = () => ({ status: 500, body: "" });
  await s.cluster(2);
  const id = await s.submit("ada", { nodes: 2 });
  await s.cycle();
  await s.pass(3);
  await s.ok("agent-1", "POST", `/api/v1/allocations/${id}/complete`);
  await hand.turn();
  peer.requests.length = 0;
  peer.answer = () => ({ status: 200, body: "" });
  await hand.turn();
  const pushed = peer.requests.filter(({ url }) => url === "/api/accounting/events/").flatMap(({ body }) => JSON.parse(body));
  expect(pushed).toMatchObject([
    { resource_type: "allocation.started", allocation_id: id },
    { resource_type: "node_hours", amount: 6, tenant_id: "physics" },
    { resource_type: "gpu_hours", amount: 24 },
    { resource_type: "allocation.completed" },
  ]);
  await hand.turn();
  expect(peer.requests.filter(({ url }) => url === "/api/accounting/events/")).toHaveLength(1);
  await s.stop();
});

test("work that is scaled is pushed with the hours of every size that it had", async () => {
  const { repeat, turn } = byHand();
  const s = await startScheduler(serve, { accounting: { url: peer.url, token: "t" } }, { repeat });
  try {
    await s.cluster(4);
    const id = await s.submit("ada", { lifecycle: "reactive", nodes: 3, min_nodes: 1 });
    const scale = (nodes: number) => s.ok("ada", "POST", `/api/v1/allocations/${id}/scale`, { nodes });
    await s.cycle();
    await s.pass(1);
    await scale(3);
    await s.cycle();
    await s.pass(2);
    await scale(2);
    await s.pass(4);
    await s.ok("agent-1", "POST", `/api/v1/allocations/${id}/complete`);
    await turn();
    const sent = peer.requests.filter(({ url }) => url.includes("/events/")).flatMap(({ body }) => JSON.parse(body));
    const hours = sent.filter((event) => event.resource_type === "node_hours").map(({ amount }) => amount);
    expect(hours).toEqual([1, 2 * 3, 4 * 2]);
    const { node_hours_used } = await s.ok("chief", "GET", "/api/v1/tenants/physics/usage");
    expect(node_hours_used).toBe(1 + 6 + 8);
  } finally {
    await s.stop();
  }
});
