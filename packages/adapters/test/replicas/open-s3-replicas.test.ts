import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openS3Replicas, type Replica } from "@seneschal/adapters/replicas";
import { afterEach, describe, expect, test } from "vitest";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** A destination that answers as it likes. */
async function openStub(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  secretKey: () => Promise<string> = async () => "s",
) {
  const server = createServer((request, response) => {
    response.on("error", () => undefined);
    request.resume().on("end", () => answer(request, response));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return openS3Replicas({ endpoint, region: "us-east-1", accessKey: "a", secretKey, timeoutMs: 300 });
}

const replica = (bytes: () => AsyncIterable<Uint8Array>): Replica => ({
  key: "k",
  version: "0".repeat(32),
  contentType: "a/b",
  etag: "900150983cd24fb0d6963f7d28e17f72",
  headers: {},
  meta: {},
  tags: [],
  joined: false,
  parts: [{ size: 3, checksums: {}, bytes }],
});
const whole = async function* () {
  yield Buffer.from("abc");
};

describe.each([200, 400, 403, 500])("a destination that answers %i", (status) => {
  test.each([
    [
      "without end",
      (response: ServerResponse) => {
        const more = (): void => {
          while (response.write(Buffer.alloc(65_536, "x")));
        };
        response.on("drain", more);
        more();
      },
    ],
    [
      "slowly, so that it is never silent for long",
      (response: ServerResponse) => {
        const drip = setInterval(() => response.write("x"), 20);
        response.on("close", () => clearInterval(drip));
      },
    ],
    [
      "half",
      (response: ServerResponse) => {
        response.write("<Error><Code>");
        setImmediate(() => response.destroy());
      },
    ],
  ])("%s is one that was not reached", async (_, speak) => {
    const target = await openStub((_request, response) => {
      response.writeHead(status, { "content-type": "application/xml" });
      speak(response);
    });
    const unreached = { code: "replica_unreached" };
    await expect(target.open("bucket")).rejects.toMatchObject(unreached);
    await expect(target.put("bucket", replica(whole))).rejects.toMatchObject(unreached);
    target.close();
  });
});

test("the secret is asked for at each request, and without one nothing is sent: a destination that is not reached", async () => {
  let sent = 0;
  let asked = 0;
  let secret: string | undefined = "one";
  const target = await openStub(
    (_request, response) => {
      sent++;
      response.writeHead(503).end();
    },
    async () => {
      asked++;
      return secret ?? Promise.reject(new Error("the file is empty"));
    },
  );
  const unreached = { code: "replica_unreached" };
  for (secret of ["one", "two"]) {
    asked = 0;
    await expect(target.open("bucket")).rejects.toMatchObject(unreached);
    expect(asked).toBeGreaterThan(0);
  }
  expect(sent).toBe(2);
  secret = undefined;
  await expect(target.open("bucket")).rejects.toMatchObject(unreached);
  expect(sent).toBe(2);
  target.close();
});

test.each([
  ["other bytes", { "x-amz-version-id": "0".repeat(32), etag: '"00"' }, "replica_refused"],
  ["no word on the bytes", { "x-amz-version-id": "0".repeat(32) }, "replica_refused"],
  ["the same bytes", { "x-amz-version-id": "0".repeat(32), etag: '"900150983cd24fb0d6963f7d28e17f72"' }, undefined],
  ["a name of its own", { "x-amz-version-id": "v1", etag: '"00"' }, undefined],
  [
    "another checksum, under a name of its own,",
    { "x-amz-version-id": "v1", etag: '"00"', "x-amz-checksum-crc32": "AAAAAA==" },
    "replica_refused",
  ],
  [
    "the same checksum, under a name of its own,",
    { "x-amz-version-id": "v1", etag: '"00"', "x-amz-checksum-crc32": "NSRBwg==" },
    undefined,
  ],
  [
    "the same checksum, and another ETag,",
    { "x-amz-version-id": "0".repeat(32), etag: '"00"', "x-amz-checksum-crc32": "NSRBwg==" },
    "replica_refused",
  ],
])("a destination that says %s of a version is believed", async (_, headers, code) => {
  const target = await openStub((_request, response) => response.writeHead(200, headers).end());
  const checksum = { "x-amz-checksum-crc32": "NSRBwg==" };
  const done = await target.put("bucket", { ...replica(whole), headers: checksum }).then(
    ({ named }) => named,
    (error: { readonly code: string }) => error.code,
  );
  expect(done).toBe(code ?? headers["x-amz-version-id"] !== "v1");
  target.close();
});

test("a destination is sent the MD5 of what it is to take, and tells it: also of a version whose ETag is another", async () => {
  const md5 = Buffer.from("900150983cd24fb0d6963f7d28e17f72", "hex").toString("base64");
  const asked: (string | undefined)[] = [];
  const target = await openStub((request, response) => {
    asked.push(request.headers["content-md5"] as string | undefined);
    const etag = '"900150983cd24fb0d6963f7d28e17f72"';
    response.writeHead(200, { "x-amz-version-id": "0".repeat(32), etag }).end();
  });
  expect(await target.put("bucket", replica(whole))).toEqual({ named: true });
  expect(await target.put("bucket", { ...replica(whole), etag: `${"1".repeat(32)}-2` })).toEqual({ named: true });
  expect(asked).toEqual([md5, undefined]);
  const other = { ...replica(whole), etag: `${"1".repeat(32)}-2` };
  const [part] = other.parts;
  const bytes = async function* () {
    yield Buffer.from("abd");
  };
  const odd = { ...other, parts: [{ size: 3, checksums: {}, ...part, bytes }] };
  await expect(target.put("bucket", odd)).rejects.toMatchObject({ code: "replica_refused" });
  target.close();
});

test("each part of a description is sent whatever becomes of the others, and is told by its name", async () => {
  const asked: string[] = [];
  const target = await openStub((request, response) => {
    const part = ["tagging", "retention", "legal-hold"].find((name) =>
      new URL(request.url ?? "", "http://x").searchParams.has(name),
    );
    if (part !== undefined) asked.push(part);
    const denied = part === "tagging" || part === "legal-hold";
    response.writeHead(denied ? 403 : 200).end(denied ? "<Error><Code>AccessDenied</Code></Error>" : undefined);
  });
  const retention = { mode: "COMPLIANCE", until: Date.now() + 86_400_000 } as const;
  const one = { ...replica(whole), tags: [{ key: "k", value: "v" }], retention, legalHold: true };
  await expect(target.describe("bucket", one, true)).rejects.toMatchObject({
    code: "replica_denied",
    details: { parts: ["tags", "legal hold"] },
  });
  expect(asked).toEqual(["tagging", "retention", "legal-hold"]);
  target.close();
});

test("what is denied of a version is of it, what is denied of a bucket is of the bucket", async () => {
  let answer = "AccessDenied";
  const target = await openStub((_, response) => response.writeHead(403).end(`<Error><Code>${answer}</Code></Error>`));
  await expect(target.open("bucket")).rejects.toMatchObject({ code: "replica_withheld" });
  await expect(target.put("bucket", replica(whole))).rejects.toMatchObject({ code: "replica_denied" });
  for (answer of ["QuotaExceeded", "XMinioAdminBucketQuotaExceeded"])
    await expect(target.put("bucket", replica(whole))).rejects.toMatchObject({ code: "replica_full" });
  answer = "InvalidAccessKeyId";
  await expect(target.put("bucket", replica(whole))).rejects.toMatchObject({ code: "replica_unreached" });
  target.close();
});

test("a destination that never answers is one that was not reached", async () => {
  const target = await openStub(() => undefined);
  await expect(target.put("bucket", replica(whole))).rejects.toMatchObject({ code: "replica_unreached" });
  target.close();
});

test("bytes that cannot be read end their sending, and nothing else", async () => {
  const target = await openStub((_, response) => response.end());
  const broken = replica(async function* () {
    yield Buffer.from("a");
    throw new Error("lost");
  });
  await expect(target.put("bucket", broken)).rejects.toMatchObject({ code: "replica_unreached" });
  target.close();
});
