import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../src/storage/s3/operations.ts";
import { operator } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

let s3: S3Rig;
let theirs: { readonly access_key: string; readonly secret_key: string };
const Bucket = "shared";
beforeAll(async () => {
  s3 = await openS3Rig();
  theirs = await s3.credentials.create("beta", operator);
  await client().send(new sdk.CreateBucketCommand({ Bucket }));
  await client().send(new sdk.PutObjectCommand({ Bucket, Key: "open/a", Body: "for all", Tagging: "class=public" }));
  await client().send(new sdk.PutObjectCommand({ Bucket, Key: "shut/b", Body: "for us" }));
});
afterAll(() => s3.dispose());
const client = () => s3.client();
const beta = () => s3.client(theirs);
const failure = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (e: { $metadata: { httpStatusCode: number }; name: string }) => `${e.$metadata.httpStatusCode} ${e.name}`,
  );
const arn = `arn:aws:s3:::${Bucket}`;
interface Draft {
  readonly Effect?: string;
  readonly Principal?: unknown;
  readonly Action?: unknown;
  readonly Resource?: unknown;
  readonly Condition?: unknown;
}
const document = (...statements: readonly Draft[]) =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: statements.map((s) => ({ Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource: `${arn}/*`, ...s })),
  });
const policy = (...statements: readonly Draft[]) =>
  client().send(new sdk.PutBucketPolicyCommand({ Bucket, Policy: document(...statements) }));
const get = (who: "alpha" | "beta" | "nobody", key: string) =>
  who === "nobody"
    ? fetch(`${s3.gateway.url}/${Bucket}/${key}`).then((r) => (r.ok ? "done" : String(r.status)))
    : failure((who === "alpha" ? client() : beta()).send(new sdk.GetObjectCommand({ Bucket, Key: key }))).then((r) =>
        r.slice(0, 4).trim(),
      );

test("without a policy a bucket is its tenant's alone, whatever is asked and whoever asks", async () => {
  await client().send(new sdk.DeleteBucketPolicyCommand({ Bucket }));
  const values: Record<string, string> = { "list-type": "2", partNumber: "1", uploadId: "x" };
  for (const { name, on, method, asks = [], form } of operations.filter((o) => o.on !== "service" && o.name !== "CreateBucket")) {
    if (form === true) continue;
    const path = on === "bucket" ? `/${Bucket}` : `/${Bucket}/open/a`;
    const query = Object.fromEntries(asks.filter((a) => !a.startsWith("x-amz")).map((a) => [a, values[a] ?? ""]));
    const headers: Record<string, string> = asks.includes("x-amz-copy-source") ? { "x-amz-copy-source": `${Bucket}/open/a` } : {};
    const body = ["PUT", "POST"].includes(method) ? { body: Buffer.from("x") } : {};
    const other = await signedFetch(s3, { method, path, query, headers, keys: theirs, ...body });
    expect([name, other.status]).toEqual([name, 403]);
    const search = new URLSearchParams(query).toString();
    const nobody = await fetch(`${s3.gateway.url}${path}?${search}`, { method, headers, ...body });
    expect([name, nobody.status]).toEqual([name, 403]);
  }
  expect((await fetch(s3.gateway.url)).status).toBe(403);
});

describe("a policy", () => {
  test("opens what it names to whom it names, and nothing else", async () => {
    await policy({ Principal: { AWS: "arn:aws:iam::beta:root" }, Resource: `${arn}/open/*` });
    expect([await get("beta", "open/a"), await get("beta", "shut/b"), await get("nobody", "open/a")]).toEqual([
      "done",
      "403",
      "403",
    ]);
    expect(await failure(beta().send(new sdk.PutObjectCommand({ Bucket, Key: "open/a", Body: "x" })))).toBe("403 AccessDenied");
    expect(await failure(beta().send(new sdk.ListObjectsV2Command({ Bucket })))).toBe("403 AccessDenied");
    await policy({ Resource: `${arn}/open/*` });
    expect([await get("nobody", "open/a"), await get("nobody", "shut/b"), await get("nobody", "none")]).toEqual([
      "done",
      "403",
      "403",
    ]);
  });

  test("that denies wins over all that allows, the owner's own right too, but not over mending the policy", async () => {
    await policy({}, { Effect: "Deny", Resource: `${arn}/shut/*` });
    expect([await get("beta", "open/a"), await get("beta", "shut/b"), await get("alpha", "shut/b")]).toEqual([
      "done",
      "403",
      "403",
    ]);
    await policy({ Effect: "Deny", Action: "s3:*", Resource: [arn, `${arn}/*`] });
    expect(await get("alpha", "open/a")).toBe("403");
    expect(await failure(client().send(new sdk.DeleteBucketPolicyCommand({ Bucket })))).toBe("done");
    expect(await get("alpha", "open/a")).toBe("done");
  });

  test("with conditions holds where they hold: tags, prefixes, addresses, what is absent", async () => {
    await policy({ Condition: { StringEquals: { "s3:ExistingObjectTag/class": "public" } } });
    expect([await get("beta", "open/a"), await get("beta", "shut/b")]).toEqual(["done", "403"]);
    await policy({ Condition: { IpAddress: { "aws:SourceIp": "127.0.0.0/8" } } });
    expect(await get("nobody", "open/a")).toBe("done");
    await policy({ Condition: { NotIpAddress: { "aws:SourceIp": ["127.0.0.0/8", "::1"] } } });
    expect(await get("nobody", "open/a")).toBe("403");
    await policy({ Action: "s3:ListBucket", Resource: arn, Condition: { StringLike: { "s3:prefix": "open/*" } } });
    const list = (Prefix: string) => failure(beta().send(new sdk.ListObjectsV2Command({ Bucket, Prefix })));
    expect([await list("open/x"), await list("shut/")]).toEqual(["done", "403 AccessDenied"]);
    await policy({ Effect: "Deny", Action: "s3:PutObject", Condition: { Null: { "s3:x-amz-server-side-encryption": "true" } } });
    const put = (more: object) => failure(client().send(new sdk.PutObjectCommand({ Bucket, Key: "enc", Body: "x", ...more })));
    expect([await put({}), await put({ ServerSideEncryption: "AES256" })]).toEqual(["403 AccessDenied", "done"]);
    await client().send(new sdk.DeleteBucketPolicyCommand({ Bucket }));
  });

  test("lets nobody copy, tag, lock or delete more than it says", async () => {
    await policy({ Principal: { AWS: "beta" }, Action: "s3:PutObject" });
    const put = (more: object) => failure(beta().send(new sdk.PutObjectCommand({ Bucket, Key: "open/new", Body: "x", ...more })));
    expect([await put({}), await put({ Tagging: "a=b" })]).toEqual(["done", "403 AccessDenied"]);
    const copy = new sdk.CopyObjectCommand({ Bucket, Key: "open/copy", CopySource: `${Bucket}/shut/b` });
    expect(await failure(beta().send(copy))).toBe("403 AccessDenied");
    const Objects = [{ Key: "open/a" }];
    const { Errors } = await beta().send(new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(Errors?.[0]?.Code).toBe("AccessDenied");
    expect(await get("alpha", "open/a")).toBe("done");
    await client().send(new sdk.DeleteBucketPolicyCommand({ Bucket }));
  });

  test("that is not understood is refused, and the one before stays", async () => {
    await policy({ Principal: { AWS: "beta" } });
    for (const [Policy, code] of [
      [document({ Condition: { StringSoundsLike: { "aws:Referer": "x" } } }), "501 NotImplemented"],
      [document({ Condition: { StringEquals: { "aws:PhaseOfMoon": "full" } } }), "501 NotImplemented"],
      [document({ Principal: { Service: "logging.s3.amazonaws.com" } }), "501 NotImplemented"],
      [document({ Resource: "arn:aws:sqs:::queue" }), "400 MalformedPolicy"],
      [document({ Action: "iam:CreateUser" }), "400 MalformedPolicy"],
      [document({ Effect: "Maybe" }), "400 MalformedPolicy"],
      [document({ Sid2: "x" } as Draft), "400 MalformedPolicy"],
      ["{", "400 MalformedPolicy"],
    ] as const)
      expect([Policy, await failure(client().send(new sdk.PutBucketPolicyCommand({ Bucket, Policy })))]).toEqual([Policy, code]);
    expect([await get("beta", "open/a"), await get("nobody", "open/a")]).toEqual(["done", "403"]);
    await client().send(new sdk.DeleteBucketPolicyCommand({ Bucket }));
  });

  test("patterns mean themselves but for * and ?, whatever else is in them", () =>
    fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[a-z.+^$()[\]{}|\\-]{1,12}$/), async (odd) => {
        await policy({ Principal: { AWS: "beta" }, Resource: `${arn}/odd/${odd}` });
        const ask = (key: string) => signedFetch(s3, { path: `/${Bucket}/odd/${encode(key)}`, keys: theirs });
        expect((await ask(odd)).text).toContain("AccessDenied");
        await client().send(new sdk.PutObjectCommand({ Bucket, Key: `odd/${odd}`, Body: "x" }));
        await client().send(new sdk.PutObjectCommand({ Bucket, Key: `odd/${odd}z`, Body: "x" }));
        expect([(await ask(odd)).status, (await ask(`${odd}z`)).status]).toEqual([200, 403]);
        for (const key of [odd, `${odd}z`]) await client().send(new sdk.DeleteObjectCommand({ Bucket, Key: `odd/${key}` }));
      }),
      { numRuns: 25 },
    ));
});
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

test("a public access block refuses public policies, and closes those that are there", async () => {
  const block = (more: object) =>
    client().send(new sdk.PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration: more }));
  await policy({});
  const status = await client().send(new sdk.GetBucketPolicyStatusCommand({ Bucket }));
  expect(status.PolicyStatus?.IsPublic).toBe(true);
  await block({ RestrictPublicBuckets: true });
  expect([await get("nobody", "open/a"), await get("beta", "open/a"), await get("alpha", "open/a")]).toEqual([
    "403",
    "403",
    "done",
  ]);
  await block({ BlockPublicPolicy: true });
  expect(await failure(policy({}))).toBe("403 AccessDenied");
  expect(await failure(policy({ Principal: { AWS: "beta" } }))).toBe("done");
  await client().send(new sdk.DeletePublicAccessBlockCommand({ Bucket }));
});
