/** Audit sinks against real receivers: sockets, an HTTP server, files. */
import { createHmac } from "node:crypto";
import { createSocket } from "node:dgram";
import { appendFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { createServer as createHttpServer, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openFileSink, openOtlpSink, openSyslogSink, openWebhookSink } from "@seneschal/adapters/audit-sinks";
import type { AuditMessage } from "@seneschal/core/audit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const going = new AbortController().signal;
const event = (seq: number, more: Partial<AuditMessage> = {}): AuditMessage => ({
  version: 1,
  service: "gateway",
  instance: "i",
  seq,
  stream: "acme",
  stream_seq: seq,
  id: `id-${seq}`,
  time: "2026-01-02T03:04:05.678Z",
  type: "key.rotate",
  actor: "ada",
  outcome: "success",
  event: { n: seq },
  ...more,
});
const events = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => event(from + i));

let dir = "";
const closing: (() => unknown)[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "seneschal-sinks-"));
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await rm(dir, { recursive: true, force: true });
});

describe("a file", () => {
  const lines = async (path: string) =>
    (await readFile(path, "utf8")).split("\n").map((line, i, all) => (i < all.length - 1 ? (JSON.parse(line) as unknown) : line));

  it("has a whole line for each event, and is read by its owner alone", async () => {
    const path = join(dir, "audit.jsonl");
    const sink = openFileSink({ path, maxBytes: 1 << 20, keep: 1 });
    await sink.send(events(1, 3), going);
    await sink.send(events(4, 4), going);
    expect(await lines(path)).toEqual([...events(1, 4), ""]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it.each([10, 200_000])("loses what a crash left of a line of %i bytes, and nothing before it", async (length) => {
    const path = join(dir, "audit.jsonl");
    const sink = openFileSink({ path, maxBytes: 1 << 20, keep: 1 });
    await sink.send(events(1, 2), going);
    await appendFile(path, `{"torn":"${"x".repeat(length)}`);
    await sink.send(events(2, 3), going);
    expect(await lines(path)).toEqual([...events(1, 2), ...events(2, 3), ""]);
  });

  it("is put away when it is large: the newest are kept, by age, and a number that is free costs none of them", async () => {
    const path = join(dir, "audit.jsonl");
    const sink = openFileSink({ path, maxBytes: 1, keep: 3 });
    for (let seq = 1; seq <= 5; seq++) await sink.send(events(seq, seq), going);
    expect((await readdir(dir)).sort()).toEqual(["audit.jsonl.1", "audit.jsonl.2", "audit.jsonl.3"]);
    expect(await Promise.all([1, 2, 3].map((number) => lines(`${path}.${number}`)))).toEqual(
      [5, 4, 3].map((seq) => [event(seq), ""]),
    );
    // As a crash between two renames leaves it.
    await rm(`${path}.3`);
    await rename(`${path}.1`, `${path}.3`);
    await sink.send(events(6, 6), going);
    expect(await lines(`${path}.3`)).toEqual([event(5), ""]);
    expect(await lines(`${path}.1`)).toEqual([event(6), ""]);
  });

  it("that somebody moved away is begun anew; what is no file is refused", async () => {
    const path = join(dir, "audit.jsonl");
    const sink = openFileSink({ path, maxBytes: 1 << 20, keep: 1 });
    await sink.send(events(1, 1), going);
    await rename(path, `${path}.moved`);
    await sink.send(events(2, 2), going);
    expect([await lines(`${path}.moved`), await lines(path)]).toEqual([
      [event(1), ""],
      [event(2), ""],
    ]);
    await mkdir(join(dir, "directory"));
    for (const no of [join(dir, "directory"), join(dir, "absent", "file"), "/dev/null"])
      await expect(openFileSink({ path: no, maxBytes: 1 << 20, keep: 1 }).send(events(1, 1), going)).rejects.toMatchObject({
        code: "sink_failed",
      });
  });
});

/** A receiver of octet-counted syslog; `behave` says what it does with a connection, by default what receivers do. */
async function receiver(behave?: (socket: Socket) => void): Promise<{ url: string; frames: () => string[] }> {
  const came: Buffer[] = [];
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => undefined);
    closing.push(() => socket.destroy());
    if (behave !== undefined) return behave(socket);
    socket.on("data", (piece: Buffer) => came.push(piece)).on("end", () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => server.close());
  const frames = (): string[] => {
    const found: string[] = [];
    for (let rest = Buffer.concat(came); rest.length > 0; ) {
      const blank = rest.indexOf(" ");
      const length = Number(rest.subarray(0, blank));
      found.push(rest.subarray(blank + 1, blank + 1 + length).toString());
      rest = rest.subarray(blank + 1 + length);
    }
    return found;
  };
  return { url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, frames };
}

describe("syslog", () => {
  it("over TCP has every event in a frame of its own (RFC 6587), once the receiver has closed its end", async () => {
    const { url, frames } = await receiver();
    const sink = openSyslogSink({ url, timeoutMs: 10_000 });
    const sent = [...events(1, 2), event(3, { actor: "Zoë 🦊" }), event(4, { event: { long: "x".repeat(300_000) } })];
    await sink.send(sent, going);
    await sink.send(events(5, 5), going);
    expect(frames().map((frame) => JSON.parse(frame.slice(frame.indexOf("] {") + 2)))).toEqual([...sent, event(5)]);
  });

  it("is not told what a receiver does not read to its end", async () => {
    const huge = [event(1, { event: { long: "x".repeat(20_000_000) } })];
    const misbehaving: readonly ((socket: Socket) => void)[] = [
      (socket) => socket.destroy(),
      (socket) => socket.resetAndDestroy(),
      // Goodbye after the first piece.
      (socket) => socket.once("data", () => socket.end()),
      (socket) => socket.once("data", () => socket.resetAndDestroy()),
      // Reads all and never closes; reads nothing.
      (socket) => socket.resume(),
      (socket) => socket.pause(),
    ];
    for (const behave of misbehaving) {
      const { url } = await receiver(behave);
      const sink = openSyslogSink({ url, timeoutMs: 250 });
      await expect(sink.send(huge, going), behave.toString()).rejects.toMatchObject({ code: "sink_failed" });
    }
    const gone = await receiver();
    await closing.pop()?.();
    await expect(openSyslogSink({ url: gone.url, timeoutMs: 500 }).send(events(1, 1), going)).rejects.toMatchObject({
      message: expect.stringContaining("ECONNREFUSED"),
    });
    const patient = await receiver((socket) => socket.resume());
    const aborted = openSyslogSink({ url: patient.url, timeoutMs: 60_000 }).send(events(1, 1), AbortSignal.abort());
    await expect(aborted).rejects.toMatchObject({ code: "sink_failed" });
  });

  it("over UDP is one datagram for each event, cut where it does not fit", async () => {
    const socket = createSocket("udp4");
    const came: Buffer[] = [];
    const two = new Promise<void>((resolve) => {
      socket.on("message", (message) => {
        came.push(message);
        if (came.length === 2) resolve();
      });
    });
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    closing.push(() => socket.close());
    const sink = openSyslogSink({ url: `udp://127.0.0.1:${socket.address().port}`, timeoutMs: 1000 });
    await sink.send([event(1), event(2, { event: { long: "x".repeat(100_000) } })], going);
    await two;
    expect(came.map(String).map((text) => /seq="(\d)"/.exec(text)?.[1])).toEqual(["1", "2"]);
    expect(came[1]).toHaveLength(65_507);
  });
});

describe("over HTTP", () => {
  const came: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
  let answer = { status: 200, body: "{}" };
  let url = "";
  beforeEach(async () => {
    came.length = 0;
    answer = { status: 200, body: "{}" };
    const server = createHttpServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece as Buffer);
      came.push({ headers: request.headers, body: Buffer.concat(pieces).toString() });
      response.writeHead(answer.status, { location: url }).end(answer.body);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/logs`;
    closing.push(() => new Promise((resolve) => server.close(resolve)));
  });

  it("a collector has taken what it answered 2xx and refused nothing of", async () => {
    const sink = openOtlpSink({ url, headers: { authorization: "Bearer t" }, timeoutMs: 5000 });
    closing.push(() => sink.close());
    await sink.send(events(1, 2), going);
    expect(came[0]?.headers).toMatchObject({ authorization: "Bearer t", "content-type": "application/json" });
    expect(JSON.parse(came[0]?.body ?? "").resourceLogs[0].scopeLogs[0].logRecords).toHaveLength(2);
    const refusals = [
      ...[301, 400, 401, 413, 429, 500, 503].map((status) => ({ status, body: "" })),
      { status: 200, body: '{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}' },
    ];
    for (const refusal of refusals) {
      answer = refusal;
      await expect(sink.send(events(1, 2), going)).rejects.toMatchObject({ code: "sink_failed" });
    }
    answer = { status: 200, body: '{"partialSuccess":{}}' };
    await sink.send(events(1, 2), going);
  });

  it("a webhook's batch is one signed message (Standard Webhooks) that names its first and last event", async () => {
    const key = Buffer.alloc(32, 9);
    const sink = openWebhookSink({ url, secret: `whsec_${key.toString("base64")}`, now: () => 1_700_000_000_000 });
    closing.push(() => sink.close());
    await sink.send(events(7, 9), going);
    const [{ headers, body } = { headers: {}, body: "" }] = came;
    expect(headers["webhook-id"]).toBe("audit_gateway_7_9");
    const signature = createHmac("sha256", key).update(`audit_gateway_7_9.1700000000.${body}`).digest("base64");
    expect(headers["webhook-signature"]).toBe(`v1,${signature}`);
    expect(JSON.parse(body)).toEqual({ type: "audit.events", timestamp: event(9).time, data: { events: events(7, 9) } });
    answer = { status: 410, body: "" };
    await expect(sink.send(events(7, 9), going)).rejects.toMatchObject({ code: "sink_failed" });
  });
});
