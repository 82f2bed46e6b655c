import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storageSettings } from "../../src/storage/settings.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

const domain = "web.example.org";
const Bucket = "site";
let s3: S3Rig;
beforeAll(async () => {
  s3 = await openS3Rig({ gateway: { websiteDomain: domain, domain: "s3.example.org" } });
  for (const name of [Bucket, "plain", "moved"]) await s3.client().send(new sdk.CreateBucketCommand({ Bucket: name }));
});
afterAll(() => s3.dispose());

const ask = (path: string, { host = `${Bucket}.${domain}`, method = "GET", headers = {} as Record<string, string> } = {}) =>
  new Promise<{
    status: number;
    text: string;
    type: string | undefined;
    location: string | undefined;
    headers: NodeJS.Dict<string | string[]>;
  }>((resolve, reject) => {
    request({ port: s3.gateway.port, host: "127.0.0.1", method, path, headers: { host, ...headers } }, (answer) => {
      let text = "";
      answer.on("data", (piece: Buffer) => {
        text += piece.toString();
      });
      answer.on("end", () =>
        resolve({
          status: answer.statusCode ?? 0,
          text,
          headers: answer.headers,
          type: answer.headers["content-type"],
          location: answer.headers.location,
        }),
      );
    })
      .on("error", reject)
      .end();
  });
const put = (Key: string, Body: string, ContentType = "text/html") =>
  s3.client().send(new sdk.PutObjectCommand({ Bucket, Key, Body, ContentType }));
const configure = (WebsiteConfiguration: object, name = Bucket) =>
  s3.client().send(new sdk.PutBucketWebsiteCommand({ Bucket: name, WebsiteConfiguration }));
const policy = (...actions: readonly string[]) =>
  s3.client().send(
    new sdk.PutBucketPolicyCommand({
      Bucket,
      Policy: JSON.stringify({
        Version: "2012-10-17",
        Statement: actions.map((Action) => ({
          Effect: "Allow",
          Principal: "*",
          Action: `s3:${Action}`,
          Resource: Action === "ListBucket" ? `arn:aws:s3:::${Bucket}` : `arn:aws:s3:::${Bucket}/*`,
        })),
      }),
    }),
  );
const site = { IndexDocument: { Suffix: "index.html" }, ErrorDocument: { Key: "error.html" } };

describe("a website of a bucket", () => {
  beforeAll(async () => {
    await put("index.html", "<h1>home</h1>");
    await put("docs/index.html", "<h1>docs</h1>");
    await put("a b/ü.txt", "text", "text/plain");
    await put("error.html", "<h1>oops</h1>");
    await configure(site);
    await policy("GetObject");
  });

  test("gives pages to everybody: the index document of each directory, types, ranges and conditions", async () => {
    for (const [path, text, type] of [
      ["/", "<h1>home</h1>", "text/html"],
      ["/index.html", "<h1>home</h1>", "text/html"],
      ["/docs/", "<h1>docs</h1>", "text/html"],
      ["/a%20b/%C3%BC.txt", "text", "text/plain"],
      ["/?versionId=nope&acl&delete", "<h1>home</h1>", "text/html"],
    ])
      expect([path, await ask(path as string)]).toMatchObject([path, { status: 200, text, type }]);
    expect(await ask("/docs")).toMatchObject({ status: 302, location: `http://${Bucket}.${domain}/docs/` });
    expect(await ask("/", { headers: { range: "bytes=0-3" } })).toMatchObject({ status: 206, text: "<h1>" });
    const etag = String((await ask("/")).headers["etag"]);
    expect(await ask("/", { headers: { "if-none-match": etag } })).toMatchObject({ status: 304, text: "" });
    expect(await ask("/", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
    expect(await ask("/", { host: `${Bucket}.${domain}:8080` })).toMatchObject({ status: 200 });
  });

  test("tells errors by its error document; who may not list does not learn what is there", async () => {
    expect(await ask("/none")).toMatchObject({ status: 403, text: "<h1>oops</h1>", type: "text/html" });
    await policy("GetObject", "ListBucket");
    expect(await ask("/none")).toMatchObject({ status: 404, text: "<h1>oops</h1>" });
    await configure({ IndexDocument: site.IndexDocument });
    const bare = await ask("/<none>");
    expect(bare).toMatchObject({ status: 404, type: "text/html; charset=utf-8" });
    expect(bare.text).toContain("Code: NoSuchKey");
    expect(bare.text).not.toContain("<none>");
    await configure(site);
    await policy("GetObject");
  });

  test("is read only, opens nothing that the policy does not, and is the same as none where there is none", async () => {
    for (const method of ["PUT", "POST", "DELETE", "PATCH"]) expect((await ask("/index.html", { method })).status).toBe(405);
    const missing = await ask("/", { host: `nobody.${domain}` });
    const plain = await ask("/", { host: `plain.${domain}` });
    expect([missing.status, missing.text.replace(/RequestId: \w+/, "")]).toEqual([404, plain.text.replace(/RequestId: \w+/, "")]);
    await s3.client().send(new sdk.DeleteBucketPolicyCommand({ Bucket }));
    expect(await ask("/")).toMatchObject({ status: 403 });
    expect((await ask("/")).text).not.toContain("home");
    await policy("GetObject");
    // The same host without the domain of websites is S3.
    expect((await ask("/", { host: `${Bucket}.s3.example.org` })).type).toBe("application/xml");
  });

  test("sends whoever asks for an object that says where on; S3 tells where, and gives the object. A copy says it anew, or not", async () => {
    const client = s3.client();
    const Key = "moved.html";
    const made = (WebsiteRedirectLocation?: string) =>
      client.send(new sdk.PutObjectCommand({ Bucket, Key, Body: "was here", WebsiteRedirectLocation }));
    const head = async (name = Key) =>
      (await client.send(new sdk.HeadObjectCommand({ Bucket, Key: name }))).WebsiteRedirectLocation;
    for (const to of ["/docs/", "https://other.example.org/x?y", "http://other.example.org"]) {
      await made(to);
      expect(await head()).toBe(to);
      for (const method of ["GET", "HEAD"])
        expect(await ask(`/${Key}`, { method })).toMatchObject({ status: 301, location: to, text: "" });
    }
    const CopySource = `${Bucket}/${Key}`;
    for (const more of [{}, { MetadataDirective: "REPLACE" as const }]) {
      await client.send(new sdk.CopyObjectCommand({ Bucket, Key: "copy.html", CopySource, ...more }));
      expect(await head("copy.html")).toBeUndefined();
      await client.send(
        new sdk.CopyObjectCommand({ Bucket, Key: "copy.html", CopySource, WebsiteRedirectLocation: "/new", ...more }),
      );
      expect(await head("copy.html")).toBe("/new");
    }
    // A copy onto itself that says something new is one.
    await client.send(new sdk.CopyObjectCommand({ Bucket, Key, CopySource, WebsiteRedirectLocation: "/again" }));
    expect(await head()).toBe("/again");
    const { UploadId } = await client.send(
      new sdk.CreateMultipartUploadCommand({ Bucket, Key: "parts.html", WebsiteRedirectLocation: "/parts" }),
    );
    const { ETag } = await client.send(
      new sdk.UploadPartCommand({ Bucket, Key: "parts.html", UploadId, PartNumber: 1, Body: "x" }),
    );
    const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
    await client.send(new sdk.CompleteMultipartUploadCommand({ Bucket, Key: "parts.html", UploadId, MultipartUpload }));
    expect(await ask("/parts.html")).toMatchObject({ status: 301, location: "/parts" });
    for (const bad of ["docs/", "ftp://other.example.org", "javascript:alert(1)", `/${"x".repeat(2048)}`])
      await expect(made(bad)).rejects.toMatchObject({ name: "InvalidRedirectLocation" });
    expect(await head()).toBe("/again");
    // Who may not read it is not told where.
    await s3.client().send(new sdk.DeleteBucketPolicyCommand({ Bucket }));
    expect((await ask(`/${Key}`)).status).toBe(403);
    await policy("GetObject");
  });

  test("redirects by rules before and after it looks, and everything where it has moved; no header is split", async () => {
    await configure({
      ...site,
      RoutingRules: [
        { Condition: { KeyPrefixEquals: "old/" }, Redirect: { ReplaceKeyPrefixWith: "docs/" } },
        {
          Condition: { HttpErrorCodeReturnedEquals: "403" },
          Redirect: { HostName: "other.example.org", Protocol: "https", HttpRedirectCode: "307" },
        },
      ],
    });
    expect(await ask("/old/index.html")).toMatchObject({ status: 301, location: `http://${Bucket}.${domain}/docs/index.html` });
    expect(await ask("/none/%0d%0aset-cookie:x")).toMatchObject({
      status: 307,
      location: "https://other.example.org/none/%0D%0Aset-cookie%3Ax",
    });
    await configure({ RedirectAllRequestsTo: { HostName: "example.org" } }, "moved");
    expect(await ask("/any/key", { host: `moved.${domain}` })).toMatchObject({
      status: 301,
      location: "http://example.org/any/key",
    });
    await configure(site);
  });
});

test("a configuration is given back as it was set, until it is removed; what is not understood is refused, and the one before stays", async () => {
  const rules = [
    {
      Condition: { KeyPrefixEquals: "a", HttpErrorCodeReturnedEquals: "404" },
      Redirect: { HostName: "h.example.org", ReplaceKeyWith: "k" },
    },
    { Redirect: { Protocol: "https" as const } },
  ];
  const name = "plain";
  await configure({ ...site, RoutingRules: rules }, name);
  const get = () => s3.client().send(new sdk.GetBucketWebsiteCommand({ Bucket: name }));
  expect(await get()).toMatchObject({ ...site, RoutingRules: rules });
  const document = (inner: string) =>
    signedFetch(s3, {
      method: "PUT",
      path: `/${name}`,
      query: { website: "" },
      body: Buffer.from(`<WebsiteConfiguration>${inner}</WebsiteConfiguration>`),
    });
  const index = "<IndexDocument><Suffix>i</Suffix></IndexDocument>";
  const rule = (condition: string, redirect: string) =>
    `${index}<RoutingRules><RoutingRule>${condition}<Redirect>${redirect}</Redirect></RoutingRule></RoutingRules>`;
  for (const [inner, code] of [
    ["", "InvalidArgument"],
    ["<IndexDocument><Suffix>a/b</Suffix></IndexDocument>", "InvalidArgument"],
    [`${index}<ErrorDocument><Key></Key></ErrorDocument>`, "InvalidArgument"],
    [`${index}<RedirectAllRequestsTo><HostName>h</HostName></RedirectAllRequestsTo>`, "InvalidRequest"],
    ["<RedirectAllRequestsTo><Protocol>http</Protocol></RedirectAllRequestsTo>", "MalformedXML"],
    ["<RedirectAllRequestsTo><HostName>a/b</HostName></RedirectAllRequestsTo>", "InvalidRequest"],
    ["<RedirectAllRequestsTo><HostName>h</HostName><Protocol>ftp</Protocol></RedirectAllRequestsTo>", "InvalidRequest"],
    [rule("", ""), "MalformedXML"],
    [rule("<Condition/>", "<HostName>h</HostName>"), "InvalidRequest"],
    [
      rule("<Condition><HttpErrorCodeReturnedEquals>200</HttpErrorCodeReturnedEquals></Condition>", "<HostName>h</HostName>"),
      "InvalidRequest",
    ],
    [rule("", "<HttpRedirectCode>200</HttpRedirectCode>"), "InvalidRequest"],
    [rule("", "<ReplaceKeyWith>a</ReplaceKeyWith><ReplaceKeyPrefixWith>b</ReplaceKeyPrefixWith>"), "InvalidRequest"],
    [`${index}<Other/>`, "MalformedXML"],
  ] as const) {
    const reply = await document(inner);
    expect([inner, reply.status, /<Code>(\w+)</.exec(reply.text)?.[1]]).toEqual([inner, 400, code]);
  }
  expect(await get()).toMatchObject({ RoutingRules: rules });
  await s3.client().send(new sdk.DeleteBucketWebsiteCommand({ Bucket: name }));
  await expect(get()).rejects.toMatchObject({ name: "NoSuchWebsiteConfiguration" });
});

test("the domain of websites and that of S3 are apart", () => {
  const parse = (s3: object) => storageSettings.safeParse({ s3 }).success;
  expect(parse({ domain: "s3.example.org", website_domain: "web.example.org" })).toBe(true);
  expect(parse({ website_domain: "web.example.org" })).toBe(true);
  for (const website_domain of ["s3.example.org", "web.s3.example.org", "example.org", "UPPER", "1.2.3.4"])
    expect(parse({ domain: "s3.example.org", website_domain })).toBe(false);
});
