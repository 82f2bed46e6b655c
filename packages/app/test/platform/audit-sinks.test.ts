/** The laws of audit sinks over a store and real receivers. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryStore, type SettableClock, seededRandom, settableClock } from "@seneschal/adapters/memory";
import { openMetrics } from "@seneschal/adapters/metrics";
import type { AuditMessage } from "@seneschal/core/audit";
import type { AuditEntry, DocumentStore } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  auditSinkCollections,
  auditSinksSetting,
  type BuiltService,
  openAuditSinks,
  openBackground,
} from "../../src/platform/index.ts";
import { testCa } from "./test-pki.ts";

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
    store: async () => over,
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
  const reload = async (next: object): Promise<void> => (await sinks.prepare(auditSinksSetting.parse(next)))();
  return { ...sinks, background, metrics, reload, value };
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

/** A receiver of a kind, as a sink names it: what came, batch by batch; while it is `silent`, it takes what comes and does not say so. */
interface Receiver {
  readonly sink: object;
  readonly came: () => Promise<readonly number[]>;
  silent: boolean;
}
const listening = async (server: Server | TcpServer): Promise<number> => {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket.on("error", () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
};
async function overHttp(sink: (url: string) => object, of: (body: string) => readonly string[]): Promise<Receiver> {
  const told: number[] = [];
  const receiver = { silent: false, came: async () => told };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    told.push(...of(Buffer.concat(pieces).toString()).map((text) => (JSON.parse(text) as AuditMessage).seq));
    if (!receiver.silent) response.writeHead(200).end();
  });
  const url = `http://127.0.0.1:${await listening(server)}/`;
  return Object.assign(receiver, { sink: sink(url) });
}
const logRecords = (body: string) =>
  (JSON.parse(body).resourceLogs[0].scopeLogs[0].logRecords as { body: { stringValue: string } }[]).map(
    (record) => record.body.stringValue,
  );
const hookEvents = (body: string) => (JSON.parse(body).data.events as AuditMessage[]).map((message) => JSON.stringify(message));
let files = 0;
const receivers: Readonly<Record<string, () => Promise<Receiver>>> = {
  async file() {
    const name = `receiver-${++files}`;
    return { sink: file(name), came: () => numbers(name), silent: false };
  },
  async syslog() {
    const told: number[] = [];
    const receiver = { silent: false, came: async () => told };
    const server = createTcpServer({ allowHalfOpen: true }, (socket) => {
      let text = "";
      socket.on("data", (piece) => {
        text += piece;
      });
      socket.on("end", () => {
        told.push(...[...text.matchAll(/ seq="(\d+)"/g)].map(([, seq]) => Number(seq)));
        if (!receiver.silent) socket.end();
      });
    });
    return Object.assign(receiver, { sink: { kind: "syslog", url: `tcp://127.0.0.1:${await listening(server)}` } });
  },
  otlp: () => overHttp((url) => ({ kind: "otlp", url }), logRecords),
  webhook: () =>
    overHttp((url) => ({ kind: "webhook", url, secret: `whsec_${Buffer.alloc(32).toString("base64")}` }), hookEvents),
};

describe.each(Object.entries(receivers))("a reload of a sink of kind %s", (kind, receiver) => {
  it("begins one that is new, goes on elsewhere from where it stands, ends one that is gone, and takes it up again there", async () => {
    const [one, two] = [await receiver(), await receiver()];
    await record("acme", "before", 2);
    const sinks = await open({});
    await sinks.reload({ siem: one.sink });
    await record("acme", "x", 3);
    await sinks.deliver();
    await sinks.reload({ siem: { ...two.sink, timeout: "9s" } });
    await record("acme", "x", 2);
    await sinks.deliver();
    await sinks.reload({});
    await record("acme", "x", 2);
    await sinks.deliver();
    expect(await two.came()).toEqual([6, 7]);
    await vi.waitUntil(async () => !(await sinks.metrics.text()).includes('sink="siem"'), { timeout: 30_000 });
    await sinks.reload({ siem: two.sink });
    await sinks.deliver();
    expect([await one.came(), await two.came()]).toEqual([
      [3, 4, 5],
      [6, 7, 8, 9],
    ]);
    expect(await sinks.value("events_total", "siem")).toBe(2);
  });

  it("loses none and keeps the order, whatever is reloaded between whatever is recorded", async () => {
    const [one, two] = [await receiver(), await receiver()];
    const sinks = (step: number) =>
      [{}, { siem: one.sink }, { siem: two.sink }, { siem: one.sink, other: two.sink }, { siem: { ...one.sink, max_lag: "7s" } }][
        step
      ] ?? {};
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ step: fc.nat(4), events: fc.nat(3), turn: fc.boolean() }), { maxLength: 8 }),
        async (steps) => {
          store = openMemoryStore({ collections: auditSinkCollections });
          const before = [(await one.came()).length, (await two.came()).length];
          const told = async () => [(await one.came()).slice(before[0]), (await two.came()).slice(before[1])] as const;
          const opened = await open({ siem: one.sink });
          let total = 0;
          for (const { step, events, turn } of steps) {
            // Turns go on while it is reloaded, and requests record meanwhile.
            const turns = turn ? opened.deliver() : Promise.resolve();
            const [change] = await Promise.all([opened.prepare(auditSinksSetting.parse(sinks(step))), turns]);
            if (events > 0) await record("acme", "x", events);
            total += events;
            await change();
          }
          await opened.reload({ siem: one.sink });
          await opened.deliver();
          await opened.close();
          const [first, second] = await told();
          const all = Array.from({ length: total }, (_, i) => i + 1);
          expect([...new Set([...first, ...second])].sort((a, b) => a - b)).toEqual(all);
          expect(first).toEqual([...first].sort((a, b) => a - b));
        },
      ),
      { numRuns: Number(process.env["FC_RUNS"] ?? 10) },
    );
  });

  it.skipIf(kind === "file")(
    "cuts the turn that its receiver does not answer, and goes on behind what was acknowledged",
    async () => {
      const [one, two] = [await receiver(), await receiver()];
      const sinks = await open({ siem: one.sink });
      await record("acme", "x", 2);
      await sinks.deliver();
      one.silent = true;
      await record("acme", "x", 2);
      const waits = sinks.deliver();
      await vi.waitUntil(async () => (await one.came()).length === 4, { timeout: 30_000 });
      await sinks.reload({ siem: two.sink });
      await waits;
      await sinks.deliver();
      expect(await two.came()).toEqual([3, 4]);
    },
  );
});

it("a reload with a sink that cannot be opened changes nothing, and one whose file has other content is opened anew", async () => {
  const ca = await testCa("SIEM");
  const [mine, next] = [await ca.issue("CN=one"), await ca.issue("CN=two")];
  const at = (name: string): string => join(dir, name);
  for (const [name, text] of Object.entries({ ca: ca.pem, cert: mine.cert, key: mine.key, next: next.key }))
    await writeFile(at(name), text);
  const tls = { kind: "syslog", url: "tls://127.0.0.1:1", ca_file: at("ca"), cert_file: at("cert"), key_file: at("key") };
  const sinks = await open({ siem: file("siem") });
  for (const kind of ["syslog", "otlp"])
    for (const wrong of [{ ca_file: at("absent") }, { key_file: at("next") }]) {
      const url = kind === "otlp" ? "https://127.0.0.1:1/" : tls.url;
      await expect(sinks.reload({ siem: file("other"), tls: { ...tls, kind, url, ...wrong } })).rejects.toThrow();
    }
  await record("acme", "x");
  await sinks.deliver();
  expect([await numbers("siem"), await numbers("other")]).toEqual([[1], []]);
  expect(await store.get("audit_sinks", "tls")).toBeUndefined();
  await sinks.reload({ siem: file("siem"), tls });
  // Under the same settings: the files are read again.
  await writeFile(at("key"), next.key);
  await expect(sinks.reload({ siem: file("siem"), tls })).rejects.toThrow();
  await writeFile(at("cert"), next.cert);
  await sinks.reload({ siem: file("siem"), tls });
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

  it("is in the health of the service and refuses from the reload on that makes it so, and no longer than until the one that ends it", async () => {
    const sinks = await open({ siem: file("absent/late") });
    const service = sinks.around<BuiltService>(built);
    const admits = () => (service.admits as (ref: unknown) => void)(route("principal", "GET"));
    const reload = async (sink: object) =>
      (await service.reload?.({ audit_sinks: auditSinksSetting.parse({ siem: sink }) }))?.apply?.();
    const asked = () => (service.checks ?? []).filter(({ applies }) => applies?.() ?? true).map(({ name }) => name);
    await record("acme", "x");
    clock.advance(10_001);
    admits();
    expect(asked()).toEqual([]);
    await reload(file("absent/late", { required: true, max_lag: "10s" }));
    expect(admits).toThrow(expect.objectContaining(refusal));
    expect(asked()).toEqual(["audit_sinks"]);
    await reload(file("absent/late"));
    admits();
    expect(asked()).toEqual([]);
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
