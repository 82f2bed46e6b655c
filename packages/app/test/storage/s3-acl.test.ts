import { s3Operations } from "@seneschal/server-s3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operator } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

let s3: S3Rig;
let theirs: S3Rig["keys"];
const Bucket = "owned";
const at = { Bucket, Key: "k" };
beforeAll(async () => {
  s3 = await openS3Rig();
  theirs = await s3.credentials.create("beta", operator);
  await s3.client().send(new sdk.CreateBucketCommand({ Bucket }));
  await s3.client().send(new sdk.PutObjectCommand({ ...at, Body: "text" }));
});
afterAll(() => s3.dispose());
const changes = async () => (await s3.rig.store.changes(0, 100_000)).length;
const code = (text: string) => /<Code>(\w+)/.exec(text)?.[1];
const failure = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (e: { $metadata: { httpStatusCode: number }; name: string }) => `${e.$metadata.httpStatusCode} ${e.name}`,
  );

/** Requests for every operation that may say who gets what. */
const mayAsk = s3Operations.filter(({ headers = [], form }) => headers.includes("x-amz-acl") && form !== true);
const request = ({ name, on, method, asks = [] }: (typeof s3Operations)[number], headers: Record<string, string>) =>
  signedFetch(s3, {
    method,
    path: name === "CreateBucket" ? "/fresh" : on === "bucket" ? `/${Bucket}` : `/${Bucket}/k`,
    query: Object.fromEntries(asks.filter((word) => !word.startsWith("x-")).map((word) => [word, ""])),
    headers: {
      ...(asks.includes("x-amz-copy-source") && { "x-amz-copy-source": `${Bucket}/k`, "x-amz-metadata-directive": "REPLACE" }),
      ...headers,
    },
    ...(method === "PUT" && !asks.includes("x-amz-copy-source") && { body: Buffer.alloc(0) }),
  });

test("whoever asks for another ACL than the owner's is refused by every operation, and nothing has changed", async () => {
  expect(mayAsk.map(({ name }) => name).sort()).toEqual(
    ["CopyObject", "CreateBucket", "CreateMultipartUpload", "PutBucketAcl", "PutObject", "PutObjectAcl"].sort(),
  );
  const before = await changes();
  const others = [
    "public-read",
    "public-read-write",
    "authenticated-read",
    "aws-exec-read",
    "bucket-owner-read",
    "log-delivery-write",
  ];
  const rows: readonly (readonly [Record<string, string>, string | undefined])[] = [
    ...others.map((acl) => [{ "x-amz-acl": acl }, undefined] as const),
    [{ "x-amz-grant-read": "id=beta" }, undefined],
    [{ "x-amz-grant-full-control": "id=beta" }, undefined],
    [{ "x-amz-grant-full-control": 'id="alpha", id="beta"' }, undefined],
    [{ "x-amz-grant-write": "id=alpha" }, undefined],
    [{ "x-amz-grant-read-acp": 'uri="http://acs.amazonaws.com/groups/global/AllUsers"' }, undefined],
    [{ "x-amz-grant-write-acp": "emailAddress=a@example.org" }, undefined],
    [{ "x-amz-acl": "open" }, "InvalidArgument"],
    [{ "x-amz-acl": "" }, "InvalidArgument"],
    [{ "x-amz-grant-read": "everybody" }, "InvalidArgument"],
    [{ "x-amz-acl": "private", "x-amz-grant-full-control": "id=alpha" }, "InvalidRequest"],
  ];
  for (const operation of mayAsk)
    for (const [headers, said] of rows) {
      const answer = await request(operation, headers);
      const own = operation.name === "CreateBucket" ? "InvalidBucketAclWithObjectOwnership" : "AccessControlListNotSupported";
      const expected = [operation.name, headers, 400, said ?? own];
      expect([operation.name, headers, answer.status, code(answer.text)]).toEqual(expected);
    }
  expect(await changes()).toBe(before);
});

test("whoever asks for the owner's gets what there would be without", async () => {
  for (const operation of mayAsk)
    for (const headers of [
      { "x-amz-acl": "private" },
      { "x-amz-acl": "bucket-owner-full-control" },
      { "x-amz-grant-full-control": 'id="alpha"' },
    ] as Record<string, string>[])
      expect([operation.name, headers, (await request(operation, headers)).status]).toEqual([operation.name, headers, 200]);
});

test("the ACL that is read is the owner's, and may be written back; every other document is refused", async () => {
  const client = s3.client();
  const read = [await client.send(new sdk.GetBucketAclCommand({ Bucket })), await client.send(new sdk.GetObjectAclCommand(at))];
  const [acl] = read.map(({ Owner, Grants }) => ({ Owner, Grants }));
  for (const { Owner, Grants } of read) {
    expect([Owner?.ID, Grants?.map((g) => [g.Grantee?.Type, g.Grantee?.ID, g.Permission])]).toEqual([
      "alpha",
      [["CanonicalUser", "alpha", "FULL_CONTROL"]],
    ]);
  }
  const before = await changes();
  const put = async (AccessControlPolicy: object | undefined) => [
    await failure(client.send(new sdk.PutBucketAclCommand({ Bucket, AccessControlPolicy }))),
    await failure(client.send(new sdk.PutObjectAclCommand({ ...at, AccessControlPolicy }))),
  ];
  const both = (text: string) => [text, text];
  expect(await put(acl)).toEqual(both("done"));
  const own = acl?.Grants?.[0];
  const beta = { Grantee: { Type: "CanonicalUser", ID: "beta" }, Permission: "READ" };
  const everybody = { Grantee: { Type: "Group", URI: "http://acs.amazonaws.com/groups/global/AllUsers" }, Permission: "READ" };
  for (const other of [
    { ...acl, Grants: [] },
    { ...acl, Grants: [own, beta] },
    { ...acl, Grants: [own, everybody] },
    { ...acl, Grants: [{ ...own, Permission: "READ" }] },
    { ...acl, Owner: { ID: "beta" } },
  ])
    expect([other, await put(other)]).toEqual([other, both("400 AccessControlListNotSupported")]);
  expect(await put({ ...acl, Grants: [{ ...own, Permission: "ALL" }] })).toEqual(both("400 MalformedACLError"));
  expect(await put({ Grants: [own] })).toEqual(both("400 MalformedACLError"));
  expect(await put(undefined)).toEqual(both("400 MissingSecurityHeader"));
  expect(await failure(client.send(new sdk.PutObjectAclCommand({ Bucket, Key: "none", ACL: "private" })))).toBe("404 NoSuchKey");
  const other = s3.client(theirs);
  expect(await failure(other.send(new sdk.PutBucketAclCommand({ Bucket, ACL: "private" })))).toBe("403 AccessDenied");
  expect(await changes()).toBe(before);
});

test("ownership is the bucket owner's, may be set to that, and to nothing else", async () => {
  const client = s3.client();
  const put = (ObjectOwnership: string) =>
    failure(
      client.send(
        new sdk.PutBucketOwnershipControlsCommand({
          Bucket,
          OwnershipControls: { Rules: [{ ObjectOwnership: ObjectOwnership as "ObjectWriter" }] },
        }),
      ),
    );
  const before = await changes();
  expect(await put("BucketOwnerEnforced")).toBe("done");
  expect([await put("ObjectWriter"), await put("BucketOwnerPreferred"), await put("Mine")]).toEqual([
    ...["501 NotImplemented", "501 NotImplemented", "400 MalformedXML"],
  ]);
  // Without controls ACLs would be in force again.
  const remove = new sdk.DeleteBucketOwnershipControlsCommand({ Bucket });
  expect(await failure(client.send(remove))).toBe("501 NotImplemented");
  const create = (ObjectOwnership: string) =>
    failure(client.send(new sdk.CreateBucketCommand({ Bucket: "more", ObjectOwnership: ObjectOwnership as "ObjectWriter" })));
  expect([await create("ObjectWriter"), await create("Mine")]).toEqual(["501 NotImplemented", "400 InvalidArgument"]);
  expect(await changes()).toBe(before);
  expect(await create("BucketOwnerEnforced")).toBe("done");
  const { OwnershipControls } = await client.send(new sdk.GetBucketOwnershipControlsCommand({ Bucket: "more" }));
  expect(OwnershipControls?.Rules).toEqual([{ ObjectOwnership: "BucketOwnerEnforced" }]);
});
