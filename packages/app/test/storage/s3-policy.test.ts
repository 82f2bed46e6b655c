import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { s3Operations } from "@seneschal/server-s3";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

test("nobody without a signature says what the headers of the answer are, for each header that can be asked for", async () => {
  await policy({ Resource: `${arn}/open/*` });
  const url = `${s3.gateway.url}/${Bucket}/open/a`;
  expect((await fetch(url)).status).toBe(200);
  const asked =
    s3Operations.find(({ name }) => name === "GetObject")?.query?.filter((name) => name.startsWith("response-")) ?? [];
  expect(asked.length).toBeGreaterThan(5);
  for (const name of asked)
    for (const method of ["GET", "HEAD"]) {
      const answer = await fetch(`${url}?${name}=text/html`, { method });
      expect([name, answer.status]).toEqual([name, 400]);
    }
  expect(
    (await client().send(new sdk.GetObjectCommand({ Bucket, Key: "open/a", ResponseContentType: "text/html" }))).ContentType,
  ).toBe("text/html");
});

test("without a policy a bucket is its tenant's alone, whatever is asked and whoever asks", async () => {
  await client().send(new sdk.DeleteBucketPolicyCommand({ Bucket }));
  const values: Record<string, string> = { "list-type": "2", partNumber: "1", uploadId: "x" };
  for (const { name, on, method, asks = [], form } of s3Operations.filter(
    (o) => o.on !== "service" && o.name !== "CreateBucket",
  )) {
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
      [document({ Principal: { Service: "cloudtrail.amazonaws.com" } }), "501 NotImplemented"],
      [document({ Principal: { Service: ["logging.s3.amazonaws.com", "logging.s3.amazonaws.com.evil"] } }), "501 NotImplemented"],
      [document({ Principal: { Service: [] } }), "400 MalformedPolicy"],
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

  test("every value, action, resource and principal is of its closed form, or the policy is refused", async () => {
    await policy({ Principal: { AWS: "beta" } });
    const ip = (value: unknown) => ({ Condition: { IpAddress: { "aws:SourceIp": value } } });
    const secure = (value: unknown) => ({ Condition: { Bool: { "aws:SecureTransport": value } } });
    const malformed: readonly Draft[] = [
      ...[
        "127.0.0.1/33",
        "127.0.0.1/99",
        "10.0.0.0.0/8",
        "999.0.0.0/8",
        "10/8",
        "10.0.0.0/08",
        "10.0.0.0/",
        "::1/129",
        "1::2::3",
      ].map(ip),
      ...["", "localhost", "fe80::1%eth0", "::ffff:10.0.0.0/104", "::ffff:a00:1", ["10.0.0.0/8", "x"], [], 10, null, {}].map(ip),
      ...["flase", "", "1", [], ["true", "no"], 1, null].map(secure),
      { Condition: { Null: { "aws:Referer": "flase" } } },
      { Condition: { Null: { "aws:Referer": ["true", "false"] } } },
      { Condition: { StringEquals: { "aws:Referer": [] } } },
      { Condition: { StringEquals: { "aws:Referer": { a: 1 } } } },
      { Condition: { StringEquals: { "aws:SourceIp": "10.0.0.0/8" } } },
      { Condition: { StringEquals: { "aws:SecureTransport": "flase" } } },
      { Condition: { IpAddress: { "aws:Referer": "10.0.0.0/8" } } },
      { Condition: { Bool: { "aws:Referer": "true" } } },
      { Condition: { ArnLike: { "s3:x-amz-server-side-encryption-aws-kms-key-id": "key" } } },
      ...["s3:GetObjekt", "s3:Get0bject", "s3:Objects*", "s3:", "s3", "*:*", "", [], ["s3:GetObject", "s3:Nothing"], 1].map(
        (Action) => ({ Action }),
      ),
      ...[
        "arn:aws:s3:::other/*",
        "arn:aws:s3:::other",
        "arn:aws:s3:::share",
        "arn:aws:s3:::shared2/*",
        "arn:aws:s3:::",
        "arn:aws:s3:::s?/*",
      ].map((Resource) => ({ Resource })),
      ...[[], [`${arn}/*`, "arn:aws:s3:::other/*"], null].map((Resource) => ({ Resource })),
      ...[{}, { AWS: "" }, { AWS: [] }, { AWS: "be ta" }, { AWS: "beta*" }, { AWS: "arn:aws:iam:::root" }, "beta", null].map(
        (Principal) => ({ Principal }),
      ),
    ];
    const put = (Policy: string) => failure(client().send(new sdk.PutBucketPolicyCommand({ Bucket, Policy })));
    for (const draft of malformed)
      for (const Effect of ["Allow", "Deny"])
        expect([draft, await put(document({ ...draft, Effect }))]).toEqual([draft, "400 MalformedPolicy"]);
    const twice = document().replace('"Version"', '"Version":"2008-10-17","Version"');
    expect(await put(twice)).toBe("400 MalformedPolicy");
    expect(await put(document({ Effect: "Deny" }).replace('"Effect"', '"Effect":"Allow","Effect"'))).toBe("400 MalformedPolicy");
    for (const Condition of [
      { NotNull: { "aws:Referer": "true" } },
      { StringEqualsNot: { "aws:Referer": "x" } },
      { StringLike: { "aws:Referer": `\${aws:username}` } },
    ])
      expect([Condition, await put(document({ Condition }))]).toEqual([Condition, "501 NotImplemented"]);
    expect([await get("beta", "open/a"), await get("nobody", "open/a")]).toEqual(["done", "403"]);
    for (const draft of [
      ...["10.0.0.0/8", "0.0.0.0/0", "10.1.2.3", "::/0", "2001:DB8::/32", "ffff::/16", ["10.0.0.0/8", "::1"]].map(ip),
      ...["true", "False", true, ["true", "false"]].map(secure),
      ...["*", "s3:*", "s3:getobject", "s3:Put*", "s3:?etObject"].map((Action) => ({ Action })),
      ...["*", arn, "arn:aws:s3:::*", "arn:aws:s3:::*/x", "arn:aws:s3:::sha*", "arn:aws:s3:::shared?x", "arn:aws:s3:::*x"].map(
        (Resource) => ({ Resource }),
      ),
    ] as readonly Draft[])
      expect([draft, await put(document({ ...draft, Principal: { AWS: "beta" } }))]).toEqual([draft, "done"]);
    await client().send(new sdk.DeleteBucketPolicyCommand({ Bucket }));
  });

  test("of a pattern of many stars is read at once", async () => {
    const stars = "*a".repeat(4000);
    const put = (draft: Draft) => failure(client().send(new sdk.PutBucketPolicyCommand({ Bucket, Policy: document(draft) })));
    expect(await put({ Action: `s3:${stars}` })).toBe("400 MalformedPolicy");
    expect(await put({ Resource: `arn:aws:s3:::${stars}b` })).toMatch(/done|MalformedPolicy/);
    await client().send(new sdk.DeleteBucketPolicyCommand({ Bucket }));
  });

  test("that was taken in another form denies everything but mending it", async () => {
    const stored = await s3.rig.store.get("storage_buckets", Bucket);
    const old = document({ Effect: "Deny", Action: "s3:GetObjekt" });
    const doc = { ...stored?.doc, policy: old };
    await s3.rig.store.commit({ commitId: "as-before", puts: [{ coll: "storage_buckets", id: Bucket, doc }] });
    expect([await get("alpha", "open/a"), await get("beta", "open/a")]).toEqual(["403", "403"]);
    expect(await failure(client().send(new sdk.DeleteBucketPolicyCommand({ Bucket })))).toBe("done");
    expect(await get("alpha", "open/a")).toBe("done");
  });

  test("patterns mean themselves but for * and ?, whatever else is in them", () =>
    fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^[a-z.+^$()[\]{}|\\-]{1,12}$/).filter((odd) => !odd.includes("${")),
        async (odd) => {
          await policy({ Principal: { AWS: "beta" }, Resource: `${arn}/odd/${odd}` });
          const ask = (key: string) => signedFetch(s3, { path: `/${Bucket}/odd/${encode(key)}`, keys: theirs });
          expect((await ask(odd)).text).toContain("AccessDenied");
          await client().send(new sdk.PutObjectCommand({ Bucket, Key: `odd/${odd}`, Body: "x" }));
          await client().send(new sdk.PutObjectCommand({ Bucket, Key: `odd/${odd}z`, Body: "x" }));
          expect([(await ask(odd)).status, (await ask(`${odd}z`)).status]).toEqual([200, 403]);
          for (const key of [odd, `${odd}z`]) await client().send(new sdk.DeleteObjectCommand({ Bucket, Key: `odd/${key}` }));
        },
      ),
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

test("a policy of a bucket, or of the service, that is not decided in its bounds is a SlowDown with Retry-After: never AccessDenied, never leave", async () => {
  await policy({ Resource: `${arn}/open/*` }, { Effect: "Deny", Action: "s3:*", Resource: `${arn}/shut/*` });
  const runsOut = embeddedPolicyEngine({ budgets: { ticks: 1 } });
  const dear = "package storage.authz\n\nallow if count(numbers.range(1, 1000000000)) > 0\n";
  for (const options of [{ engine: runsOut }, { policy: dear }]) {
    const short = await openS3Rig({ rig: s3.rig, ...options });
    const path = (key: string) => `/${Bucket}/${key}`;
    for (const method of ["GET", "PUT", "DELETE"])
      for (const key of ["open/a", "shut/b"]) {
        const { status, text, headers } = await signedFetch({ ...short, keys: s3.keys }, { method, path: path(key) });
        const told = [status, headers.get("retry-after"), /<Code>(.*?)<\/Code>/.exec(text)?.[1]];
        // What the bucket's policy denied stays denied, whatever is asked behind it.
        const denied = key === "shut/b" && "policy" in options;
        expect([method, key, ...told]).toEqual([method, key, ...(denied ? [403, null, "AccessDenied"] : [503, "1", "SlowDown"])]);
      }
    const anonymous = await fetch(`${short.gateway.url}${path("open/a")}`);
    expect(anonymous.status).toBe(503);
    await short.gateway.close();
  }
  expect([await get("nobody", "open/a"), await get("alpha", "shut/b")]).toEqual(["done", "403"]);
});
