import type { CORSRule } from "@aws-sdk/client-s3";
import { corsRuleFor } from "@seneschal/core/storage";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

let s3: S3Rig;
const Bucket = "pages";
beforeAll(async () => {
  s3 = await openS3Rig();
  await s3.client().send(new sdk.CreateBucketCommand({ Bucket }));
  await s3.client().send(new sdk.PutObjectCommand({ Bucket, Key: "k", Body: "text" }));
});
afterAll(() => s3.dispose());
const set = (...CORSRules: CORSRule[]) =>
  s3.client().send(new sdk.PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules } }));
const failure = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (e: { $metadata: { httpStatusCode: number }; name: string }) => `${e.$metadata.httpStatusCode} ${e.name}`,
  );
/** What an answer allows, by header name without `access-control-`. */
const allowed = (headers: Headers) =>
  Object.fromEntries(
    [...headers].flatMap(([name, value]) =>
      name.startsWith("access-control-") ? [[name.slice("access-control-".length), value]] : [],
    ),
  );
const ask = async (path: string, headers: Record<string, string>) => {
  const answer = await fetch(`${s3.gateway.url}${path}`, { method: "OPTIONS", headers });
  const text = await answer.text();
  return {
    status: answer.status,
    code: /<Code>(\w+)/.exec(text)?.[1],
    allows: allowed(answer.headers),
    vary: answer.headers.get("vary"),
  };
};
const preflight = (origin: string, method: string, more: Record<string, string> = {}) =>
  ask(`/${Bucket}/k`, { origin, "access-control-request-method": method, ...more });

test("a configuration is given back as it was set, ends with its removal, and is none before", async () => {
  const get = () => s3.client().send(new sdk.GetBucketCorsCommand({ Bucket }));
  expect(await failure(get())).toBe("404 NoSuchCORSConfiguration");
  const rules: CORSRule[] = [
    { ID: "a", AllowedMethods: ["GET", "PUT"], AllowedOrigins: ["https://*.example.org", "http://x"], MaxAgeSeconds: -1 },
    { AllowedMethods: ["HEAD"], AllowedOrigins: ["*"], AllowedHeaders: ["x-amz-*", "Content-Type"], ExposeHeaders: ["ETag"] },
  ];
  await set(...rules);
  expect((await get()).CORSRules).toEqual(rules);
  await s3.client().send(new sdk.DeleteBucketCorsCommand({ Bucket }));
  expect(await failure(get())).toBe("404 NoSuchCORSConfiguration");
});

test("a configuration that does not say what it allows is refused, and the one before stays", async () => {
  const kept: CORSRule = { AllowedMethods: ["GET"], AllowedOrigins: ["*"] };
  await set(kept);
  const rows: readonly (readonly [Partial<CORSRule>, string])[] = [
    [{ AllowedMethods: ["PATCH"] }, "400 InvalidRequest"],
    [{ AllowedMethods: ["*"] }, "400 InvalidRequest"],
    [{ AllowedMethods: [] }, "400 MalformedXML"],
    [{ AllowedOrigins: [] }, "400 MalformedXML"],
    [{ AllowedOrigins: ["https://*.*.org"] }, "400 InvalidRequest"],
    [{ AllowedHeaders: ["x-*-*"] }, "400 InvalidRequest"],
    [{ AllowedHeaders: ["x y"] }, "400 InvalidRequest"],
    [{ ExposeHeaders: ["x-*"] }, "400 InvalidRequest"],
    [{ ID: "x".repeat(256) }, "400 InvalidRequest"],
  ];
  for (const [rule, code] of rows) expect([rule, await failure(set({ ...kept, ...rule }))]).toEqual([rule, code]);
  expect(await failure(set(...Array.from({ length: 101 }, () => kept)))).toBe("400 MalformedXML");
  expect(await failure(set({ ...kept, ID: "a" }, { ...kept, ID: "a" }))).toBe("400 InvalidRequest");
  expect((await s3.client().send(new sdk.GetBucketCorsCommand({ Bucket }))).CORSRules).toEqual([kept]);
});

describe("before a request from a page", () => {
  beforeAll(() =>
    set(
      { AllowedMethods: ["GET"], AllowedOrigins: ["https://a.org"], AllowedHeaders: ["x-amz-*"], ExposeHeaders: ["ETag"] },
      { AllowedMethods: ["PUT", "GET"], AllowedOrigins: ["https://*.b.org"], MaxAgeSeconds: 60 },
      { AllowedMethods: ["HEAD"], AllowedOrigins: ["*"] },
    ),
  );
  test("the browser is told what the first rule that allows it says, without a signature", async () => {
    const headers = { "access-control-request-headers": "X-Amz-Date, x-amz-meta-a" };
    expect(await preflight("https://a.org", "GET", headers)).toMatchObject({
      status: 200,
      allows: {
        "allow-origin": "https://a.org",
        "allow-methods": "GET",
        "allow-headers": "x-amz-date, x-amz-meta-a",
        "allow-credentials": "true",
        "expose-headers": "ETag",
      },
      vary: "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
    });
    expect((await preflight("https://x.b.org", "PUT")).allows).toEqual({
      "allow-origin": "https://x.b.org",
      "allow-methods": "PUT, GET",
      "allow-credentials": "true",
      "max-age": "60",
    });
    // Whom every origin is, no credentials go with.
    expect((await preflight("null", "HEAD")).allows).toEqual({ "allow-origin": "*", "allow-methods": "HEAD" });
  });
  test("what no rule allows is 403 and tells of nothing", async () => {
    for (const [origin, method, headers] of [
      ["https://a.org", "PUT", ""],
      ["https://a.org", "GET", "content-type"],
      ["https://a.org", "GET", "x-amz-date,authorization"],
      ["https://b.org", "GET", ""],
      ["https://a.org.evil", "GET", ""],
      ["http://a.org", "GET", ""],
    ] as const) {
      const answer = await preflight(origin, method, { "access-control-request-headers": headers });
      expect([origin, method, answer]).toEqual([
        origin,
        method,
        { status: 403, code: "AccessForbidden", allows: {}, vary: null },
      ]);
    }
    for (const path of ["/no-such-bucket", "/no-such-bucket/k"])
      expect(await ask(path, { origin: "https://a.org", "access-control-request-method": "GET" })).toMatchObject({
        status: 403,
        code: "AccessForbidden",
        allows: {},
      });
  });
  test("a question without its origin, or without a method that there is, is 400", async () => {
    const at = `/${Bucket}/k`;
    for (const headers of [
      {},
      { origin: "https://a.org" },
      { "access-control-request-method": "GET" },
      { origin: "https://a.org", "access-control-request-method": "PATCH" },
    ] as Record<string, string>[])
      expect(await ask(at, headers)).toMatchObject({ status: 400, code: "BadRequest", allows: {} });
    expect((await ask("/", { origin: "https://a.org" })).status).toBe(405);
  });
  test("the answer to a request says the same, of a refusal too; the right to do it is the signature's as ever", async () => {
    const get = (origin: string, method = "GET", key = "k") =>
      signedFetch(s3, { path: `/${Bucket}/${key}`, method, headers: { origin } });
    const yes = await get("https://a.org");
    expect([yes.status, allowed(yes.headers)["allow-origin"]]).toEqual([200, "https://a.org"]);
    const none = await get("https://a.org", "GET", "none");
    expect([none.status, allowed(none.headers)["allow-origin"]]).toEqual([404, "https://a.org"]);
    const other = await get("https://other.org");
    expect([other.status, allowed(other.headers)]).toEqual([200, {}]);
    const unsigned = await fetch(`${s3.gateway.url}/${Bucket}/k`, { headers: { origin: "https://a.org" } });
    expect([unsigned.status, allowed(unsigned.headers)["allow-origin"]]).toEqual([403, "https://a.org"]);
    const plain = await signedFetch(s3, { path: `/${Bucket}/k` });
    expect(allowed(plain.headers)).toEqual({});
  });
});

test("a star is any text, everything else is itself", () => {
  const part = fc.stringMatching(/^[a-z.:/]{0,6}$/);
  fc.assert(
    fc.property(part, part, part, (before, middle, behind) => {
      const rule = (origin: string) => ({ origins: [origin], methods: ["GET"], headers: [], exposed: [] });
      const question = { origin: before + middle + behind, method: "GET", headers: [] };
      expect(corsRuleFor([rule(`${before}*${behind}`)], question)).toBeDefined();
      expect(corsRuleFor([rule(question.origin)], question)).toBeDefined();
      expect(corsRuleFor([rule(`${question.origin}x`)], question)).toBeUndefined();
      expect(corsRuleFor([rule(`x${before}*${behind}`)], { ...question, origin: `y${question.origin}` })).toBeUndefined();
    }),
  );
});
