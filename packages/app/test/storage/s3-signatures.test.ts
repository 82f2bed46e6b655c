import { createHash } from "node:crypto";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checksumOf } from "./checksum-of.ts";
import { pattern } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { type Draft, hex, keyOf, mac, scopeOf, signedFetch, toAmzDate, uriEncode } from "./signed-fetch.ts";

let s3: S3Rig;
beforeAll(async () => {
  s3 = await openS3Rig();
  await s3.client().send(new sdk.CreateBucketCommand({ Bucket: "sig" }));
});
afterAll(() => s3.dispose());

const send = (draft: Draft) => signedFetch(s3, draft);

const codeOf = (text: string) => /<Code>(\w+)<\/Code>/.exec(text)?.[1];
const refusal = async (draft: Draft) => {
  const { status, text } = await send(draft);
  return [status, codeOf(text)];
};

describe("Signature Version 4", () => {
  test("a request signed by the letter is accepted, whatever the region of its scope", async () => {
    expect((await send({ path: "/" })).status).toBe(200);
  });
  test("a header that is sent twice is signed as one, joined by a comma", async () => {
    let signed: { url: string; headers: Record<string, string> } | undefined;
    const draft = { method: "PUT", path: "/sig/twice", headers: { "x-amz-meta-twice": "a,b" } };
    await send({
      ...draft,
      tamper(r) {
        signed = { url: r.url, headers: { ...r.headers } };
      },
    });
    const headers = { ...signed?.headers, "x-amz-meta-twice": ["a", "b"], "content-length": "0" };
    const status = await new Promise((resolve, reject) => {
      const sent = request(signed?.url ?? "", { method: "PUT", headers }, (reply) => resolve(reply.resume().statusCode));
      sent.on("error", reject).end();
    });
    expect(status).toBe(200);
  });
  test("every way to be unsigned or wrongly signed is a 403 by its name, and nothing happens", async () => {
    expect(await fetch(`${s3.gateway.url}/sig`).then(async (r) => [r.status, codeOf(await r.text())])).toEqual([
      403,
      "AccessDenied",
    ]);
    expect(await refusal({ path: "/", keys: { ...s3.keys, access_key: "SNUNKNOWN" } })).toEqual([403, "InvalidAccessKeyId"]);
    expect(await refusal({ path: "/", keys: { ...s3.keys, secret_key: "wrong" } })).toEqual([403, "SignatureDoesNotMatch"]);
    expect(await refusal({ path: "/", at: s3.rig.clock.now() - 16 * 60_000 })).toEqual([403, "RequestTimeTooSkewed"]);
    expect(await refusal({ path: "/", at: s3.rig.clock.now() + 16 * 60_000 })).toEqual([403, "RequestTimeTooSkewed"]);
    const put = { method: "PUT", path: "/sig/forged", body: Buffer.from("x") };
    expect(
      await refusal({
        ...put,
        tamper: (r) => {
          r.url = r.url.replace("forged", "other");
        },
      }),
    ).toEqual([403, "SignatureDoesNotMatch"]);
    expect(
      await refusal({
        ...put,
        tamper: (r) => {
          r.url += "?acl=";
        },
      }),
    ).toEqual([403, "SignatureDoesNotMatch"]);
    expect(
      await refusal({
        ...put,
        tamper: (r) => {
          r.headers["x-amz-meta-a"] = "1";
        },
      }),
    ).toEqual([403, "AccessDenied"]);
    expect(
      await refusal({
        ...put,
        tamper: (r) => {
          r.body = Buffer.from("y");
        },
      }),
    ).toEqual([400, "XAmzContentSHA256Mismatch"]);
    expect(
      await refusal({
        ...put,
        headers: { "x-amz-meta-a": "1" },
        tamper: (r) => {
          r.headers["x-amz-meta-a"] = "2";
        },
      }),
    ).toEqual([403, "SignatureDoesNotMatch"]);
    expect(await refusal({ path: "/sig/forged" })).toEqual([404, "NoSuchKey"]);
    expect(s3.rig.node.events.query({ since: 0, category: "security", limit: 50 }).length).toBeGreaterThan(0);
  });
  test("a malformed authorization is refused in the words of S3, before any key is looked up", async () => {
    const scope = scopeOf(toAmzDate(s3.rig.clock.now()));
    const [date = ""] = scope.split("/");
    const signed = "SignedHeaders=host, Signature=00";
    const with256 = (credential: string, rest = signed) => `AWS4-HMAC-SHA256 Credential=${credential}, ${rest}`;
    const said = async (authorization: string, headers: Record<string, string> = {}) => {
      const { status, text } = await send({ path: "/", tamper: (r) => Object.assign(r.headers, { authorization, ...headers }) });
      const message = /<Message>(.*?)<\/Message>/s
        .exec(text)?.[1]
        ?.replace(/&(quot|apos|lt|gt);/g, (_, name: string) => ({ quot: '"', apos: "'", lt: "<", gt: ">" })[name] ?? "");
      return `${status} ${codeOf(text)}: ${message?.replace("The authorization header is malformed; ", "")}`;
    };
    const malformed = "400 AuthorizationHeaderMalformed:";
    const valid = with256(`A/${scope}`);
    expect(await said("nonsense")).toBe(
      "400 InvalidArgument: Authorization header is invalid -- one and only one ' ' (space) required.",
    );
    expect(await said("AWS key:signature")).toBe(
      "400 InvalidRequest: The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256.",
    );
    expect(await said("Bearer token")).toBe("400 InvalidArgument: Unsupported Authorization Type");
    expect(await said(with256(`A/${scope}`, "SignedHeaders-host, Signature=00"))).toBe(
      `${malformed} the authorization component "SignedHeaders-host" is malformed.`,
    );
    expect(await said(with256(`A/${scope}`, "Signature=00"))).toBe(
      `${malformed} the authorization header requires three components: Credential, SignedHeaders, and Signature.`,
    );
    expect(await said(with256(`A/${scope}`, "SignedHeader=host, Signature=00"))).toBe(`${malformed} missing SignedHeaders.`);
    expect(await said(with256("A/x"))).toBe(
      `${malformed} the Credential is mal-formed; expecting "<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request".`,
    );
    expect(await said(with256(`A/${date}/r/ec2/aws4_request`))).toBe(
      `${malformed} incorrect service "ec2". This endpoint belongs to "s3".`,
    );
    expect(await said(with256(`A/${date}/r/s3/aws5`))).toBe(
      `${malformed} incorrect terminal "aws5". This endpoint uses "aws4_request".`,
    );
    expect(await said(with256("A/32/r/s3/aws4_request"))).toBe(
      `${malformed} incorrect date format "32". This date in the credential must be in the format "yyyyMMdd".`,
    );
    expect(await said(with256("A/20010101/r/s3/aws4_request"))).toBe(
      `${malformed} Invalid credential date. Date is not the same as X-Amz-Date.`,
    );
    expect(await said(valid, { "x-amz-date": "yesterday" })).toBe(
      "403 AccessDenied: AWS authentication requires a valid Date or x-amz-date header.",
    );
    for (const hash of ["abc", "UNSIGNED", "STREAMING-PLAIN"])
      expect(await said(valid, { "x-amz-content-sha256": hash })).toMatch(/^400 InvalidArgument: x-amz-content-sha256 must be/);
    expect(await said(valid)).toMatch("403 AccessDenied: There were headers present in the request which were not signed");
    const unknown = await send({ path: "/", keys: { ...s3.keys, access_key: "SNUNKNOWN" } });
    expect(unknown.text).toContain("<AWSAccessKeyId>SNUNKNOWN</AWSAccessKeyId>");
  });
  test("refusals of one kind make one security event in ten seconds", async () => {
    const count = () => s3.rig.node.events.query({ since: 0, category: "security", limit: 1000 }).length;
    await refusal({ path: "/", keys: { ...s3.keys, secret_key: "wrong" } });
    const before = count();
    for (let i = 0; i < 20; i++) await refusal({ path: "/", keys: { ...s3.keys, secret_key: "wrong" } });
    expect(count()).toBe(before);
  });
  test("a revoked key is refused at once", async () => {
    const keys = await s3.credentials.create("alpha", { id: "t", source: "t" });
    expect((await send({ path: "/", keys })).status).toBe(200);
    await s3.credentials.revoke(keys.access_key, { id: "t", source: "t" });
    expect(await refusal({ path: "/", keys })).toEqual([403, "InvalidAccessKeyId"]);
  });
  test("Content-MD5 that does not fit is BadDigest; one that is no MD5 is InvalidDigest", async () => {
    const body = Buffer.from("hello");
    const md5 = createHash("md5").update("other").digest("base64");
    expect(await refusal({ method: "PUT", path: "/sig/md5", body, headers: { "content-md5": md5 } })).toEqual([400, "BadDigest"]);
    expect(await refusal({ method: "PUT", path: "/sig/md5", body, headers: { "content-md5": "AAAA" } })).toEqual([
      400,
      "InvalidDigest",
    ]);
    expect(await refusal({ method: "PUT", path: "/sig/md5", body, headers: { "x-amz-checksum-crc32": "AAAAAA==" } })).toEqual([
      400,
      "BadDigest",
    ]);
    expect(await refusal({ path: "/sig/md5" })).toEqual([404, "NoSuchKey"]);
  });
  test("what is not built is refused by name, not ignored", async () => {
    for (const headers of [{ "x-amz-write-offset-bytes": "4" }, { "x-amz-server-side-encryption-context": "e30=" }])
      expect(await refusal({ method: "PUT", path: "/sig/x", body: Buffer.from("x"), headers })).toEqual([501, "NotImplemented"]);
    expect(await refusal({ path: "/sig", query: { metrics: "" } })).toEqual([501, "NotImplemented"]);
    expect(await refusal({ path: "/sig", query: { policy: "" } })).toEqual([404, "NoSuchBucketPolicy"]);
    expect(await refusal({ method: "POST", path: "/sig/x" })).toEqual([405, "MethodNotAllowed"]);
  });
});

describe("presigned requests", () => {
  const presign = (expires: string, at = s3.rig.clock.now(), extra: Record<string, string> = {}) => {
    const amzDate = toAmzDate(at);
    const scope = scopeOf(amzDate);
    const query: Record<string, string> = {
      "X-Amz-Algorithm": "AWS4-HMAC-SHA256",
      "X-Amz-Credential": `${s3.keys.access_key}/${scope}`,
      "X-Amz-Date": amzDate,
      "X-Amz-Expires": expires,
      "X-Amz-SignedHeaders": "host",
      ...extra,
    };
    const text = Object.entries(query)
      .map(([k, v]) => `${uriEncode(k)}=${uriEncode(v)}`)
      .sort()
      .join("&");
    const canonical = ["GET", "/sig", text, `host:${new URL(s3.gateway.url).host}`, "", "host", "UNSIGNED-PAYLOAD"].join("\n");
    const signature = mac(
      keyOf(s3.keys.secret_key, scope),
      ["AWS4-HMAC-SHA256", amzDate, scope, hex(canonical)].join("\n"),
    ).toString("hex");
    return `${s3.gateway.url}/sig?${text}&X-Amz-Signature=${signature}`;
  };
  const fetched = async (url: string) => {
    const reply = await fetch(url);
    return [reply.status, codeOf(await reply.text())];
  };
  test("a fresh one is served, also when it is older than the skew; expired, altered and too long ones are not", async () => {
    expect(await fetched(presign("60"))).toEqual([200, undefined]);
    expect(await fetched(presign("7200", s3.rig.clock.now() - 3_600_000))).toEqual([200, undefined]);
    expect(await fetched(presign("60", s3.rig.clock.now() - 61_000))).toEqual([403, "AccessDenied"]);
    expect(await fetched(`${presign("60")}0`)).toEqual([403, "SignatureDoesNotMatch"]);
    expect(await fetched(presign("60").replace("Expires=60", "Expires=600"))).toEqual([403, "SignatureDoesNotMatch"]);
    for (const seconds of ["604801", "0", "-1", "1.5", "soon"])
      expect(await fetched(presign(seconds))).toEqual([400, "AuthorizationQueryParametersError"]);
    for (const name of ["Algorithm", "Credential", "Date", "Expires", "SignedHeaders", "Signature"]) {
      const without = presign("60").replace(new RegExp(`X-Amz-${name}=[^&]*`), "");
      const refused = name === "Algorithm" ? [403, "AccessDenied"] : [400, "AuthorizationQueryParametersError"];
      expect(await fetched(without), name).toEqual(refused);
    }
    expect(await fetched(`${presign("60")}&X-Amz-Security-Token=t`)).toEqual([400, "InvalidToken"]);
    expect(await fetched(`${presign("60")}&X-Amz-Content-Sha256=abc`)).toEqual([400, "InvalidArgument"]);
    expect(await fetched(`${s3.gateway.url}/sig?AWSAccessKeyId=a&Expires=1&Signature=s`)).toEqual([400, "InvalidRequest"]);
    expect(await fetched(presign("60", s3.rig.clock.now() + 3_600_000))).toEqual([403, "RequestTimeTooSkewed"]);
  });
});

describe("aws-chunked payloads", () => {
  const data = Buffer.from(pattern(150_000, 4));
  /** The framing of the AWS documentation, with the chain of chunk signatures. */
  async function chunked(
    path: string,
    form: string,
    options: { readonly trailer?: string; readonly spoil?: (framed: Buffer) => Buffer } = {},
  ) {
    const at = s3.rig.clock.now();
    const amzDate = toAmzDate(at);
    const scope = scopeOf(amzDate);
    const headers: Record<string, string> = {
      "content-encoding": "aws-chunked",
      "x-amz-decoded-content-length": String(data.length),
      ...(options.trailer && { "x-amz-trailer": "x-amz-checksum-crc32c" }),
    };
    // The seed signature is needed for the chunks: sign once without sending, by sending to a path that does not matter.
    return send({
      method: "PUT",
      path,
      at,
      headers,
      payloadHash: form,
      body: Buffer.alloc(1),
      tamper(request) {
        let previous = /Signature=(\w+)/.exec(request.headers["authorization"] ?? "")?.[1] ?? "";
        const key = keyOf(s3.keys.secret_key, scope);
        const signed = form.startsWith("STREAMING-AWS4");
        const pieces: Buffer[] = [];
        for (const chunk of [data.subarray(0, 65_536), data.subarray(65_536, 131_072), data.subarray(131_072), Buffer.alloc(0)]) {
          previous = mac(key, ["AWS4-HMAC-SHA256-PAYLOAD", amzDate, scope, previous, hex(""), hex(chunk)].join("\n")).toString(
            "hex",
          );
          pieces.push(Buffer.from(`${chunk.length.toString(16)}${signed ? `;chunk-signature=${previous}` : ""}\r\n`), chunk);
          if (chunk.length > 0) pieces.push(Buffer.from("\r\n"));
        }
        if (options.trailer !== undefined) {
          const line = `x-amz-checksum-crc32c:${options.trailer}`;
          pieces.push(Buffer.from(`${line}\r\n`));
          if (signed) {
            const signature = mac(
              key,
              ["AWS4-HMAC-SHA256-TRAILER", amzDate, scope, previous, hex(`${line}\n`)].join("\n"),
            ).toString("hex");
            pieces.push(Buffer.from(`x-amz-trailer-signature:${signature}\r\n`));
          }
        }
        pieces.push(Buffer.from("\r\n"));
        const framed = Buffer.concat(pieces);
        request.body = options.spoil?.(framed) ?? framed;
      },
    });
  }
  const sum = () => checksumOf("crc32c", data);
  const stored = async (path: string) =>
    Buffer.from(
      await s3
        .client()
        .send(new sdk.GetObjectCommand({ Bucket: "sig", Key: path }))
        .then((r) => r.Body!.transformToByteArray()),
    );

  test("signed chunks, signed chunks with a trailer, and an unsigned payload with a trailer are decoded", async () => {
    expect((await chunked("/sig/c1", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD")).status).toBe(200);
    expect((await chunked("/sig/c2", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", { trailer: await sum() })).status).toBe(200);
    expect((await chunked("/sig/c3", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", { trailer: await sum() })).status).toBe(200);
    for (const key of ["c1", "c2", "c3"]) expect((await stored(key)).equals(data)).toBe(true);
  });
  test("only the last chunk is smaller than 8 KiB, a document comes in none, and a length is a number", async () => {
    const form = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
    const code = async (answer: ReturnType<typeof chunked>) => /<Code>(.*)<\/Code>/.exec((await answer).text)?.[1];
    const small = () => Buffer.from(`5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n`);
    expect(await code(chunked("/sig/small", form, { spoil: small }))).toBe("InvalidChunkSizeError");
    expect(await refusal({ path: "/sig/small" })).toEqual([404, "NoSuchKey"]);
    const stream = { payloadHash: form, headers: { "x-amz-decoded-content-length": "5" }, body: Buffer.alloc(1) };
    expect(await refusal({ method: "PUT", path: "/sig", query: { tagging: "" }, ...stream })).toEqual([400, "InvalidRequest"]);
    const headers = { "x-amz-decoded-content-length": "12x" };
    expect(await refusal({ method: "PUT", path: "/sig/small", headers, body: Buffer.from("x") })).toEqual([
      ...[411, "MissingContentLength"],
    ]);
  });
  test("an altered byte, a swapped chunk, a cut end, a wrong or missing trailer make no object", async () => {
    const flip = (at: number) => (framed: Buffer) => {
      framed[at]! ^= 1;
      return framed;
    };
    const form = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
    const outcomes = [
      await chunked("/sig/bad", form, { spoil: flip(100_000) }),
      await chunked("/sig/bad", form, { spoil: flip(20) }),
      await chunked("/sig/bad", form, { spoil: (framed) => framed.subarray(0, framed.length - 90) }),
      await chunked("/sig/bad", form, {
        spoil: (framed) => Buffer.concat([framed.subarray(65_630), framed.subarray(0, 65_630)]),
      }),
      await chunked("/sig/bad", `${form}-TRAILER`, { trailer: "AAAAAA==" }),
      await chunked("/sig/bad", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", { trailer: "AAAAAA==" }),
      await chunked("/sig/bad", "STREAMING-UNSIGNED-PAYLOAD"),
    ];
    expect(outcomes.every((o) => o.status >= 400 && o.status <= 501)).toBe(true);
    expect(await refusal({ path: "/sig/bad" })).toEqual([404, "NoSuchKey"]);
  });
});

test("a policy in the place of the shipped one decides what signed requests may", async () => {
  const policy = 'package storage.authz\n\nallow if input.action == "objects:read"\n\nreason := "reading only"\n';
  const own = await openS3Rig({ policy });
  const client = own.client();
  expect((await client.send(new sdk.ListBucketsCommand({}))).Buckets ?? []).toEqual([]);
  const refused = client.send(new sdk.CreateBucketCommand({ Bucket: "shelf" }));
  await expect(refused).rejects.toMatchObject({ name: "AccessDenied", message: "reading only" });
  await own.dispose();
});
