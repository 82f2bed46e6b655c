import { createHmac } from "node:crypto";
import { Agent, request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storageSettings } from "../../src/storage/settings.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { hex, keyOf, mac, scopeOf, toAmzDate, uriEncode } from "./signed-fetch.ts";

const domain = "s3.example.org";
let s3: S3Rig;
// Every name is this machine's.
const agent = new Agent({ lookup: (_name, _options, answer) => answer(null, [{ address: "127.0.0.1", family: 4 }]) });
beforeAll(async () => {
  s3 = await openS3Rig({ gateway: { domain, signatureV2: true } });
});
afterAll(async () => {
  agent.destroy();
  await s3.dispose();
});
const client = (forcePathStyle: boolean) =>
  new sdk.S3Client({
    endpoint: `http://${domain}:${s3.gateway.port}`,
    region: "us-east-1",
    forcePathStyle,
    maxAttempts: 1,
    credentials: { accessKeyId: s3.keys.access_key, secretAccessKey: s3.keys.secret_key },
    requestHandler: { httpAgent: agent },
  });
const ask = (method: string, host: string, path: string, headers: Record<string, string> = {}, body?: string) =>
  new Promise<{ status: number; text: string; headers: NodeJS.Dict<string | string[]> }>((resolve, reject) => {
    request({ agent, port: s3.gateway.port, host: "127.0.0.1", method, path, headers: { host, ...headers } }, (answer) => {
      let text = "";
      answer.on("data", (piece: Buffer) => {
        text += piece.toString();
      });
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text, headers: answer.headers }));
    })
      .on("error", reject)
      .end(body);
  });
/** A URL of Version 4 for a host, by the letter of the documentation. */
const presigned = (method: string, host: string, path: string) => {
  const amzDate = toAmzDate(s3.rig.clock.now());
  const scope = scopeOf(amzDate);
  const query = Object.entries({
    "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
    "X-Amz-Credential": `${s3.keys.access_key}/${scope}`,
    "X-Amz-Date": amzDate,
    "X-Amz-Expires": "60",
    "X-Amz-SignedHeaders": "host",
  })
    .map(([k, v]) => `${uriEncode(k)}=${uriEncode(v)}`)
    .join("&");
  const canonical = [method, path, query, `host:${host}`, "", "host", "UNSIGNED-PAYLOAD"].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", amzDate, scope, hex(canonical)].join("\n");
  return `${path}?${query}&X-Amz-Signature=${mac(keyOf(s3.keys.secret_key, scope), toSign).toString("hex")}`;
};

test("a bucket below the domain is the bucket of a path: both read what the other wrote", async () => {
  const [hosted, pathed] = [client(false), client(true)];
  for (const Bucket of ["photos", "dotted.name"]) {
    await hosted.send(new sdk.CreateBucketCommand({ Bucket }));
    const keys = ["a", "a/b", "/lead", "photos/x", "ü ?&", "x//y"];
    for (const Key of keys) await hosted.send(new sdk.PutObjectCommand({ Bucket, Key, Body: `of ${Key}` }));
    const listed = await pathed.send(new sdk.ListObjectsV2Command({ Bucket }));
    expect(listed.Contents?.map((o) => o.Key)).toEqual([...keys].sort());
    for (const Key of keys) {
      const { Body } = await pathed.send(new sdk.GetObjectCommand({ Bucket, Key }));
      expect(await Body?.transformToString()).toBe(`of ${Key}`);
      const again = await hosted.send(new sdk.GetObjectCommand({ Bucket, Key }));
      expect(await again.Body?.transformToString()).toBe(`of ${Key}`);
    }
    const { UploadId } = await hosted.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key: "m x" }));
    const part = await hosted.send(new sdk.UploadPartCommand({ Bucket, Key: "m x", UploadId, PartNumber: 1, Body: "p" }));
    const MultipartUpload = { Parts: [{ ETag: part.ETag, PartNumber: 1 }] };
    const whole = await hosted.send(new sdk.CompleteMultipartUploadCommand({ Bucket, Key: "m x", UploadId, MultipartUpload }));
    expect(whole.Location).toBe(`http://${Bucket}.${domain}:${s3.gateway.port}/m%20x`);
  }
  expect((await hosted.send(new sdk.ListBucketsCommand({}))).Buckets?.map((b) => b.Name)).toEqual(["dotted.name", "photos"]);
  hosted.destroy();
  pathed.destroy();
});

test("presigned URLs of both versions are good for the host that they name, and for no other", async () => {
  const host = `photos.${domain}:${s3.gateway.port}`;
  const url = presigned("GET", host, "/a");
  expect([await ask("GET", host, url)].map(({ status, text }) => [status, text])).toEqual([[200, "of a"]]);
  for (const other of [`dotted.name.${domain}`, domain, "127.0.0.1"]) expect((await ask("GET", other, url)).status).toBe(403);
  const expires = String(Math.floor(s3.rig.clock.now() / 1000) + 60);
  const sign = (resource: string) =>
    createHmac("sha1", s3.keys.secret_key).update(`GET\n\n\n${expires}\n${resource}`).digest("base64");
  const old = (resource: string) =>
    `/a?AWSAccessKeyId=${s3.keys.access_key}&Expires=${expires}&Signature=${encodeURIComponent(sign(resource))}`;
  expect((await ask("GET", host, old("/photos/a"))).text).toBe("of a");
  expect((await ask("GET", `dotted.name.${domain}`, old("/photos/a"))).status).toBe(403);
  expect((await ask("GET", host, old("/a"))).status).toBe(403);
});

test("a host is a bucket below the domain alone, in any case and with any port", async () => {
  const code = async (host: string, path = "/a") => /<Code>(\w+)/.exec((await ask("GET", host, path)).text)?.[1];
  const policy = { Statement: [{ Effect: "Allow", Principal: "*", Action: "s3:GetObject", Resource: "arn:aws:s3:::photos/*" }] };
  await s3.client().send(new sdk.PutBucketPolicyCommand({ Bucket: "photos", Policy: JSON.stringify(policy) }));
  for (const host of [`photos.${domain}`, `PHOTOS.S3.Example.ORG:80`]) expect((await ask("GET", host, "/a")).text).toBe("of a");
  for (const host of [domain, `photos${domain}`, `photos.${domain}.evil.org`, "127.0.0.1", "localhost"])
    expect([host, (await ask("GET", host, "/photos/a")).text]).toEqual([host, "of a"]);
  expect(await code(`none.${domain}`)).toBe("AccessDenied");
  const asked = { origin: "https://a.org", "access-control-request-method": "GET" };
  expect((await ask("OPTIONS", `photos.${domain}`, "/a", asked)).text).toContain("CORS is not enabled");
});

test("the domain is a DNS name", () => {
  const read = (name: string) => storageSettings.safeParse({ s3: { domain: name } }).success;
  for (const name of ["s3.example.org", "localhost", "a-b.c"]) expect([name, read(name)]).toEqual([name, true]);
  for (const name of ["", ".org", "s3.", "S3.org", "10.0.0.1", "a..b", "s3.org:9000", "*.s3.org"])
    expect([name, read(name)]).toEqual([name, false]);
});
