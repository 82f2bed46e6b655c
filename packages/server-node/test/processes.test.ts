import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { Duplex, PassThrough } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { Dispatch, Incoming, RunningServer, WireResponse } from "@seneschal/contract";
import { httpSuite, sampleService } from "@seneschal/contract/testing";
import fc from "fast-check";
import { afterAll, describe, expect, test, vi } from "vitest";
import { serveByProcesses } from "../src/index.ts";
import { type Frame, framesOn, headOf } from "../src/processes/frames.ts";

const answering = (answer: (incoming: Incoming) => Promise<WireResponse>): Dispatch =>
  Object.assign(answer, { serves: () => true });
const ok = (text = ""): WireResponse => ({ status: 200, headers: {}, body: Buffer.from(text) });

/** The processes in front of this one. */
const fronts = (): readonly number[] =>
  execFileSync("ps", ["-o", "pid=,args=", "--ppid", String(process.pid)], { encoding: "utf8" })
    .split("\n")
    .filter((line) => line.includes("processes/front."))
    .map((line) => Number.parseInt(line, 10));

const running: RunningServer[] = [];
/** Serves, and closes what a failed test left. */
async function open(answer: (incoming: Incoming) => Promise<WireResponse>, grace = 10_000): Promise<RunningServer> {
  const server = await serveByProcesses(1)(answering(answer), { port: 0, grace });
  running.push(server);
  return server;
}
afterAll(() => Promise.all(running.map((server) => server.close())));

describe("processes in front answer the shared case table", () => {
  // A process takes as long to start as a hundred cases take.
  let shared: Promise<RunningServer> | undefined;
  afterAll(async () => (await shared)?.close());
  httpSuite({
    test: (name, body) => test(name, body),
    equal: (actual, expected, message) => expect(actual, message).toEqual(expected),
    async serve(dispatch, options) {
      if (options.requestTimeout !== undefined) return serveByProcesses(1)(dispatch, { port: 0, ...options });
      shared ??= serveByProcesses(2)(sampleService(), { port: 0 });
      return { port: (await shared).port, close: async () => undefined };
    },
    exchange(port, bytes) {
      const socket = connect(port, "127.0.0.1");
      socket.write(bytes);
      return buffer(socket);
    },
  });
});

test("a process in front that is killed is replaced and counted, and whoever asked through it is known to be gone", async () => {
  let left = 0;
  let asked = 0;
  const server = await open(async ({ target, onClose }) => {
    if (target === "/") return ok();
    asked++;
    onClose?.(() => left++);
    return new Promise(() => undefined);
  });
  expect(server.processes?.()).toEqual({ wanted: 1, running: 1, replaced: 0 });
  const pending = fetch(`${server.url}/never`).catch(() => "lost");
  await vi.waitUntil(() => asked === 1, { timeout: 60_000 });
  const [first = 0] = fronts();
  process.kill(first, "SIGKILL");
  expect(await pending).toBe("lost");
  await vi.waitUntil(() => server.processes?.().replaced === 1 && server.processes().running === 1, { timeout: 60_000 });
  expect(left).toBe(1);
  expect(fronts()).not.toContain(first);
  expect((await fetch(server.url)).status).toBe(200);
  await server.close();
  expect(fronts()).toEqual([]);
});

test("signals to the whole group of processes end no process in front, and none of the environment goes there", async () => {
  process.env["A_SECRET_OF_THE_ENVIRONMENT"] = "hush";
  try {
    const server = await open(async () => ok());
    const [front = 0] = fronts();
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.kill(front, signal);
    expect((await fetch(server.url)).status).toBe(200);
    expect(server.processes?.()).toEqual({ wanted: 1, running: 1, replaced: 0 });
    expect(readFileSync(`/proc/${front}/environ`, "utf8")).not.toContain("SECRET");
    await server.close();
  } finally {
    delete process.env["A_SECRET_OF_THE_ENVIRONMENT"];
  }
});

test.each([
  ["answers what is in flight", 100_000, "done"],
  ["drops what does not end in time", 1, "dropped"],
])("a server that closes %s, and leaves no process", async (_what, grace, told) => {
  let asked = 0;
  let finish = (): void => undefined;
  const server = await open(async () => {
    asked++;
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    return ok("done");
  }, grace);
  const reply = fetch(server.url).then(
    (response) => response.text(),
    () => "dropped",
  );
  await vi.waitUntil(() => asked === 1, { timeout: 60_000 });
  const closed = server.close();
  if (told === "done") finish();
  expect(await reply).toBe(told);
  await closed;
  await expect(fetch(server.url)).rejects.toThrow();
  expect(fronts()).toEqual([]);
});

test("bodies and replies of any size arrive as they were; longer ones than are read are told so, whatever is sent on", async () => {
  const server = await open(async ({ body, target }) => {
    const limit = Number(target.slice(1));
    const bytes = body instanceof Uint8Array ? (body.length > limit ? undefined : body) : await body(limit);
    return bytes === undefined ? { ...ok("too long"), status: 413 } : { ...ok(), body: bytes };
  });
  for (const size of [0, 1, 4096, 4097, 65_535, 65_536, 65_537, 3_000_000]) {
    const body = Buffer.alloc(size, `${size}.`);
    const reply = await fetch(`${server.url}/3000000`, { method: "POST", body });
    expect(Buffer.from(await reply.arrayBuffer()).equals(body)).toBe(true);
    const refused = await fetch(`${server.url}/${size - 1}`, { method: "POST", body });
    expect([size, refused.status]).toEqual([size, 413]);
    await refused.text();
  }
  await server.close();
});

test("a streamed reply is asked for piece by piece, and ended where its reader leaves or it breaks", async () => {
  let ended = 0;
  let given = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        given++;
        yield Buffer.alloc(100_000, given);
      }
    } finally {
      ended++;
    }
  }
  async function* breaking(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("begun");
    throw new Error("no more");
  }
  const server = await open(async ({ target }) => ({ ...ok(), body: target === "/endless" ? endless() : breaking() }));
  const socket = connect(server.port, "127.0.0.1");
  socket.write("GET /endless HTTP/1.1\r\nhost: a\r\n\r\n");
  await once(socket, "readable");
  socket.destroy();
  await vi.waitUntil(() => ended === 1, { timeout: 60_000 });
  // What the sockets between hold, and no more.
  expect(given).toBeLessThan(1000);
  const broken = await fetch(`${server.url}/breaking`);
  await expect(broken.text()).rejects.toThrow();
  await server.close();
});

test("a start whose port is taken fails with the reason and leaves no process", async () => {
  const server = await open(async () => ok());
  const before = fronts();
  await expect(
    serveByProcesses(1)(
      answering(async () => ok()),
      { port: server.port },
    ),
  ).rejects.toMatchObject({
    code: "EADDRINUSE",
  });
  expect(fronts()).toEqual(before);
  await server.close();
});

describe("frames between two processes", () => {
  const sent = fc.array(
    fc.record({
      kind: fc.integer({ min: 1, max: 255 }),
      id: fc.integer({ min: 0, max: 0xffff_ffff }),
      head: fc.jsonValue(),
      bytes: fc.uint8Array({ maxLength: 9000 }),
    }),
    { minLength: 1, maxLength: 20 },
  );

  test("arrive as they were sent, wherever the stream is cut", async () => {
    await fc.assert(
      fc.asyncProperty(sent, fc.integer({ min: 1, max: 5000 }), async (list, cut) => {
        const chunks: Buffer[] = [];
        const write = (chunk: Buffer, _encoding: string, done: () => void): void => {
          chunks.push(chunk);
          done();
        };
        const [out, back] = [new Duplex({ read: () => undefined, write }), new PassThrough()];
        const taken: Frame[] = [];
        const frames = framesOn(
          out,
          () => undefined,
          () => undefined,
        );
        framesOn(
          back,
          (frame) => taken.push(frame),
          (error) => expect.fail(error.message),
        );
        for (const { kind, id, head, bytes } of list) frames.send(kind, id, head, bytes);
        await new Promise((resolve) => setImmediate(resolve));
        const bytes = Buffer.concat(chunks);
        for (let at = 0; at < bytes.length; at += cut) back.write(bytes.subarray(at, at + cut));
        await vi.waitUntil(() => taken.length === list.length, { interval: 1, timeout: 60_000 });
        expect(taken.map((frame) => ({ ...frame, head: headOf(frame), bytes: Uint8Array.from(frame.bytes) }))).toEqual(
          list.map((one) => ({ ...one, head: JSON.parse(JSON.stringify(one.head)) })),
        );
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ["a head that is too long", 1 << 20, 0],
    ["bytes that are too many", 0, 1 << 20],
  ])("%s ends the stream, before it is held", async (_what, head, length) => {
    const stream = new PassThrough();
    const wrong = vi.fn();
    framesOn(stream, () => expect.fail("a frame"), wrong);
    const prefix = Buffer.alloc(13);
    prefix.writeUInt32LE(head, 0);
    prefix.writeUInt32LE(length, 4);
    stream.write(prefix);
    await vi.waitUntil(() => wrong.mock.calls.length === 1, { interval: 1, timeout: 60_000 });
    expect(stream.destroyed).toBe(true);
  });
});
