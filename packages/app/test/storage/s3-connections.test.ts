import { connect, type Socket } from "node:net";
import { openLogger } from "@seneschal/adapters/logging";
import { afterAll, beforeAll, expect, test } from "vitest";
import { removeExtent } from "./damage-extent.ts";
import { pattern } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { type Draft, signedFetch } from "./signed-fetch.ts";

let s3: S3Rig;
/** What the gateway wrote to its log, by level. */
const logged: string[] = [];
beforeAll(async () => {
  const log = openLogger({ level: "silent" });
  const recording = Object.assign(Object.create(log) as typeof log, {
    error: (_fields: unknown, message: string) => logged.push(message),
  });
  s3 = await openS3Rig({ gateway: { readTimeoutMs: 300, idleTimeoutMs: 300 }, log: recording });
  await s3.client().send(new sdk.CreateBucketCommand({ Bucket: "docs" }));
});
afterAll(() => s3.dispose());

/** A connection, everything that came from the other side, and its end. */
function open(first = ""): { readonly socket: Socket; readonly ended: Promise<string> } {
  const socket = connect(s3.gateway.port, "127.0.0.1");
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes.toString("latin1");
  });
  socket.on("error", () => undefined);
  const ended = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  if (first !== "") socket.write(first);
  return { socket, ended };
}

/** The head of a signed PUT of 100,000 bytes, of which none is sent. */
async function signedHead(path: string): Promise<string> {
  let head = "";
  const tamper: Draft["tamper"] = ({ url, headers }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    head = `PUT ${new URL(url).pathname} HTTP/1.1\r\nhost: ${new URL(url).host}\r\n${lines.join("")}content-length: 100000\r\n\r\n`;
    throw new Error("not sent");
  };
  await signedFetch(s3, { method: "PUT", path, payloadHash: "UNSIGNED-PAYLOAD", tamper }).catch(() => undefined);
  return head;
}

test("a connection that says nothing, and one whose head never ends, are ended", async () => {
  const silent = open();
  const slow = open("GET / HTTP/1.1\r\nhost: a\r\n");
  await Promise.all([silent.ended, slow.ended]);
});

test("an upload that stands still is refused as RequestTimeout, and leaves nothing", async () => {
  const { socket, ended } = open(await signedHead("/docs/stalled"));
  socket.write("some bytes, and then none");
  const text = await ended;
  expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*<Code>RequestTimeout<\/Code>/);
  expect(await s3.rig.store.count("storage_staged", "by_time", [])).toBe(0);
  expect(await s3.rig.store.count("storage_objects", "by_key", ["docs"])).toBe(0);
  expect(logged).toEqual([]);
});

test("a client that leaves within its upload is no error of ours, and leaves nothing", async () => {
  const requests = async () => {
    const { values } = await s3.rig.node.metrics.gatewayRequests.get();
    return values.filter(({ labels }) => labels.method === "PutObject" && labels.status === "400").length;
  };
  const { socket, ended } = open(await signedHead("/docs/left"));
  await new Promise((resolve) => socket.write("x".repeat(50_000), resolve));
  socket.destroy();
  await ended;
  await expect.poll(requests).toBeGreaterThan(0);
  expect(logged).toEqual([]);
  expect(await s3.rig.store.count("storage_objects", "by_key", ["docs"])).toBe(0);
});

test("lost data is said to be lost, so that nobody asks for it again and again", async () => {
  const client = s3.client();
  await client.send(new sdk.PutObjectCommand({ Bucket: "docs", Key: "lost", Body: pattern(100_000, 5) }));
  for (let device = 0; device < 3; device++) for (const extent of await s3.rig.extents(`d${device}`)) await removeExtent(extent);
  for (let device = 3; device < 7; device++) for (const extent of await s3.rig.extents(`d${device}`)) await removeExtent(extent);
  await s3.rig.node.tick();
  const answer = await signedFetch(s3, { path: "/docs/lost" });
  expect(answer.status).toBe(500);
  expect(answer.text).toMatch(/<Reason>(ChunkLost|DataCorruption)<\/Reason>/);
  expect(answer.text).toMatch(/A repetition gives the same answer/);
});

test("who sends a whole large body before it listens hears why it was refused", async () => {
  const size = 20 << 20;
  const head = (await signedHead("/no-such-bucket/large")).replace("content-length: 100000", `content-length: ${size}`);
  const { socket, ended } = open();
  socket.pause();
  socket.write(head);
  const piece = Buffer.alloc(1 << 20);
  for (let sent = 0; sent < size; sent += piece.length)
    if (!socket.write(piece)) await new Promise((resolve) => socket.once("drain", resolve).once("close", resolve));
  socket.resume();
  expect(await ended).toMatch(/^HTTP\/1\.1 404 [\s\S]*<Code>NoSuchBucket<\/Code>/);
});
