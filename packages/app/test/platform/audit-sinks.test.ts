/** The laws of audit sinks over a store and real receivers. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore, type SettableClock, seededRandom, settableClock } from "@seneschal/adapters/memory";
import { openMetrics } from "@seneschal/adapters/metrics";
import type { AuditMessage } from "@seneschal/core/audit";
import type { AuditEntry, DocumentStore } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  auditSinkCollections,
  auditSinksSetting,
  type BuiltService,
  openAuditSinks,
  openBackground,
} from "../../src/platform/index.ts";

let dir = "";
let store: DocumentStore;
let clock: SettableClock;
let commits = 0;
const closing: (() => unknown)[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-audit-sinks-"));
  store = openMemoryStore({ collections: auditSinkCollections });
  clock = settableClock(Date.parse("2026-01-01T00:00:00Z"));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await store.close();
  await rm(dir, { recursive: true, force: true });
});

async function record(stream: string, type: string, times = 1): Promise<void> {
  const event = { id: `e${commits}`, at: new Date(clock.now()).toISOString(), type };
  await store.commit({ commitId: `test-${commits++}`, audit: Array.from({ length: times }, () => ({ stream, event })) });
}

let opened = 0;
async function open(settings: object, over: DocumentStore = store) {
  const log = openLogger({ level: "silent" });
  const metrics = openMetrics({ prefix: "gateway", version: "test" });
  const background = openBackground(log, metrics);
  const sinks = await openAuditSinks({
    settings: auditSinksSetting.parse(settings),
    store: over,
    platform: { log, metrics, background, clock, random: seededRandom(++opened) },
    service: "gateway",
    instance: "here",
    describe: ({ seq, event }: AuditEntry) => {
      const { at, type } = event as Record<string, string>;
      return { id: String(seq), time: at ?? "", type: type ?? "", actor: "ada", outcome: "success" };
    },
  });
  closing.push(() => sinks.close());
  const value = async (name: string, sink: string) =>
    Number(new RegExp(`^gateway_audit_sink_${name}\\{sink="${sink}"\\} (\\S+)$`, "m").exec(await metrics.text())?.[1]);
  return { ...sinks, background, value };
}

const file = (name: string, more: object = {}) => ({ kind: "file", path: join(dir, name), ...more });
async function heard(name: string): Promise<readonly AuditMessage[]> {
  const text = await readFile(join(dir, name), "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AuditMessage]));
}
const numbers = async (name: string) => (await heard(name)).map(({ seq }) => seq);

/** A collector that answers as it is told and says what came with each request it took. */
async function collector() {
  const batches: number[][] = [];
  let status: (batch: readonly number[]) => number = () => 200;
  const server: Server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { resourceLogs } = JSON.parse(Buffer.concat(pieces).toString()) as {
      resourceLogs: [{ scopeLogs: [{ logRecords: { body: { stringValue: string } }[] }] }];
    };
    const [{ logRecords }] = resourceLogs[0].scopeLogs;
    const batch = logRecords.map(({ body }) => (JSON.parse(body.stringValue) as AuditMessage).seq);
    const answer = status(batch);
    if (answer === 200) batches.push(batch);
    response.writeHead(answer).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/logs`,
    batches,
    answer(next: typeof status) {
      status = next;
    },
  };
}

describe("what a sink is told", () => {
  it("is every event once and in order, from its first start on, or from the first event of the log", async () => {
    await record("acme", "before");
    const sinks = await open({ new: file("new"), all: file("all", { from: "beginning" }) });
    await record("acme", "a", 3);
    await sinks.deliver();
    await record("/instance", "b");
    await sinks.deliver();
    expect([await numbers("new"), await numbers("all")]).toEqual([
      [2, 3, 4, 5],
      [1, 2, 3, 4, 5],
    ]);
    expect((await heard("all"))[4]).toEqual({
      version: 1,
      service: "gateway",
      instance: "here",
      seq: 5,
      stream: "/instance",
      stream_seq: 1,
      id: "5",
      time: "2026-01-01T00:00:00.000Z",
      type: "b",
      actor: "ada",
      outcome: "success",
      event: { id: "e2", at: "2026-01-01T00:00:00.000Z", type: "b" },
    });
    // Its place is the store's: another start goes on there.
    await sinks.close();
    await record("acme", "c");
    const again = await open({ new: file("new") });
    await again.deliver();
    expect(await numbers("new")).toEqual([2, 3, 4, 5, 6]);
  });

  it("is what its filter names, and each of its own", async () => {
    const sinks = await open({
      acme: file("acme", { organizations: ["acme"] }),
      keys: file("keys", { events: ["key.*"], except: ["key.use"] }),
    });
    await record("acme", "key.rotate");
    await record("other", "key.create");
    await record("other", "key.use");
    await record("acme", "login");
    await sinks.deliver();
    expect([await numbers("acme"), await numbers("keys")]).toEqual([
      [1, 4],
      [1, 2],
    ]);
    expect(await sinks.value("lag_seconds", "acme")).toBe(0);
    expect(await sinks.value("events_total", "keys")).toBe(2);
  });

  it("holds whatever a receiver refuses and wherever a crash falls: nothing is passed over, order is kept, what comes twice was not acknowledged", async () => {
    const place = await collector();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ events: fc.nat(40), refuse: fc.boolean(), crash: fc.boolean() }), { minLength: 1, maxLength: 8 }),
        async (rounds) => {
          store = openMemoryStore({ collections: auditSinkCollections });
          place.batches.length = 0;
          let total = 0;
          const settings = { siem: { kind: "otlp", url: place.url, from: "beginning" } };
          for (const { events, refuse, crash } of rounds) {
            if (events > 0) await record("acme", "x", events);
            total += events;
            let refused = 0;
            place.answer(() => (refuse && refused++ === 0 ? 503 : 200));
            // A crash after the receiver has acknowledged and before that is written down.
            const dying: DocumentStore = {
              ...store,
              commit: async (commit) => {
                if (commit.puts?.some(({ coll, ifVersion }) => coll === "audit_sinks" && ifVersion !== 0))
                  throw new Error("killed");
                return store.commit(commit);
              },
            };
            const sinks = await open(settings, crash ? dying : store);
            await sinks.deliver().catch(() => undefined);
            await sinks.close();
            const told = place.batches.flat();
            expect(told.every((seq, i) => i === 0 || seq <= Math.max(...told.slice(0, i)) + 1)).toBe(true);
          }
          place.answer(() => 200);
          const last = await open(settings);
          await last.deliver();
          await last.close();
          expect([...new Set(place.batches.flat())]).toEqual(Array.from({ length: total }, (_, i) => i + 1));
        },
      ),
      { numRuns: Number(process.env["FC_RUNS"] ?? 12) },
    );
  });

  it("comes in smaller batches to a receiver for which they are too large", async () => {
    const place = await collector();
    place.answer((batch) => (batch.length > 60 ? 413 : 200));
    const sinks = await open({ siem: { kind: "otlp", url: place.url } });
    await record("acme", "x", 500);
    for (let turns = 0; place.batches.flat().length < 500 && turns < 100; turns++) await sinks.deliver().catch(() => undefined);
    expect(place.batches.flat()).toEqual(Array.from({ length: 500 }, (_, i) => i + 1));
  });

  it("comes from one of several processes on a store at a time, and from the next when that one ends", async () => {
    const settings = { siem: file("siem") };
    const shared = { ...store, capabilities: { ...store.capabilities, multiProcess: true } };
    const one = await open(settings, shared);
    const two = await open(settings, shared);
    await record("acme", "x", 3);
    await Promise.all([one.deliver(), two.deliver()]);
    expect(await numbers("siem")).toEqual([1, 2, 3]);
    await one.close();
    await record("acme", "x");
    await two.deliver();
    expect(await numbers("siem")).toEqual([1, 2, 3, 4]);
  });
});

it("a sink that fails is behind by itself: in its metrics, in the health of the service, and none waits for it", async () => {
  const sinks = await open({ bad: { kind: "file", path: join(dir, "absent", "file") }, good: file("good") });
  await record("acme", "x");
  clock.advance(5000);
  await expect(sinks.deliver()).rejects.toMatchObject({ code: "sink_failed" });
  expect(await numbers("good")).toEqual([1]);
  expect([await sinks.value("lag_seconds", "bad"), await sinks.value("lag_seconds", "good")]).toEqual([5, 0]);
  expect([await sinks.value("failures_total", "bad"), await sinks.value("failures_total", "good")]).toEqual([1, 0]);
  await sinks.background.step("audit sink bad", () => sinks.deliver());
  expect(sinks.background.failing()).toEqual(["audit sink bad"]);
});

describe("a sink that is required", () => {
  const route = (auth: "public" | "principal" | "optional", method: "GET" | "POST") => ({
    id: "r",
    route: { auth, method, path: "/", summary: "", tag: "", status: 200 },
  });
  const refusal = { code: "service_unavailable", details: { reason: "audit_sink_behind" } };
  const built: BuiltService = { hooks: {} as never, limits: "off", endpoints: () => [] };
  const wanted = () => ({ siem: file("late", { required: true, max_lag: "10s" }) });

  it("refuses what may write an event while it is behind by more than its bound, and nothing before or after", async () => {
    const place = await collector();
    place.answer(() => 503);
    const sinks = await open({
      siem: { kind: "otlp", url: place.url, required: true, max_lag: "10s" },
      other: { kind: "file", path: join(dir, "absent", "file") },
    });
    const service = sinks.around(built);
    const admits = (auth: "public" | "principal" | "optional", method: "GET" | "POST") =>
      (service.admits as (ref: unknown) => void)(route(auth, method));
    const health = () => Promise.all((service.checks ?? []).map(({ check }) => check()));
    await record("acme", "x");
    await expect(sinks.deliver()).rejects.toThrow();
    clock.advance(10_000);
    admits("principal", "GET");
    await health();
    clock.advance(1);
    for (const auth of ["principal", "optional"] as const)
      for (const method of ["GET", "POST"] as const)
        expect(() => admits(auth, method), `${auth} ${method}`).toThrow(expect.objectContaining(refusal));
    expect(() => admits("public", "POST")).toThrow(expect.objectContaining(refusal));
    admits("public", "GET");
    await expect(health()).rejects.toMatchObject(refusal);
    place.answer(() => 200);
    await sinks.deliver().catch(() => undefined);
    admits("principal", "POST");
    await health();
  });

  it("refuses also where nobody can tell how far it is, and after a restart until it has caught up", async () => {
    const unread: DocumentStore = {
      ...store,
      auditRead: async (...asked) => {
        if (failing) throw new Error("no answer");
        return store.auditRead(...asked);
      },
    };
    let failing = false;
    const sinks = await open(wanted(), unread);
    const admits = () => (sinks.around(built).admits as (ref: unknown) => void)(route("principal", "GET"));
    admits();
    failing = true;
    await expect(sinks.deliver()).rejects.toThrow("no answer");
    clock.advance(10_001);
    expect(admits).toThrow(expect.objectContaining(refusal));
    failing = false;
    await record("acme", "x");
    await sinks.close();
    clock.advance(10_001);
    const again = await open(wanted());
    const admitsAgain = () => (again.around(built).admits as (ref: unknown) => void)(route("principal", "GET"));
    expect(admitsAgain).toThrow(expect.objectContaining(refusal));
    await again.deliver();
    admitsAgain();
  });
});

describe("the settings of a sink", () => {
  const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;
  it.each<[object, string | undefined]>([
    [{ kind: "file", path: "/a" }, undefined],
    [{ kind: "file" }, "path"],
    [{ kind: "file", path: "/a", url: "tcp://h" }, "url"],
    [{ kind: "syslog", url: "tls://h", ca_file: "/ca", cert_file: "/c", key_file: "/k" }, undefined],
    [{ kind: "syslog", url: "tls://h", cert_file: "/c" }, "key_file"],
    [{ kind: "syslog", url: "tcp://h", ca_file: "/ca" }, "url"],
    [{ kind: "syslog", url: "udp://h", required: true }, "required"],
    [{ kind: "syslog", url: "https://h" }, "url"],
    [{ kind: "syslog", url: "tls://h", keep: 3 }, "keep"],
    [{ kind: "otlp", url: "https://h/v1/logs", headers: { a: "b" } }, undefined],
    [{ kind: "otlp", url: "https://u:p@h/" }, "url"],
    [{ kind: "otlp" }, "url"],
    [{ kind: "webhook", url: "https://h/", secret }, undefined],
    [{ kind: "webhook", url: "https://h/" }, "secret"],
    [{ kind: "webhook", url: "https://h/", secret: "whsec_short" }, "secret"],
    [{ kind: "file", path: "/a", events: ["*"] }, "events"],
    [{ kind: "file", path: "/a", max_lag: "4s" }, "max_lag"],
  ])("%j: %s", (sink, wrong) => {
    const { error } = auditSinksSetting.safeParse({ siem: sink });
    expect(error?.issues.map(({ path }) => path[1])).toEqual(wrong === undefined ? undefined : [wrong]);
  });
});
