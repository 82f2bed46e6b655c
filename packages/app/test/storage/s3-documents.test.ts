import { s3Operations } from "@seneschal/server-s3";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

describe("over the wire", () => {
  let s3: S3Rig;
  beforeAll(async () => {
    s3 = await openS3Rig();
    await s3.client().send(new sdk.CreateBucketCommand({ Bucket: "docs" }));
    await s3.client().send(new sdk.PutObjectCommand({ Bucket: "docs", Key: "a", Body: "a" }));
  });
  afterAll(() => s3.dispose());
  const changes = async () => (await s3.rig.store.changes(0, 100_000)).length;

  test("what is not a document of the operation is MalformedXML, and nothing has changed", async () => {
    const before = await changes();
    const object = "<Object><Key>a</Key></Object>";
    for (const [method, path, query, body] of [
      ["POST", "/docs", { delete: "" }, `<Delete>${object}<Quiet>maybe</Quiet></Delete>`],
      ["POST", "/docs", { delete: "" }, "<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>"],
      ["POST", "/docs", { delete: "" }, `<Delete xmlns="urn:x">${object}</Delete>`],
      ["POST", "/docs", { delete: "" }, `<Delete>text${object}</Delete>`],
      ["POST", "/docs", { delete: "" }, `<Delete><Object><Key>a<b/></Key></Object></Delete>`],
      [
        "PUT",
        "/docs",
        { versioning: "" },
        "<VersioningConfiguration><Status>Enabled</Status><Status>Suspended</Status></VersioningConfiguration>",
      ],
      ["PUT", "/new", {}, "<Nothing/>"],
    ] as const) {
      const answer = await signedFetch(s3, { method, path, query, body: Buffer.from(body) });
      expect([body, answer.status, answer.text]).toEqual([body, 400, expect.stringContaining("<Code>MalformedXML<")]);
    }
    const bytes = Buffer.concat([
      Buffer.from("<Delete><Object><Key>a"),
      Buffer.from([0xff]),
      Buffer.from("</Key></Object></Delete>"),
    ]);
    expect((await signedFetch(s3, { method: "POST", path: "/docs", query: { delete: "" }, body: bytes })).status).toBe(400);
    expect(await changes()).toBe(before);
  });

  test("no text that a store cannot keep is an error of the service, in any parameter of any operation", async () => {
    const values: Record<string, string> = { "list-type": "2", partNumber: "1", uploadId: "x" };
    const odd = { nul: "%00", surrogate: "%ED%A0%80", bytes: "%FF", inside: "a%00b" };
    // Signed apart: a client that speaks to a store of its own would never send these.
    const before = await changes();
    for (const { name, on, method, asks = [], query: more = [], form } of s3Operations) {
      if (form === true) continue;
      const path = { service: "/", bucket: "/docs", object: "/docs/a" }[on];
      const headers: Record<string, string> = asks.includes("x-amz-copy-source") ? { "x-amz-copy-source": "docs/a" } : {};
      const asked = Object.fromEntries(asks.filter((a) => !a.startsWith("x-amz")).map((a) => [a, values[a] ?? ""]));
      for (const parameter of [...more, ...Object.keys(asked)]) {
        const nul = await signedFetch(s3, { method, path, query: { ...asked, [parameter]: "a\0b" }, headers });
        expect([name, parameter, nul.status, method === "HEAD" || nul.text]).toEqual([
          name,
          parameter,
          400,
          method === "HEAD" || expect.stringContaining("<Code>InvalidArgument<"),
        ]);
        for (const [kind, value] of Object.entries(odd).slice(1)) {
          const reply = await fetch(`${s3.gateway.url}${path}?${parameter}=${value}`, { method });
          expect([name, kind, Math.floor(reply.status / 100)]).toEqual([name, kind, 4]);
        }
      }
    }
    const token = Buffer.from("k:a\0b").toString("base64url");
    const query = { "list-type": "2", "continuation-token": token };
    expect((await signedFetch(s3, { path: "/docs", query })).status).toBe(400);
    for (const source of ["docs/a%00b", "docs%00/a", "docs/a?versionId=%00"])
      expect(
        (await signedFetch(s3, { method: "PUT", path: "/docs/b", headers: { "x-amz-copy-source": source } })).status,
      ).toBeLessThan(500);
    for (const path of ["/docs/a%00b", "/do%00cs", "/do%00cs/a"])
      expect((await signedFetch(s3, { path })).status).toBeLessThan(500);
    for (const [tags, code] of [
      ...["=", "=1", "a=1&a=2", "a%", "a=%C3"].map((text) => [text, "InvalidArgument"]),
      ...["a=%00", "a?=1", "a=b!", "a=%0A", "aws:a=1"].map((text) => [text, "InvalidTag"]),
    ] as const) {
      const refused = await signedFetch(s3, { method: "PUT", path: "/docs/b", headers: { "x-amz-tagging": tags as string } });
      expect([tags, refused.status, /<Code>(.*)<\/Code>/.exec(refused.text)?.[1]]).toEqual([tags, 400, code]);
    }
    expect(await changes()).toBe(before);
  });

  test("an empty bucket name, two signatures, a number with zeros and bytes behind the last chunk are refused", async () => {
    const before = await changes();
    for (const path of ["//docs/a", "//", "///a"]) expect([path, (await signedFetch(s3, { path })).status]).toEqual([path, 400]);
    const both = await signedFetch(s3, { path: "/docs/a", query: { "X-Amz-Algorithm": "AWS4-HMAC-SHA256" } });
    expect([both.status, both.text]).toEqual([400, expect.stringContaining("Only one auth mechanism")]);
    expect((await signedFetch(s3, { path: "/docs/a", query: { partNumber: "01" } })).status).toBe(400);
    const chunked = (body: string) =>
      signedFetch(s3, {
        method: "PUT",
        path: "/docs/chunked",
        body: Buffer.from(body),
        payloadHash: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        headers: { "x-amz-decoded-content-length": "3", "content-encoding": "aws-chunked" },
      });
    for (const tail of ["x", "0\r\n\r\n", "\r\n", "3\r\nabc\r\n0\r\n\r\n"])
      expect([tail, (await chunked(`3\r\nabc\r\n0\r\n\r\n${tail}`)).status]).toEqual([tail, 400]);
    expect(await changes()).toBe(before);
    expect((await chunked("3\r\nabc\r\n0\r\n\r\n")).status).toBe(200);
  });

  test("a listing says control characters of keys escaped where that is asked for, else by reference", async () => {
    await signedFetch(s3, { method: "PUT", path: "/docs/ctl%01%0Akey", body: Buffer.from("x") });
    for (const query of [{}, { "list-type": "2" }, { versions: "" }]) {
      const listed = (more: object) => signedFetch(s3, { path: "/docs", query: { ...query, prefix: "ctl", ...more } });
      expect((await listed({})).text).toContain("<Key>ctl&#x1;&#xa;key</Key>");
      expect((await listed({ "encoding-type": "url" })).text).toContain("<Key>ctl%01%0Akey</Key>");
    }
  });
});
