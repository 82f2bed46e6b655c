import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createMemoryBudget } from "../../src/storage/data/memory-budget.ts";
import { createBucket } from "../../src/storage/objects/buckets.ts";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { headObject, readObject } from "../../src/storage/objects/read-object.ts";
import { cutChunks } from "../../src/storage/objects/store-body.ts";
import { type GrpcRig, openGrpcRig } from "./grpc-rig.ts";
import { bytesOf, collect, pattern } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { type Draft, signedFetch } from "./signed-fetch.ts";

const MiB = 1 << 20;
/** Three quarters are for bodies: 48 MiB, a dozen chunks of 4 MiB. */
const memory = { limitBytes: 64 * MiB, waitMs: 50, maxWaiting: 4 };

describe("the budget", () => {
  test("whatever is asked for in whatever order, no more is given than there is, and all of it comes back", async () => {
    const sizes = fc.array(fc.record({ bytes: fc.nat(120), begun: fc.boolean(), code: fc.boolean() }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(sizes, async (asked) => {
        let most = 0;
        const seen = (used: number) => {
          most = Math.max(most, used);
        };
        const budget = createMemoryBudget({ limitBytes: 100, waitMs: 60_000, maxWaiting: 1000, onChange: seen });
        await Promise.all(
          asked.map(async ({ bytes, begun, code }) => {
            const release = await budget.take(bytes, begun);
            if (code) await budget.code(bytes, async () => undefined);
            release();
            release();
          }),
        );
        expect(most).toBeLessThanOrEqual(100);
        expect(budget.usedBytes()).toBe(0);
        expect(budget.waiting()).toBe(0);
      }),
    );
  });

  test("who is under way comes before who begins; who waits too long, or behind too many, is refused", async () => {
    let refused = 0;
    const budget = createMemoryBudget({ limitBytes: 100, waitMs: 20, maxWaiting: 1, onRefused: () => refused++ });
    const first = await budget.take(75);
    const order: string[] = [];
    const begins = budget.take(75).then((release) => {
      order.push("begins");
      release();
    });
    await expect(budget.take(1)).rejects.toMatchObject({ code: "MemoryExhausted" });
    expect(budget.spare(1)).toBeUndefined();
    const goesOn = budget.take(75, true).then((release) => {
      order.push("goes on");
      release();
    });
    first();
    await Promise.all([begins, goesOn]);
    expect(order).toEqual(["goes on", "begins"]);
    const all = await budget.take(1000);
    await expect(budget.take(1)).rejects.toMatchObject({ code: "MemoryExhausted" });
    all();
    expect(budget.usedBytes()).toBe(0);
    expect(refused).toBe(2);
  });

  test("coding goes on while bodies have taken all that is theirs", async () => {
    const budget = createMemoryBudget({ limitBytes: 100 });
    const release = await budget.take(1000);
    expect(await budget.code(1000, async () => "done")).toBe("done");
    release();
    await expect(budget.code(5, () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    expect(budget.usedBytes()).toBe(0);
  });
});

test("a stream is cut the same whatever its pieces and whatever is known of its length; only its last chunk is the last", async () => {
  const lengths = fc.constantFrom("unknown" as const, "right" as const, "short" as const);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(25), { maxLength: 20 }), lengths, async (pieces, known) => {
      const body = pattern(pieces.reduce((a, b) => a + b, 0));
      let at = 0;
      const source = (async function* () {
        for (const length of pieces) {
          yield body.subarray(at, at + length);
          at += length;
        }
      })();
      const total = known === "unknown" ? undefined : known === "right" ? body.length : Math.floor(body.length / 2);
      const cuts: { bytes: Uint8Array; last: boolean }[] = [];
      for await (const cut of cutChunks(source, total, 10)) cuts.push(cut);
      expect(Buffer.concat(cuts.map(({ bytes }) => bytes)).equals(Buffer.from(body))).toBe(true);
      expect(cuts.slice(0, -1).every(({ bytes, last }) => bytes.length === 10 && !last)).toBe(true);
      expect(cuts.at(-1)?.last ?? body.length === 0).toBe(true);
    }),
  );
});

describe("over S3", () => {
  let s3: S3Rig;
  const open: Socket[] = [];
  beforeAll(async () => {
    s3 = await openS3Rig({
      capacityBytes: 512 * MiB,
      extra: { memory },
      // Long enough that a busy machine gets everybody there before the first is cut.
      gateway: { idleTimeoutMs: 4000 },
    });
    await s3.client().send(new sdk.CreateBucketCommand({ Bucket: "docs" }));
  });
  afterAll(async () => {
    for (const socket of open) socket.destroy();
    await s3.dispose();
  });
  const budget = () => s3.rig.node.objects.memory;
  const used = () => budget().usedBytes();

  /** A connection with a request on it, and what came back when it ended. */
  function send(text: string): { readonly socket: Socket; readonly answer: () => string } {
    const socket = connect(s3.gateway.port, "127.0.0.1");
    open.push(socket);
    let answer = "";
    socket.on("data", (bytes) => {
      answer += bytes.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.write(text);
    return { socket, answer: () => answer };
  }
  async function head(method: string, path: string, more: string): Promise<string> {
    let text = "";
    const tamper: Draft["tamper"] = ({ url, headers }) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      text = `${method} ${new URL(url).pathname} HTTP/1.1\r\nhost: ${new URL(url).host}\r\n${lines.join("")}${more}\r\n`;
      throw new Error("not sent");
    };
    await signedFetch(s3, { method, path, payloadHash: "UNSIGNED-PAYLOAD", tamper }).catch(() => undefined);
    return text;
  }
  const slowUpload = async (key: string, more = "") =>
    send(await head("PUT", `/docs/${key}`, `${more}content-length: ${20 * MiB}\r\n`));

  test("slow uploads never hold more than the budget, those beyond it are told to slow down, and all comes back when they are cut", async () => {
    const uploads = await Promise.all([...Array(12).keys()].map((i) => slowUpload(`slow${i}`)));
    await expect.poll(used).toBe(48 * MiB);
    const late = await Promise.all([...Array(8).keys()].map((i) => slowUpload(`late${i}`, "expect: 100-continue\r\n")));
    await expect.poll(() => late.filter((u) => u.answer().includes("<Code>SlowDown</Code>")).length).toBe(8);
    for (const { answer } of late) expect(answer()).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 5/i);
    expect(used()).toBeLessThanOrEqual(memory.limitBytes);
    // A small one is refused as well while there is no room for any of it, and taken when there is.
    const small = await signedFetch(s3, { method: "PUT", path: "/docs/small", body: Buffer.from("small") });
    expect([small.status, small.text]).toEqual([503, expect.stringContaining("SlowDown")]);
    await expect.poll(() => uploads.filter((u) => u.answer().includes("RequestTimeout")).length).toBe(12);
    await expect.poll(used).toBe(0);
    expect(await s3.rig.store.count("storage_staged", "by_time", [])).toBe(0);
    expect(await s3.rig.store.count("storage_objects", "by_key", ["docs"])).toBe(0);
    expect((await signedFetch(s3, { method: "PUT", path: "/docs/small", body: Buffer.from("small") })).status).toBe(200);
  });

  test("an upload whose client leaves, and one that fails its check, give all back", async () => {
    const left = await slowUpload("left");
    left.socket.write(pattern(5 * MiB));
    await expect.poll(used).toBeGreaterThan(0);
    left.socket.destroy();
    await expect.poll(used).toBe(0);
    const wrong = await signedFetch(s3, {
      method: "PUT",
      path: "/docs/wrong",
      body: Buffer.from("x".repeat(100_000)),
      payloadHash: "0".repeat(64),
    });
    expect(wrong.status).toBe(400);
    expect(used()).toBe(0);
    expect(await s3.rig.store.count("storage_staged", "by_time", [])).toBe(0);
  });

  test("a download holds what its client has not taken, and gives it back when the client takes it, leaves, or stands still", async () => {
    const client = s3.client();
    const bytes = pattern(21 * MiB, 7);
    await client.send(new sdk.PutObjectCommand({ Bucket: "docs", Key: "big", Body: bytes }));
    expect(used()).toBe(0);
    const got = await client.send(new sdk.GetObjectCommand({ Bucket: "docs", Key: "big" }));
    expect(Buffer.from((await got.Body?.transformToByteArray()) ?? []).equals(Buffer.from(bytes))).toBe(true);
    await expect.poll(used).toBe(0);
    const request = await head("GET", "/docs/big", "");
    for (const end of ["leaves", "stands still"]) {
      const { socket } = send(request);
      socket.pause();
      await expect.poll(used).toBeGreaterThan(0);
      expect(used()).toBeLessThanOrEqual(memory.limitBytes);
      if (end === "leaves") socket.destroy();
      await expect.poll(used).toBe(0);
    }
  });

  test("copies, more at a time than there is room for, all end", async () => {
    const client = s3.client();
    await client.send(new sdk.PutObjectCommand({ Bucket: "docs", Key: "source", Body: pattern(9 * MiB, 3) }));
    const copies = await Promise.allSettled(
      [...Array(20).keys()].map((i) =>
        client.send(new sdk.CopyObjectCommand({ Bucket: "docs", Key: `copy${i}`, CopySource: "docs/source" })),
      ),
    );
    for (const copy of copies) if (copy.status === "rejected") expect((copy.reason as { name: string }).name).toBe("SlowDown");
    expect(copies.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
    expect(used()).toBe(0);
    expect(budget().waiting()).toBe(0);
  });

  test("a download that fails, and one that nobody begins to read, give all back", async () => {
    const { objects } = s3.rig.node;
    const reader = readObject(objects, await headObject(objects, "alpha", "docs", "source"));
    await reader.next();
    expect(used()).toBeGreaterThan(0);
    await reader.return(undefined);
    // What was being read ahead ends by itself.
    await expect.poll(used).toBe(0);
    for (const device of s3.rig.devices.values()) device.away = true;
    await expect(collect(readObject(objects, await headObject(objects, "alpha", "docs", "source")))).rejects.toThrow();
    for (const device of s3.rig.devices.values()) device.away = false;
    await expect.poll(used).toBe(0);
  });
});

describe("over gRPC", () => {
  let grpc: GrpcRig;
  beforeAll(async () => {
    grpc = await openGrpcRig({ capacityBytes: 512 * MiB, extra: { memory }, idleTimeoutMs: 400 });
    await createBucket(grpc.rig.node.objects, "alpha", "docs", "us-east-1");
  });
  afterAll(() => grpc.dispose());
  const used = () => grpc.rig.node.objects.memory.usedBytes();

  test("a full budget is RESOURCE_EXHAUSTED with a time to come back, before anything is written", async () => {
    const own = await grpc.ca.issue("CN=alpha,OU=tenant-alpha");
    const release = await grpc.rig.node.objects.memory.take(48 * MiB);
    const start = { start: { name: { tenant: "alpha", bucket: "docs", key: "k" }, size: 5 } };
    const error = await grpc.stream(own, [start, { data: Buffer.from("hello") }]);
    expect(error?.code).toBe(8);
    expect(error?.metadata.get("error-reason")).toEqual(["MemoryExhausted"]);
    expect(error?.metadata.get("error-retry-after")).toEqual(["5"]);
    release();
    expect(used()).toBe(0);
    expect(await grpc.rig.store.count("storage_objects", "by_key", ["docs"])).toBe(0);
    expect(await grpc.stream(own, [start, { data: Buffer.from("hello") }])).toBeUndefined();
  });

  test("an upload that stands still is ended as DEADLINE_EXCEEDED, a download whose client takes nothing loses its connection", async () => {
    const alpha = await grpc.as("CN=alpha,OU=tenant-alpha");
    const stalled = (async function* () {
      yield pattern(100_000);
      await new Promise(() => undefined);
    })();
    await expect(alpha.put({ tenant: "alpha", bucket: "docs", key: "stalled" }, stalled as never)).rejects.toMatchObject({
      code: "RequestTimeout",
    });
    await expect.poll(used).toBe(0);
    const draft = { tenant: "alpha", bucket: "docs", key: "big", contentType: "", headers: {}, meta: {} };
    await putObject(grpc.rig.node.objects, { ...draft, body: bytesOf(pattern(30 * MiB)) });
    expect(used()).toBe(0);
    const download = alpha.get({ tenant: "alpha", bucket: "docs", key: "big" })[Symbol.asyncIterator]();
    await download.next();
    expect(used()).toBeGreaterThan(0);
    await expect.poll(used).toBe(0);
    const rest = async () => {
      for (let next = await download.next(); next.done !== true; next = await download.next());
    };
    await expect(rest()).rejects.toMatchObject({ code: "Unavailable" });
    expect(await alpha.has({ tenant: "alpha", bucket: "docs", key: "big" })).toMatchObject({ size: 30 * MiB });
  });
});
