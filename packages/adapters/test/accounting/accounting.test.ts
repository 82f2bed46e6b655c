import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UsageEvent } from "@seneschal/kernel/ports";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { httpAccounting, openUsageBuffer } from "../../src/accounting/index.ts";
import { openBreaker } from "../../src/http/breaker.ts";
import { settableClock } from "../../src/memory/index.ts";

/** An accounting system that does as it is told. */
let server: Server;
let url: string;
let answer: { status: number; body: string } | "hang";
const seen: { url: string; auth: string | undefined; body: string }[] = [];
beforeEach(async () => {
  seen.length = 0;
  answer = { status: 200, body: "{}" };
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    seen.push({ url: request.url ?? "", auth: request.headers.authorization, body });
    if (answer !== "hang") response.writeHead(answer.status).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const event = (n: number): UsageEvent => ({
  id: `e${n}`,
  allocationId: "a",
  tenantId: "t",
  resourceType: "gpu_hours",
  amount: n,
  periodStart: 0,
  periodEnd: 3_600_000,
});

describe("the accounting client", () => {
  const open = (clock = settableClock(0)) => httpAccounting({ url, token: "s3cret", now: () => clock.now(), timeoutMs: 200 });

  test("asks for the remaining budget with the bearer token, a metric that is absent or null is not managed there", async () => {
    answer = { status: 200, body: '{"gpu_hours": -2.5, "node_hours": null}' };
    expect(await open().remaining("a b")).toEqual({ gpuHours: -2.5 });
    expect(seen[0]).toMatchObject({ url: "/api/accounting/remaining/?tenant_id=a%20b", auth: "Bearer s3cret" });
  });

  test.each([
    ["usage instead of what remains", { status: 200, body: '{"total": 5}' }],
    ["text instead of numbers", { status: 200, body: '{"gpu_hours": "5"}' }],
    ["no JSON", { status: 200, body: "<html>" }],
    ["an array", { status: 200, body: "[]" }],
    ["a server error", { status: 503, body: "{}" }],
    ["more than it may say", { status: 200, body: JSON.stringify({ gpu_hours: 1, padding: "x".repeat(100_000) }) }],
    ["nothing in time", "hang"],
  ] as const)("%s is accounting_unavailable", async (_, given) => {
    answer = given;
    const error = await open()
      .remaining("t")
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ code: "accounting_unavailable" });
    expect(JSON.stringify(error)).not.toContain("s3cret");
  });

  test("after five failures in a row nothing is asked for 30 s, then one probe closes the breaker", async () => {
    const clock = settableClock(0);
    const accounting = open(clock);
    answer = { status: 500, body: "" };
    for (let i = 0; i < 8; i++) await accounting.remaining("t").catch(() => undefined);
    expect(seen).toHaveLength(5);
    clock.advance(30_000);
    answer = { status: 200, body: '{"gpu_hours": 1}' };
    expect(await accounting.remaining("t")).toEqual({ gpuHours: 1 });
    await accounting.remaining("t");
    expect(seen).toHaveLength(7);
  });

  test("pushes usage events as the array that accounting systems take", async () => {
    await open().push([event(2)]);
    expect(seen[0]?.url).toBe("/api/accounting/events/");
    expect(JSON.parse(seen[0]?.body ?? "")).toEqual([
      {
        id: "e2",
        allocation_id: "a",
        tenant_id: "t",
        resource_type: "gpu_hours",
        amount: 2,
        period_start: "1970-01-01T00:00:00.000Z",
        period_end: "1970-01-01T01:00:00.000Z",
      },
    ]);
  });
});

test("a breaker lets one caller probe while the others are refused", async () => {
  const clock = settableClock(0);
  const breaker = openBreaker({ failures: 1, probeMs: 10, now: () => clock.now(), refuse: () => new Error("refused") });
  await breaker.run(() => Promise.reject(new Error("down"))).catch(() => undefined);
  clock.advance(10);
  let open: (value: string) => void = () => undefined;
  const probe = breaker.run(() => new Promise<string>((resolve) => (open = resolve)));
  await expect(breaker.run(async () => "second")).rejects.toThrow("refused");
  open("up");
  expect([await probe, breaker.state()]).toEqual(["up", "closed"]);
});

describe.each(["memory", "disk"])("the usage buffer in %s", (kind) => {
  let path: string;
  beforeEach(async () => {
    path = await mkdtemp(join(tmpdir(), "usage-"));
  });
  afterEach(() => rm(path, { recursive: true }));
  const open = (limit: number, onDrop?: (n: number) => void) =>
    openUsageBuffer({ limit, ...(kind === "disk" ? { path } : {}), ...(onDrop === undefined ? {} : { onDrop }) });

  test("hands events over in order, in batches, and forgets only what was taken", async () => {
    const buffer = await open(2000);
    await buffer.add(Array.from({ length: 1200 }, (_, i) => event(i)));
    const pushed: string[] = [];
    let calls = 0;
    const failing = buffer.flush(async (events) => {
      if (++calls === 2) throw new Error("down");
      pushed.push(...events.map(({ id }) => id));
    });
    await expect(failing).rejects.toThrow("down");
    expect(buffer.size()).toBe(700);
    await buffer.flush(async (events) => void pushed.push(...events.map(({ id }) => id)));
    expect(pushed).toEqual(Array.from({ length: 1200 }, (_, i) => `e${i}`));
    expect(buffer.size()).toBe(0);
    await buffer.close();
  });

  test("drops the oldest beyond its limit and counts them", async () => {
    let dropped = 0;
    const buffer = await open(10, (n) => {
      dropped += n;
    });
    for (let i = 0; i < 15; i++) await buffer.add([event(i)]);
    const pushed: string[] = [];
    await buffer.flush(async (events) => void pushed.push(...events.map(({ id }) => id)));
    expect([dropped, pushed[0], pushed.length]).toEqual([5, "e5", 10]);
    await buffer.close();
  });
});

test("the buffer on disk survives its process", async () => {
  const path = await mkdtemp(join(tmpdir(), "usage-"));
  const first = await openUsageBuffer({ path });
  await first.add([event(1), event(2)]);
  await first.close();
  const second = await openUsageBuffer({ path });
  await second.add([event(3)]);
  const pushed: string[] = [];
  await second.flush(async (events) => void pushed.push(...events.map(({ id }) => id)));
  expect(pushed).toEqual(["e1", "e2", "e3"]);
  await second.close();
  await rm(path, { recursive: true });
});
