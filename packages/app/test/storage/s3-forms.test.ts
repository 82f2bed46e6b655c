import { createHmac } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pattern } from "./rig.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { keyOf, mac, scopeOf, signedFetch, toAmzDate } from "./signed-fetch.ts";

let s3: S3Rig;
let old: S3Rig;
const Bucket = "forms";
beforeAll(async () => {
  s3 = await openS3Rig();
  old = await openS3Rig({ gateway: { signatureV2: true } });
  for (const rig of [s3, old]) await rig.client().send(new sdk.CreateBucketCommand({ Bucket }));
});
afterAll(async () => {
  await s3.dispose();
  await old.dispose();
});

interface Form {
  readonly fields?: Record<string, string>;
  readonly conditions?: readonly unknown[];
  readonly expiration?: string;
  readonly file?: Uint8Array;
  readonly tamper?: (fields: Record<string, string>) => void;
}
const conditionsOf = (fields: Record<string, string>) => [
  { bucket: Bucket },
  ...Object.keys(fields).map((name) => ["starts-with", `$${name}`, ""]),
];
/** A form signed by the letter of the S3 documentation. */
async function post(
  { fields = { key: "k" }, conditions, expiration, file = Buffer.from("body"), tamper }: Form,
  v2 = false,
  rig = s3,
) {
  const at = rig.rig.clock.now();
  const scope = scopeOf(toAmzDate(at));
  const own: Record<string, string> = v2
    ? { AWSAccessKeyId: rig.keys.access_key }
    : {
        "x-amz-algorithm": "AWS4-HMAC-SHA256",
        "x-amz-credential": `${rig.keys.access_key}/${scope}`,
        "x-amz-date": toAmzDate(at),
      };
  const all = v2 ? fields : { ...fields, ...own };
  const document = { expiration: expiration ?? new Date(at + 60_000).toISOString(), conditions: conditions ?? conditionsOf(all) };
  const policy = Buffer.from(JSON.stringify(document)).toString("base64");
  const signature = v2
    ? createHmac("sha1", rig.keys.secret_key).update(policy).digest("base64")
    : mac(keyOf(rig.keys.secret_key, scope), policy).toString("hex");
  const sent: Record<string, string> = { ...fields, ...own, policy, [v2 ? "signature" : "x-amz-signature"]: signature };
  tamper?.(sent);
  const form = new FormData();
  for (const [name, value] of Object.entries(sent)) form.append(name, value);
  form.append("file", new Blob([file as never]), "photo.jpg");
  const reply = await fetch(`${rig.gateway.url}/${Bucket}`, { method: "POST", body: form, redirect: "manual" });
  return { status: reply.status, text: await reply.text(), headers: reply.headers };
}

describe("an upload by a form", () => {
  test("is stored as its fields say, whatever bytes it has, and answered as they ask", async () => {
    const body = Buffer.from(pattern(5_000_000, 4));
    body.write("\r\n------", 1000);
    const fields = {
      key: `dir/\${filename}`,
      "Content-Type": "image/jpeg",
      "x-amz-meta-colour": "blue",
      success_action_status: "201",
    };
    const reply = await post({ fields, file: body });
    expect([reply.status, reply.text]).toEqual([201, expect.stringContaining("<Key>dir/photo.jpg</Key>")]);
    const got = await s3.client().send(new sdk.GetObjectCommand({ Bucket, Key: "dir/photo.jpg" }));
    expect(Buffer.from((await got.Body?.transformToByteArray()) ?? []).equals(body)).toBe(true);
    expect([got.ContentType, got.Metadata]).toEqual(["image/jpeg", { colour: "blue" }]);
    expect((await post({ fields: { key: "e" }, file: Buffer.alloc(0) })).status).toBe(204);
    const to = await post({ fields: { key: "r", success_action_redirect: "http://example.org/done?x=1" } });
    expect([to.status, to.headers.get("location")]).toEqual([
      303,
      expect.stringMatching(/^http:\/\/example.org\/done\?x=1&bucket=forms&key=r&etag=/),
    ]);
  });

  test("that is not as its policy says is refused, and nothing is stored", async () => {
    const denied: readonly (readonly [Form, number])[] = [
      [{ tamper: (f) => Object.assign(f, { key: "other", policy: f["policy"]?.replace(/.$/, "A") }) }, 403],
      [{ tamper: (f) => Object.assign(f, { "x-amz-meta-more": "1" }) }, 403],
      [{ conditions: [{ bucket: "another" }, ["starts-with", "$key", ""]] }, 403],
      [{ conditions: [["starts-with", "$key", ""]] }, 403],
      [{ fields: { key: "k" }, conditions: [{ bucket: Bucket }, { key: "another" }] }, 403],
      [{ expiration: new Date(0).toISOString() }, 403],
      [{ expiration: "tomorrow" }, 400],
      [{ tamper: (f) => delete f["x-amz-signature"] }, 400],
      [{ tamper: (f) => delete f["policy"] }, 400],
      [
        {
          tamper: (f) => {
            for (const n of ["policy", "x-amz-signature", "x-amz-credential"]) delete f[n];
          },
        },
        403,
      ],
      [{ fields: { key: "k", frobnicate: "1" } }, 501],
      [{ fields: { key: "k", acl: "public-read" } }, 400],
      [{ fields: {} }, 400],
    ];
    for (const [i, [form, status]] of denied.entries()) expect([i, (await post(form)).status]).toEqual([i, status]);
    const range = (min: number, max: number) =>
      post({
        conditions: [
          ...conditionsOf({ key: "", "x-amz-algorithm": "", "x-amz-credential": "", "x-amz-date": "" }),
          ["content-length-range", min, max],
        ],
      });
    expect([(await range(0, 3)).status, (await range(5, 9)).status]).toEqual([400, 400]);
    for (const Key of ["k", "other"])
      await expect(s3.client().send(new sdk.HeadObjectCommand({ Bucket, Key }))).rejects.toMatchObject({ name: "NotFound" });
    expect((await range(4, 4)).status).toBe(204);
  });
});

describe("what an object says of itself", () => {
  /** Bytes of a header as the texts of a form say them. */
  const bytesOf = (text: string) => Buffer.from(text.replace(/\r\n|\r|\n/g, "\r\n")).toString("latin1");
  const texts = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 12 }),
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.constantFrom("a\r\nX-Evil: 1", "\u007f", "\u65e5", "\u00e4", "a\tb", ""),
  );
  const names = ["Content-Type", "Cache-Control", "Content-Disposition", "Content-Language", "Expires", "x-amz-meta-a"] as const;

  test("by a form is refused by its name or given back byte for byte, whatever the text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...names), texts, async (name, text) => {
        fc.pre(!/\p{Surrogate}/u.test(text));
        const key = "described";
        const reply = await post({ fields: { key, [name]: text } });
        if (reply.status === 400) {
          expect(reply.text).toContain(name.toLowerCase());
          return;
        }
        expect(reply.status).toBe(204);
        const got = await signedFetch(s3, { path: `/${Bucket}/${key}` });
        expect(got.status).toBe(200);
        // Header fields are read without what stands around them.
        expect((got.headers.get(name) ?? "").trim()).toBe(bytesOf(text).trim());
      }),
      { numRuns: 60 },
    );
  });

  test("by a form under a name that no header has is refused", async () => {
    for (const name of ["x-amz-meta-a b", "x-amz-meta-\u65e5", "x-amz-meta-"])
      expect([name, (await post({ fields: { key: "named", [name]: "1" } })).status]).toEqual([name, 400]);
  });

  test("a reader may replace by what a header can say, and is refused anything else by name", async () => {
    expect((await post({ fields: { key: "read" } })).status).toBe(204);
    const replaced = ["content-type", "content-language", "expires", "cache-control", "content-disposition", "content-encoding"];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...replaced), texts, async (name, text) => {
        fc.pre(!/\p{Surrogate}/u.test(text));
        const parameter = `response-${name}`;
        const got = await signedFetch(s3, { path: `/${Bucket}/read`, query: { [parameter]: text } });
        if (got.status === 400) expect(got.text).toContain(parameter);
        else expect([got.status, (got.headers.get(name) ?? "").trim()]).toEqual([200, text.trim()]);
      }),
      { numRuns: 60 },
    );
  });
});

describe("Signature Version 2", () => {
  const header = (rig: S3Rig, method: string, path: string, body?: string) => {
    const date = new Date(rig.rig.clock.now()).toUTCString();
    const [resource = ""] = path.split(/[&]/);
    const signature = createHmac("sha1", rig.keys.secret_key)
      .update(`${method}\n\n${body === undefined ? "" : "text/plain"}\n${date}\n${resource}`)
      .digest("base64");
    return fetch(`${rig.gateway.url}${path}`, {
      method,
      headers: {
        date,
        authorization: `AWS ${rig.keys.access_key}:${signature}`,
        ...(body !== undefined && { "content-type": "text/plain" }),
      },
      ...(body !== undefined && { body }),
    });
  };
  test("is refused unless the setting takes it, in header, URL and form", async () => {
    expect((await header(s3, "PUT", `/${Bucket}/v2`, "x")).status).toBe(400);
    expect((await fetch(`${s3.gateway.url}/${Bucket}/v2?AWSAccessKeyId=a&Signature=b&Expires=9999999999`)).status).toBe(400);
    expect((await post({}, true)).status).toBe(400);
    expect((await header(old, "PUT", `/${Bucket}/v2`, "x")).status).toBe(200);
    expect((await post({}, true, old)).status).toBe(204);
  });
  test("opens a URL until its time, and no other", async () => {
    const expires = Math.floor(old.rig.clock.now() / 1000) + 60;
    const url = (path: string, at: number, method = "GET") =>
      `${old.gateway.url}${path}?AWSAccessKeyId=${old.keys.access_key}&Expires=${at}&Signature=${encodeURIComponent(
        createHmac("sha1", old.keys.secret_key).update(`${method}\n\n\n${at}\n${path}`).digest("base64"),
      )}`;
    const good = url(`/${Bucket}/v2`, expires);
    expect(await (await fetch(good)).text()).toBe("x");
    for (const bad of [good.replace("/v2", "/k"), good.replace(String(expires), String(expires + 1)), url(`/${Bucket}/v2`, 1)])
      expect((await fetch(bad)).status).toBe(403);
    expect((await fetch(good, { method: "DELETE" })).status).toBe(403);
  });
  test("covers what a request asks for: a name that it does not cover is refused", async () => {
    for (const extra of [
      "retention",
      "legal-hold",
      "encryption",
      "publicAccessBlock",
      "attributes",
      "x-amz-acl=public-read",
      "foo",
    ])
      expect([extra, (await header(old, "GET", `/${Bucket}/v2?acl&${extra}`)).status]).toEqual([extra, 403]);
  });
});
