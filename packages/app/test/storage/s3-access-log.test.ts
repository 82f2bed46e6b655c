import { request as httpRequest } from "node:http";
import { maxLogDeliveries } from "@seneschal/core/storage";
import { afterEach, describe, expect, test } from "vitest";
import { putObject } from "../../src/storage/objects/put-object.ts";
import { bytesOf, operator, pattern } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

const WAIT = { timeout: 60_000, interval: 20 };
const opened: S3Rig[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.dispose();
});

const [Bucket, logs] = ["photos", "logs"];
interface Grant {
  readonly Effect?: string;
  readonly Principal?: unknown;
  readonly Action?: string;
  readonly Resource?: string;
  readonly Condition?: unknown;
}
const granted = (more: Grant = {}) => ({
  Effect: "Allow",
  Principal: { Service: "logging.s3.amazonaws.com" },
  Action: "s3:PutObject",
  Resource: `arn:aws:s3:::${logs}/log/*`,
  Condition: { ArnLike: { "aws:SourceArn": `arn:aws:s3:::${Bucket}` }, StringEquals: { "aws:SourceAccount": "alpha" } },
  ...more,
});

/** A bucket and one for its logs, whose policy takes them. */
async function openLogged(options: Parameters<typeof openS3Rig>[0] = {}) {
  const s3 = await openS3Rig({ ...options, gateway: { accessLogDelayMs: 0, ...options.gateway } });
  opened.push(s3);
  const client = s3.client();
  for (const name of [Bucket, logs]) await client.send(new sdk.CreateBucketCommand({ Bucket: name }));
  const grant = (...statements: readonly object[]) => {
    const Policy = JSON.stringify({ Version: "2012-10-17", Statement: statements });
    return client.send(new sdk.PutBucketPolicyCommand({ Bucket: logs, Policy }));
  };
  const log = (more: object = {}) =>
    client.send(
      new sdk.PutBucketLoggingCommand({
        Bucket,
        BucketLoggingStatus: { LoggingEnabled: { TargetBucket: logs, TargetPrefix: "log/", ...more } },
      }),
    );
  /** The keys of log objects, and their lines cut into fields. */
  const delivered = async (all = false) => {
    await s3.gateway.deliverAccessLogs(all).catch(() => undefined);
    const { Contents = [] } = await client.send(new sdk.ListObjectsV2Command({ Bucket: logs }));
    const lines: string[] = [];
    for (const { Key } of Contents) {
      const { Body } = await client.send(new sdk.GetObjectCommand({ Bucket: logs, Key }));
      lines.push(...((await Body?.transformToString()) ?? "").trimEnd().split("\n"));
    }
    const cut = (line: string) => [...line.matchAll(/\[([^\]]*)\]|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");
    return { keys: Contents.map(({ Key = "" }) => Key), lines, records: lines.map(cut) };
  };
  /** What became of records. */
  const counted = async () => {
    const { values } = await s3.rig.node.metrics.accessLogRecords.get();
    const found = Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]));
    return { delivered: 0, failed: 0, dropped: 0, ...found };
  };
  /** What became of them once more that waits was tried. */
  const after = async (all = true) => {
    await s3.gateway.deliverAccessLogs(all).catch(() => undefined);
    return counted();
  };
  /** Delivers until so many records are there: a request is noted once its answer is out. */
  const cameTo = (count: number) => expect.poll(async () => (await after()).delivered, WAIT).toBe(count);
  return { s3, client, grant, log, delivered, counted, after, cameTo };
}
const failure = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (e: { $metadata: { httpStatusCode: number }; name: string }) => `${e.$metadata.httpStatusCode} ${e.name}`,
  );

test("an SDK's bucket has its requests written down: who, what, how, what came of it, in objects of the bucket that it names", async () => {
  const { s3, client, grant, log, delivered, cameTo } = await openLogged();
  await grant(granted());
  const status = () => client.send(new sdk.GetBucketLoggingCommand({ Bucket }));
  expect((await status()).LoggingEnabled).toBeUndefined();
  await log();
  expect((await status()).LoggingEnabled).toEqual({ TargetBucket: logs, TargetPrefix: "log/" });
  await client.send(new sdk.PutObjectCommand({ Bucket, Key: "2026/a b.jpg", Body: pattern(5000) }));
  await client.send(new sdk.GetObjectCommand({ Bucket, Key: "2026/a b.jpg", Range: "bytes=0-9" })).then(async ({ Body }) => {
    await Body?.transformToByteArray();
  });
  await failure(client.send(new sdk.GetObjectCommand({ Bucket, Key: "none" })));
  await client.send(new sdk.HeadObjectCommand({ Bucket, Key: "2026/a b.jpg" }));
  await fetch(`${s3.gateway.url}/${Bucket}/2026/a%20b.jpg`, {
    headers: { referer: "http://site/p?token=x", "user-agent": 'u "1"' },
  });
  await client.send(new sdk.CopyObjectCommand({ Bucket: logs, Key: "copy", CopySource: `${Bucket}/2026/a b.jpg` }));
  await client.send(new sdk.DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: "x" }, { Key: "2026/a b.jpg" }] } }));
  await client.send(new sdk.DeleteObjectCommand({ Bucket: logs, Key: "copy" }));
  await cameTo(10);
  const { keys, records } = await delivered();
  for (const key of keys) expect(key).toMatch(/^log\/\d{4}(?:-\d\d){5}-[0-9A-F]{16}$/);
  for (const record of records) {
    expect(record).toHaveLength(26);
    expect(record[0]).toBe("alpha");
    expect(record[1]).toBe(Bucket);
    expect(record[3]).toBe("127.0.0.1");
    expect(record[5]).toMatch(/^[0-9A-F]{16}$/);
  }
  const shown = records.map((r) => [r[6], r[7], r[9], r[10], r[11], r[12], r[4]].join(" "));
  for (const wanted of [
    "REST.PUT.OBJECT 2026/a%20b.jpg 200 - - 5000 alpha",
    "REST.GET.OBJECT 2026/a%20b.jpg 206 - 10 5000 alpha",
    "REST.HEAD.OBJECT 2026/a%20b.jpg 200 - - 5000 alpha",
    "REST.COPY.OBJECT_GET 2026/a%20b.jpg 200 - - - alpha",
    "BATCH.DELETE.OBJECT x 204 - - - alpha",
    "BATCH.DELETE.OBJECT 2026/a%20b.jpg 204 - - - alpha",
  ])
    expect(shown).toContain(wanted);
  expect(shown.some((line) => /^REST\.GET\.OBJECT none 404 NoSuchKey \d+ - alpha$/.test(line))).toBe(true);
  expect(shown.some((line) => /^REST\.GET\.LOGGING_STATUS - 200 - \d+ - alpha$/.test(line))).toBe(true);
  expect(shown.some((line) => /^REST\.POST\.MULTI_OBJECT_DELETE - 200 /.test(line))).toBe(true);
  const refused = records.find((r) => r[9] === "403") ?? [];
  expect(refused.slice(4, 5)).toEqual(["-"]);
  expect(refused.slice(6, 11)).toEqual([
    "REST.GET.OBJECT",
    "2026/a%20b.jpg",
    `GET /${Bucket}/2026/a%20b.jpg HTTP/1.1`,
    "403",
    "AccessDenied",
  ]);
  expect(refused.slice(15, 17)).toEqual(["http://site/p", "u %221%22"]);
  expect(refused.slice(19, 22)).toEqual(["-", "-", "-"]);
  const signed = records.find((r) => r[6] === "REST.PUT.OBJECT") ?? [];
  expect(signed.slice(19, 22)).toEqual(["SigV4", "-", "AuthHeader"]);
  // What is told of the bucket of the logs is nobody's to log, and a delivery is no request.
  expect(records.some((r) => r[6]?.includes("COPY.OBJECT") && !r[6].endsWith("_GET"))).toBe(false);
  expect(records).toHaveLength(10);

  await client.send(new sdk.PutBucketLoggingCommand({ Bucket, BucketLoggingStatus: {} }));
  expect((await status()).LoggingEnabled).toBeUndefined();
  await client.send(new sdk.ListObjectsV2Command({ Bucket }));
  // Only what ended it: that came while they were logged.
  await cameTo(11);
});

test("no signature, token or key of a client is written down, in whatever form it was sent", async () => {
  const { s3, grant, log, delivered, cameTo } = await openLogged({ gateway: { signatureV2: true } });
  await grant(granted());
  await log();
  const secret = "c0ffee5ecretc0ffee5ecretc0ffee5e";
  const hidden = [
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${secret}&X-Amz-Date=20261126T000000Z&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=${secret}`,
    `X%2DAmz-Signature=${secret}`,
    `x-amz-signature=${secret}`,
    `AWSAccessKeyId=${secret}&Signature=${secret}&Expires=1`,
    `x-amz-server-side-encryption-customer-key=${secret}&X-Amz-Algorithm=AWS4-HMAC-SHA256`,
    `X-Amz-Security-Token=${secret}`,
    secret,
    `${secret}=1`,
    `versionId=1&&=${secret}`,
  ];
  for (const query of hidden) await fetch(`${s3.gateway.url}/${Bucket}/key?${query}`);
  await fetch(`${s3.gateway.url}/${Bucket}/key`, {
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${secret}/20261126/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=${secret}`,
      "x-amz-server-side-encryption-customer-key": secret,
      referer: `https://u:${secret}@example.org/?X-Amz-Signature=${secret}#${secret}`,
      cookie: secret,
    },
  });
  const key = Buffer.alloc(32, 7).toString("base64");
  await signedFetch(s3, {
    method: "PUT",
    path: `/${Bucket}/sealed`,
    headers: {
      "x-amz-server-side-encryption-customer-algorithm": "AES256",
      "x-amz-server-side-encryption-customer-key": key,
      "x-amz-server-side-encryption-customer-key-md5": "x",
    },
    body: Buffer.from("x"),
  });
  await cameTo(hidden.length + 2);
  const { lines, records } = await delivered();
  for (const line of lines) for (const text of [secret, key, encodeURIComponent(key)]) expect(line).not.toContain(text);
  expect(records.some((r) => r[8]?.includes("versionId=1&REDACTED&REDACTED"))).toBe(true);
  expect(records.some((r) => r[21] === "QueryString" && r[19] === "SigV2")).toBe(true);
});

describe("the bucket of the logs", () => {
  test("takes them where its policy lets the service put them, for this bucket and this tenant, and otherwise nothing changes", async () => {
    const { s3, client, grant, log } = await openLogged();
    const refused = "400 InvalidTargetBucketForLogging";
    expect(await failure(log())).toBe(refused);
    const beta = s3.client(await s3.credentials.create("beta", operator));
    await beta.send(new sdk.CreateBucketCommand({ Bucket: "theirs" }));
    const open = { Effect: "Allow", Principal: { Service: "logging.s3.amazonaws.com" }, Action: "s3:PutObject" };
    const Policy = JSON.stringify({ Version: "2012-10-17", Statement: [{ ...open, Resource: "arn:aws:s3:::theirs/*" }] });
    await beta.send(new sdk.PutBucketPolicyCommand({ Bucket: "theirs", Policy }));
    // One that is another's, though it is open, and one that is not there are the same.
    for (const TargetBucket of ["theirs", "nobodys", "No.Name"]) expect(await failure(log({ TargetBucket }))).toBe(refused);
    for (const less of [
      { Principal: { AWS: "arn:aws:iam::alpha:root" } },
      { Action: "s3:GetObject" },
      { Resource: `arn:aws:s3:::${logs}/log` },
      { Resource: `arn:aws:s3:::${logs}/other/*` },
      { Condition: { ArnLike: { "aws:SourceArn": "arn:aws:s3:::other" } } },
      { Condition: { StringEquals: { "aws:SourceAccount": "beta" } } },
      { Condition: { Bool: { "aws:PrincipalIsAWSService": "false" } } },
    ]) {
      await grant(granted(less));
      expect([less, await failure(log())]).toEqual([less, refused]);
    }
    await grant(granted(), { Effect: "Deny", Principal: "*", Action: "s3:*", Resource: `arn:aws:s3:::${logs}/*` });
    expect(await failure(log())).toBe(refused);
    expect((await client.send(new sdk.GetBucketLoggingCommand({ Bucket }))).LoggingEnabled).toBeUndefined();
    // The grant opens the bucket to nobody else.
    await grant(granted({ Condition: undefined, Resource: `arn:aws:s3:::${logs}/*` }));
    expect(await failure(beta.send(new sdk.PutObjectCommand({ Bucket: logs, Key: "log/x", Body: "x" })))).toBe(
      "403 AccessDenied",
    );
    expect((await fetch(`${s3.gateway.url}/${logs}/log/x`, { method: "PUT", body: "x" })).status).toBe(403);
    await client.send(
      new sdk.PutPublicAccessBlockCommand({ Bucket: logs, PublicAccessBlockConfiguration: { RestrictPublicBuckets: true } }),
    );
    expect(await failure(log())).toBe("done");
  });

  test("is what documents name, whole: what is not understood is refused, and grants that are ACLs", async () => {
    const { grant, log, client } = await openLogged();
    await grant(granted());
    const Grantee = { Type: "CanonicalUser" as const, ID: "alpha" };
    expect(await failure(log({ TargetGrants: [{ Grantee, Permission: "READ" }] }))).toBe("400 AccessControlListNotSupported");
    expect(await failure(log({ TargetPrefix: `log/${"x".repeat(1000)}` }))).toBe("400 InvalidArgument");
    const partitioned = (PartitionDateSource: string) => ({
      TargetObjectKeyFormat: { PartitionedPrefix: { PartitionDateSource } },
    });
    expect(await failure(log(partitioned("Never")))).toBe("400 MalformedXML");
    for (const format of [
      { TargetObjectKeyFormat: { SimplePrefix: {} } },
      partitioned("EventTime"),
      partitioned("DeliveryTime"),
    ]) {
      await log(format);
      const { LoggingEnabled } = await client.send(new sdk.GetBucketLoggingCommand({ Bucket }));
      expect(LoggingEnabled).toEqual({ TargetBucket: logs, TargetPrefix: "log/", ...format });
    }
  });

  test("is asked again at every delivery: what it does not take waits, is tried again, and is given up in the end", async () => {
    const { client, grant, log, after, cameTo } = await openLogged();
    await grant(granted());
    await log();
    await client.send(new sdk.ListObjectsV2Command({ Bucket }));
    await cameTo(1);
    await client.send(new sdk.DeleteBucketPolicyCommand({ Bucket: logs }));
    await client.send(new sdk.ListObjectsV2Command({ Bucket }));
    await expect.poll(async () => (await after()).failed, WAIT).toBeGreaterThan(0);
    await grant(granted());
    await cameTo(2);
    await client.send(new sdk.DeleteBucketPolicyCommand({ Bucket: logs }));
    await client.send(new sdk.ListObjectsV2Command({ Bucket }));
    const { failed: before } = await after(false);
    await expect.poll(async () => (await after()).dropped, WAIT).toBe(1);
    await grant(granted());
    const { delivered, failed } = await after();
    expect(delivered).toBe(2);
    expect(failed - before).toBeLessThan(maxLogDeliveries);
  });

  test("may be the bucket itself: a delivery is no request, so that its logs come to an end", async () => {
    const { s3, client, log, counted, cameTo } = await openLogged();
    const Policy = JSON.stringify({
      Version: "2012-10-17",
      Statement: [granted({ Resource: `arn:aws:s3:::${Bucket}/log/*` })],
    });
    await client.send(new sdk.PutBucketPolicyCommand({ Bucket, Policy }));
    await log({ TargetBucket: Bucket });
    await client.send(new sdk.HeadBucketCommand({ Bucket }));
    await cameTo(1);
    for (let i = 0; i < 3; i++) await s3.gateway.deliverAccessLogs(true);
    expect(await counted()).toEqual({ delivered: 1, failed: 0, dropped: 0 });
  });
});

test("requests wait for each other, by the node's clock, and the end of the server ends the wait", async () => {
  const { s3, client, grant, log, counted, after } = await openLogged({ gateway: { accessLogDelayMs: 60_000 } });
  await grant(granted());
  await log();
  for (let i = 0; i < 3; i++) await client.send(new sdk.ListObjectsV2Command({ Bucket }));
  expect((await after(false)).delivered).toBe(0);
  s3.rig.clock.set(s3.rig.clock.now() + 60_000);
  await expect.poll(async () => (await after(false)).delivered, WAIT).toBe(3);
  const { Contents = [] } = await client.send(new sdk.ListObjectsV2Command({ Bucket: logs }));
  expect(Contents).toHaveLength(1);
  await client.send(new sdk.ListObjectsV2Command({ Bucket }));
  await s3.gateway.close();
  expect((await counted()).delivered).toBe(4);
});

test("in maintenance logs wait, and nothing is wrong; a store that does not answer is told of, and takes none of them away", async () => {
  const { s3, client, grant, log, counted, cameTo } = await openLogged();
  await grant(granted());
  await log();
  const maintenance = (enabled: boolean) => s3.rig.node.cluster.propose({ kind: "maintenance.set", enabled }, operator);
  await maintenance(true);
  await client.send(new sdk.HeadBucketCommand({ Bucket }));
  for (let i = 0; i < 2 * maxLogDeliveries; i++) await s3.gateway.deliverAccessLogs(true);
  expect(await counted()).toEqual({ delivered: 0, failed: 0, dropped: 0 });
  await maintenance(false);
  await cameTo(1);
  s3.rig.vault.away = true;
  s3.rig.clock.set(s3.rig.clock.now() + 10_000);
  await client.send(new sdk.HeadBucketCommand({ Bucket }));
  const outcome = () => s3.gateway.deliverAccessLogs(true).then(() => "done", String);
  for (let i = 0; i < 2 * maxLogDeliveries; i++) await expect.poll(outcome, WAIT).not.toBe("done");
  expect((await counted()).dropped).toBe(0);
  s3.rig.vault.away = false;
  await cameTo(2);
});

test("a delivery whose answer was lost is written once: it has one key, and finds itself there", async () => {
  const { s3, client, grant, log, counted, cameTo } = await openLogged();
  await grant(granted());
  await client.send(new sdk.PutBucketVersioningCommand({ Bucket: logs, VersioningConfiguration: { Status: "Enabled" } }));
  await log();
  await client.send(new sdk.HeadBucketCommand({ Bucket }));
  await cameTo(1);
  const { commit } = s3.rig.store;
  let lost = 0;
  s3.rig.store.commit = async (draft) => {
    const result = await commit.call(s3.rig.store, draft);
    if (lost === 0 && draft.puts?.some(({ coll, doc }) => coll === "storage_objects" && doc["bucket"] === logs)) {
      lost += 1;
      throw new Error("the answer is lost");
    }
    return result;
  };
  await client.send(new sdk.ListObjectsV2Command({ Bucket }));
  const failed = () => s3.gateway.deliverAccessLogs(true).then(() => "done", String);
  await expect.poll(failed, WAIT).toContain("the answer is lost");
  await cameTo(2);
  expect(lost).toBe(1);
  const { Versions = [] } = await client.send(new sdk.ListObjectVersionsCommand({ Bucket: logs }));
  expect(new Set(Versions.map(({ Key }) => Key)).size).toBe(Versions.length);
  expect(await counted()).toEqual({ delivered: 2, failed: 1, dropped: 0 });
});

test("what a request says ends no line and no field", async () => {
  const { s3, grant, log, delivered, cameTo } = await openLogged();
  await grant(granted());
  await log();
  const hostile = '" 200 - 5 "x]\\ \u00ff';
  await new Promise<void>((resolve, reject) => {
    const path = `/${Bucket}/a%0Ab%22%20c`;
    // A host that could end a field is none, and the request is refused before it is anybody's: s3-hosts.test.ts.
    const asked = httpRequest(`${s3.gateway.url}`, { path, headers: { "user-agent": hostile, host: "h'o;st" } }, (reply) => {
      reply.resume();
      reply.on("end", resolve);
    });
    asked.on("error", reject);
    asked.end();
  });
  await cameTo(1);
  const { records } = await delivered();
  const [record] = records.filter((r) => r[7] === "a%0Ab%22%20c");
  expect(record).toHaveLength(26);
  expect(record?.[16]).toBe("%22 200 - 5 %22x%5D%5C %C3%BF");
  expect(record?.[22]).toBe("h%27o%3Bst");
});

test("logging costs a bucket without it nothing that is kept", async () => {
  const { s3, client, counted } = await openLogged();
  const draft = { tenant: "alpha", bucket: Bucket, key: "k", body: bytesOf(pattern(10)), contentType: "", headers: {}, meta: {} };
  await putObject(s3.rig.node.objects, draft);
  await client.send(new sdk.GetObjectCommand({ Bucket, Key: "k" }));
  await s3.gateway.deliverAccessLogs(true);
  expect(await counted()).toEqual({ delivered: 0, failed: 0, dropped: 0 });
});
