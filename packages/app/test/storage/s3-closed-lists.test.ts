import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type S3Operation, s3ClosedValues, s3Everywhere, s3Operations } from "@seneschal/server-s3";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { hex, keyOf, mac, scopeOf, signedFetch, toAmzDate, uriEncode } from "./signed-fetch.ts";

let s3: S3Rig;
beforeAll(async () => {
  s3 = await openS3Rig();
  const client = s3.client();
  await client.send(new sdk.CreateBucketCommand({ Bucket: "kept" }));
  await client.send(new sdk.CreateBucketCommand({ Bucket: "empty" }));
  await client.send(new sdk.PutObjectCommand({ Bucket: "kept", Key: "src", Body: "the source" }));
  await client.send(new sdk.PutObjectCommand({ Bucket: "kept", Key: "dst", Body: "the object", Metadata: { a: "1" } }));
  await client.send(new sdk.PutObjectCommand({ Bucket: "kept", Key: "large", Body: "large".repeat(20_000) }));
});
afterAll(() => s3.dispose());

/** Everything that the node keeps: each commit ever, and each byte on its devices. */
async function contents(): Promise<unknown> {
  const { rig } = s3;
  const digests: string[] = [];
  for (const entry of await readdir(rig.directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name);
      digests.push(
        `${path} ${createHash("sha256")
          .update(await readFile(path))
          .digest("hex")}`,
      );
    }
  const seqs = (await rig.store.changes(0, 100_000)).map((change) => JSON.stringify(change));
  return { digests: digests.sort(), seqs, audit: (await rig.store.auditRead(0, 100_000)).length };
}

const unchanged = async <T>(work: () => Promise<T>): Promise<T> => {
  const before = await contents();
  const result = await work();
  expect(await contents()).toEqual(before);
  return result;
};

/** Sub-resources and parameters that S3 and its kin have or had: a client that sends one wants it. */
const queryNames = [
  ...[
    "abac",
    "accelerate",
    "acl",
    "analytics",
    "annotation",
    "append",
    "attributes",
    "cors",
    "encryption",
    "foo",
    "intelligent-tiering",
  ],
  ...["inventory", "legal-hold", "lifecycle", "logging", "metadataConfiguration", "metadataTable", "metrics", "notification"],
  ...[
    "object-lock",
    "ownershipControls",
    "partNumber",
    "policy",
    "policyStatus",
    "position",
    "publicAccessBlock",
    "renameObject",
  ],
  ...[
    "replication",
    "requestPayment",
    "restore",
    "retention",
    "select",
    "select-type",
    "session",
    "tagging",
    "torrent",
    "uploadId",
  ],
  ...[
    "versionId",
    "versioning",
    "versions",
    "website",
    "allow-unordered",
    "metadata",
    "x-amz-acl",
    "X-Amz-Security-Token",
    "__proto__",
  ],
];
const headerNames = [
  ...["x-amz-acl", "x-amz-append", "x-amz-bypass-governance-retention", "x-amz-checksum-md5", "x-amz-checksum-sha512"],
  ...[
    "x-amz-copy-source-range",
    "x-amz-create-session-mode",
    "x-amz-expiration",
    "x-amz-grant-read",
    "x-amz-if-match-size",
    "x-amz-mfa",
  ],
  ...[
    "x-amz-mp-object-size",
    "x-amz-object-attributes",
    "x-amz-object-lock-legal-hold",
    "x-amz-object-lock-mode",
    "x-amz-tagging",
  ],
  ...[
    "x-amz-object-lock-retain-until-date",
    "x-amz-rename-source",
    "x-amz-server-side-encryption-aws-kms-key-id",
    "x-amz-meta-a",
  ],
  ...[
    "x-amz-server-side-encryption-bucket-key-enabled",
    "x-amz-server-side-encryption-customer-algorithm",
    "x-amz-storage-class",
  ],
  ...[
    "x-amz-website-redirect-location",
    "x-amz-write-offset-bytes",
    "x-amz-if-match-initiated-time",
    "x-amz-foo",
    "content-range",
  ],
  ...["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range", "range"],
];

const understandsHeader = ({ headers = [], asks = [] }: S3Operation, name: string) =>
  [...s3Everywhere.headers, ...headers, ...asks].includes(name) ||
  (headers.includes("x-amz-meta-*") && name.startsWith("x-amz-meta-"));

/** A request for an operation, with something more. */
function request(operation: S3Operation, more: { query?: Record<string, string>; headers?: Record<string, string> }) {
  const values: Record<string, string> = { "list-type": "2", partNumber: "1", uploadId: "no-such-upload" };
  const asks = (operation.asks ?? []).filter((name) => name !== "x-amz-copy-source");
  return signedFetch(s3, {
    method: operation.method,
    path: { service: "/", bucket: "/empty", object: "/kept/dst" }[operation.on],
    query: { ...Object.fromEntries(asks.map((name) => [name, values[name] ?? ""])), ...more.query },
    headers: { ...(asks.length < (operation.asks?.length ?? 0) && { "x-amz-copy-source": "kept/src" }), ...more.headers },
    ...(["PUT", "POST"].includes(operation.method) && { body: Buffer.from("other bytes") }),
  });
}

describe("what an operation does not understand is 501 by its name, and nothing has changed", () => {
  const random = fc.stringMatching(/^[a-z][a-z-]{0,14}[a-z]$/);
  test("any query parameter", () =>
    unchanged(() =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...s3Operations),
          fc.oneof(fc.constantFrom(...queryNames), random),
          async (operation, name) => {
            const others = s3Operations.filter(({ on, method }) => on === operation.on && method === operation.method);
            fc.pre(!others.some(({ asks = [], query = [] }) => [...asks, ...query, ...s3Everywhere.query].includes(name)));
            const answer = await request(operation, { query: { [name]: "1" } });
            expect([answer.status, operation.method === "HEAD" ? name : answer.text]).toEqual([
              501,
              expect.stringContaining(name),
            ]);
          },
        ),
        { numRuns: Number(process.env["FC_RUNS"] ?? 400) },
      ),
    ));
  test("any header of S3, condition or range", () =>
    unchanged(() =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...s3Operations),
          fc.oneof(
            fc.constantFrom(...headerNames),
            random.map((name) => `x-amz-${name}`),
          ),
          async (operation, name) => {
            fc.pre(
              /^x-amz-|^(?:if-.*|(?:content-)?range)$/.test(name) &&
                !understandsHeader(operation, name) &&
                name !== "x-amz-copy-source",
            );
            const answer = await request(operation, { headers: { [name]: "1" } });
            expect([answer.status, operation.method === "HEAD" ? name : answer.text]).toEqual([
              501,
              expect.stringContaining(name),
            ]);
          },
        ),
        { numRuns: Number(process.env["FC_RUNS"] ?? 400) },
      ),
    ));
  test("two s3Operations at once, a parameter said twice, and another operation's name in x-id", () =>
    unchanged(async () => {
      for (const [method, path, query] of [
        ["GET", "/kept", { versions: "", uploads: "" }],
        ["GET", "/kept", { "list-type": "2", acl: "" }],
        ["PUT", "/kept/dst", { "x-id": "RenameObject" }],
        ["DELETE", "/empty", { "x-id": "DeleteBucketMetricsConfiguration" }],
        ["POST", "/kept", { delete: "", restore: "" }],
        ["PUT", "/kept/dst", { partNumber: "1" }],
      ] as const)
        expect([method, query, (await signedFetch(s3, { method, path, query })).status]).toEqual([method, query, 501]);
      const tamper = (r: { url: string }) => {
        r.url += "&versionId=null";
      };
      const twice = await signedFetch(s3, { method: "DELETE", path: "/kept/dst", query: { versionId: "x" }, tamper });
      expect(twice.status).toBeGreaterThanOrEqual(400);
    }));
});

/** Names that may say anything: texts, keys and tags of the caller's, and what HTTP ignores where it cannot be read (RFC 9110, 13.1 and 14.2). */
const open = new Set([
  ...["prefix", "delimiter", "marker", "start-after", "key-marker", "bucket-region", "x-amz-user-agent"],
  ...[
    "x-amz-meta-*",
    "x-amz-tagging",
    "if-match",
    "if-none-match",
    "x-amz-copy-source-if-match",
    "x-amz-copy-source-if-none-match",
  ],
  ...["if-modified-since", "if-unmodified-since", "if-range", "range", "versionId", "uploadId", "x-amz-expected-bucket-owner"],
  // Without a key it marks nothing.
  "upload-id-marker",
]);

describe("a value that a name cannot have is refused, whatever the operation, and nothing has changed", () => {
  /** What an operation takes; the value of a sub-resource (`?acl=q`) says nothing. */
  const takes = ({ query = [], headers = [], asks = [] }: S3Operation) => ({
    query: [...query, ...asks.filter((name) => ["list-type", "partNumber", "uploadId"].includes(name))],
    headers: [...headers, "x-amz-expected-bucket-owner", "x-amz-request-payer"],
  });
  test.each(s3Operations.filter(({ form }) => form !== true).map((operation) => [operation.name, operation] as const))(
    "%s",
    (_, operation) =>
      unchanged(async () => {
        for (const [where, names] of Object.entries(takes(operation)))
          for (const name of names.filter((one) => !open.has(one) && !one.startsWith("response-"))) {
            const answer = await request(operation, { [where]: { [name]: "q" } });
            expect(answer.status, name).toBeGreaterThanOrEqual(400);
            expect(answer.status, name).toBeLessThanOrEqual(name === "x-amz-trailer" ? 501 : 416);
            if (!(name in s3ClosedValues) || operation.method === "HEAD") continue;
            expect(answer.text).toContain(`<Code>InvalidArgument</Code>`);
            expect(answer.text).toContain(`<ArgumentName>${name}</ArgumentName>`);
          }
      }),
  );
});

describe("requests that others carry out as something else", () => {
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (e: { $metadata: { httpStatusCode: number }; name: string }) => `${e.$metadata.httpStatusCode} ${e.name}`,
    );
  test("are refused, and buckets and objects stay", () =>
    unchanged(async () => {
      const client = s3.client();
      const Id = "x";
      const dst = { Bucket: "kept", Key: "dst" };
      const rows = [
        new sdk.DeleteBucketMetricsConfigurationCommand({ Bucket: "empty", Id }),
        new sdk.DeleteBucketInventoryConfigurationCommand({ Bucket: "empty", Id }),
        new sdk.DeleteBucketAnalyticsConfigurationCommand({ Bucket: "empty", Id }),
        new sdk.DeleteBucketIntelligentTieringConfigurationCommand({ Bucket: "empty", Id }),
        new sdk.RenameObjectCommand({ ...dst, RenameSource: "kept/src" }),
        new sdk.PutObjectCommand({ ...dst, Body: "BB", WriteOffsetBytes: 4 }),
        new sdk.PutBucketVersioningCommand({
          Bucket: "kept",
          VersioningConfiguration: { Status: "Enabled", MFADelete: "Enabled" },
        }),
        new sdk.GetBucketAccelerateConfigurationCommand({ Bucket: "kept" }),
        new sdk.ListBucketMetricsConfigurationsCommand({ Bucket: "kept" }),
        new sdk.ListBucketInventoryConfigurationsCommand({ Bucket: "kept" }),
        new sdk.DeleteObjectCommand({ ...dst, MFA: "1 2" }),
      ];
      for (const row of rows)
        expect([row.constructor.name, await failure(client.send(row as never))]).toEqual([
          row.constructor.name,
          "501 NotImplemented",
        ]);
      expect(await failure(client.send(new sdk.CreateSessionCommand({ Bucket: "kept" })))).toMatch(
        /^501|NotImplemented|undefined/,
      );
    }));
  test("a deletion that names another object than there is deletes nothing", () =>
    unchanged(async () => {
      const client = s3.client();
      const dst = { Bucket: "kept", Key: "dst" };
      for (const condition of [{ IfMatch: '"deadbeef"' }, { IfMatchSize: 9 }, { IfMatchLastModifiedTime: new Date(0) }])
        expect(await failure(client.send(new sdk.DeleteObjectCommand({ ...dst, ...condition })))).toBe("412 PreconditionFailed");
      expect(await failure(client.send(new sdk.DeleteObjectCommand({ ...dst, VersionId: "v1" })))).toBe("404 NoSuchVersion");
      const Objects = [
        { Key: "dst", VersionId: "v1" },
        { Key: "dst", ETag: '"deadbeef"' },
        { Key: "dst", Size: 9 },
        { Key: "dst", LastModifiedTime: new Date(0) },
      ];
      const { Errors, Deleted } = await client.send(new sdk.DeleteObjectsCommand({ Bucket: "kept", Delete: { Objects } }));
      const refused = ["NoSuchVersion", "PreconditionFailed", "PreconditionFailed", "PreconditionFailed"];
      expect([Errors?.map((e) => e.Code), Deleted]).toEqual([refused, undefined]);
    }));
  test("a deletion that names the object there is deletes it; the version of an object without versions is null", async () => {
    const client = s3.client();
    for (const condition of [{}, { VersionId: "null" }, { IfMatch: "*" }, { IfMatchSize: 3 }]) {
      const { ETag } = await client.send(new sdk.PutObjectCommand({ Bucket: "kept", Key: "gone", Body: "abc" }));
      const { LastModified } = await client.send(new sdk.HeadObjectCommand({ Bucket: "kept", Key: "gone", VersionId: "null" }));
      const all = "IfMatch" in condition ? { ...condition, IfMatch: ETag, IfMatchLastModifiedTime: LastModified } : condition;
      await client.send(new sdk.DeleteObjectCommand({ Bucket: "kept", Key: "gone", ...all }));
      expect(await failure(client.send(new sdk.HeadObjectCommand({ Bucket: "kept", Key: "gone" })))).toBe("404 NotFound");
    }
  });
});

describe("a presigned URL", () => {
  const presigned = (method: string, path: string, extra: Record<string, string>) => {
    const amzDate = toAmzDate(s3.rig.clock.now());
    const scope = scopeOf(amzDate);
    const query = {
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Credential": `${s3.keys.access_key}/${scope}`,
      "X-Amz-Date": amzDate,
      "X-Amz-Expires": "60",
      "X-Amz-SignedHeaders": "host",
      ...extra,
    };
    const text = Object.entries(query)
      .map(([k, v]) => `${uriEncode(k)}=${uriEncode(v)}`)
      .sort()
      .join("&");
    const canonical = [method, path, text, `host:${new URL(s3.gateway.url).host}`, "", "host", "UNSIGNED-PAYLOAD"].join("\n");
    const toSign = ["AWS4-HMAC-SHA256", amzDate, scope, hex(canonical)].join("\n");
    const signature = mac(keyOf(s3.keys.secret_key, scope), toSign).toString("hex");
    return fetch(`${s3.gateway.url}${path}?${text}&X-Amz-Signature=${signature}`, {
      method,
      ...(method === "PUT" && { body: "through a URL" }),
    });
  };
  test("says metadata by its UTF-8, as a header does; what no header can say is refused by its name", async () => {
    const said = await presigned("PUT", "/kept/said", { "x-amz-meta-a": "\u65e5\u672c" });
    const got = await presigned("GET", "/kept/said", {});
    expect([said.status, got.status, got.headers.get("x-amz-meta-a")]).toEqual([
      200,
      200,
      Buffer.from("\u65e5\u672c").toString("latin1"),
    ]);
    for (const text of ["a\r\nX-Evil: 1", "\u0001", "\u007f"]) {
      const refused = await presigned("PUT", "/kept/unsaid", { "x-amz-meta-a": text });
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("x-amz-meta-a")]);
    }
    expect((await presigned("GET", "/kept/unsaid", {})).status).toBe(404);
  });

  test("carries headers in its query, which mean what they mean as headers", async () => {
    expect((await presigned("PUT", "/kept/url", { "x-amz-meta-colour": "blue", "X-Amz-Storage-Class": "STANDARD" })).status).toBe(
      200,
    );
    const head = await presigned("HEAD", "/kept/url", { "x-amz-checksum-mode": "ENABLED" });
    expect([head.status, head.headers.get("x-amz-meta-colour")]).toEqual([200, "blue"]);
    await unchanged(async () => {
      for (const extra of [{ "x-amz-rename-source": "/" }, { "X-Amz-Write-Offset-Bytes": "4" }, { metrics: "" }])
        expect((await presigned("PUT", "/kept/url", extra as Record<string, string>)).status).toBe(501);
      expect((await presigned("DELETE", "/kept/url", { annotation: "" })).status).toBe(501);
    });
  });
});

test("each operation has one name, and is the one that its own names ask for", () => {
  expect(new Set(s3Operations.map((o) => o.name)).size).toBe(s3Operations.length);
});
