import { request } from "node:http";
import { connect } from "node:net";
import { buffer, text } from "node:stream/consumers";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";
import { signedFetch } from "./signed-fetch.ts";

const Bucket = "narrow";
const domain = "web.example.org";
let s3: S3Rig;
/** Told by a balancer who asks. */
let behind: S3Rig;
let stranger: S3Rig["keys"];
beforeAll(async () => {
  s3 = await openS3Rig({ tenants: ["alpha", "beta", "gamma"] });
  behind = await openS3Rig({ rig: s3.rig, gateway: { proxyProtocol: () => true, websiteDomain: domain } });
  stranger = await s3.credentials.create("gamma", { id: "test", source: "test" });
  await s3.client().send(new sdk.CreateBucketCommand({ Bucket }));
  await s3.client().send(new sdk.PutObjectCommand({ Bucket, Key: "a", Body: "the object" }));
  const WebsiteConfiguration = { IndexDocument: { Suffix: "a" } };
  await s3.client().send(new sdk.PutBucketWebsiteCommand({ Bucket, WebsiteConfiguration }));
});
afterAll(async () => {
  await behind.gateway.close();
  await s3.dispose();
});

interface Draft {
  readonly Principal: unknown;
  readonly Condition: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
const document = (...statements: readonly Draft[]) =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: statements.map((s) => ({ Effect: "Allow", Action: "s3:GetObject", Resource: `arn:aws:s3:::${Bucket}/*`, ...s })),
  });
const put = (Policy: string) =>
  s3
    .client()
    .send(new sdk.PutBucketPolicyCommand({ Bucket, Policy }))
    .then(
      () => "done",
      (e: Error) => e.name,
    );
const isPublic = async () =>
  (await s3.client().send(new sdk.GetBucketPolicyStatusCommand({ Bucket }))).PolicyStatus?.IsPublic === true;
const block = (PublicAccessBlockConfiguration: object) =>
  s3.client().send(new sdk.PutPublicAccessBlockCommand({ Bucket, PublicAccessBlockConfiguration }));

/** The status that somebody who does not sign is answered with, asking from an address. */
async function seenFrom(address: string, host = "localhost", path = `/${Bucket}/a`): Promise<string> {
  const socket = connect(behind.gateway.port, "127.0.0.1");
  const [family, own] = address.includes(":") ? ["TCP6", "2001:db8::1"] : ["TCP4", "192.0.2.1"];
  socket.write(`PROXY ${family} ${address} ${own} 56324 443\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  return (await buffer(socket)).toString("latin1").split(" ")[1] ?? "";
}

/** Addresses that no narrow range is drawn around. */
const far = ["45.67.89.10", "203.0.113.77", "129.12.34.56", "81.2.69.160", "2a02:1234:5678::9", "2607:f8b0:aaaa:bbbb::1"];

const address4 = fc.integer({ min: 1 << 24, max: 0xdf000000 }).map((n) => [24, 16, 8, 0].map((by) => (n >>> by) & 255).join("."));
const address6 = fc
  .array(fc.integer({ min: 1, max: 0xffff }), { minLength: 8, maxLength: 8 })
  .map((parts) => parts.map((part) => part.toString(16)).join(":"));
const range = fc.oneof(
  fc.tuple(address4, fc.integer({ min: 0, max: 32 })).map(([address, bits]) => `${address}/${bits}`),
  fc
    .tuple(address6, fc.integer({ min: 0, max: 128 }))
    .filter(([address]) => !address.startsWith("ffff:"))
    .map(([address, bits]) => `${address}/${bits}`),
  fc.constantFrom("0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1", "::/0", "8000::/1", "::/1", "192.168.0.0/7", "10.0.0.0/8"),
);
const suffix = fc.constantFrom("", "", "IfExists");
const account = fc.constantFrom("*", "?*", "g*", "beta", "alpha", "");
const condition: fc.Arbitrary<readonly [string, string, unknown]> = fc.oneof(
  {
    arbitrary: fc.tuple(
      suffix.map((s) => `IpAddress${s}`),
      fc.constant("aws:SourceIp"),
      fc.array(range, { minLength: 1, maxLength: 4 }),
    ),
    weight: 3,
  },
  fc.tuple(fc.constant("NotIpAddress"), fc.constant("AWS:sourceIP"), fc.array(range, { minLength: 1, maxLength: 2 })),
  fc.tuple(
    fc
      .tuple(fc.constantFrom("StringEquals", "StringLike", "StringEqualsIgnoreCase", "StringNotEquals", "StringNotLike"), suffix)
      .map(([one, other]) => `${one}${other}`),
    fc.constantFrom("aws:PrincipalAccount", "aws:SourceAccount"),
    fc.array(account, { minLength: 1, maxLength: 2 }),
  ),
  fc.constantFrom(
    ["Bool", "aws:SecureTransport", "false"] as const,
    ["Bool", "aws:PrincipalIsAWSService", "false"] as const,
    ["Null", "aws:SourceIp", "false"] as const,
    ["Null", "aws:PrincipalAccount", "false"] as const,
    ["Null", "aws:SourceArn", "true"] as const,
    ["StringLike", "aws:Referer", "*"] as const,
    ["ArnLikeIfExists", "aws:SourceArn", "arn:aws:s3:::narrow"] as const,
  ),
);
const statement: fc.Arbitrary<Draft> = fc.record({
  Principal: fc.constantFrom("*", { AWS: "*" }, { AWS: ["beta", "*"] }, { CanonicalUser: "*" }, { AWS: "beta" }),
  Condition: fc.array(condition, { maxLength: 2 }).map((all) => {
    const read: Record<string, Record<string, unknown>> = {};
    for (const [operator, key, value] of all) read[operator] = { ...read[operator], [key]: value };
    return read;
  }),
});

test("a policy by which somebody unsigned reads from two addresses far apart, or a tenant that it does not name, is public", () =>
  fc.assert(
    fc.asyncProperty(fc.array(statement, { minLength: 1, maxLength: 2 }), async (statements) => {
      const policy = document(...statements);
      expect(await put(policy)).toBe("done");
      const reads = (await Promise.all(far.map((address) => seenFrom(address)))).filter((status) => status === "200").length;
      const other = (await signedFetch(s3, { path: `/${Bucket}/a`, keys: stranger })).status;
      if (reads >= 2 || other === 200) expect([policy, await isPublic()]).toEqual([policy, true]);
    }),
    { numRuns: 30 },
  ));

const ip = (value: unknown, operator = "IpAddress"): Draft => ({
  Principal: "*",
  Condition: { [operator]: { "aws:SourceIp": value } },
});
const of = (key: string, value: unknown, operator = "StringEquals"): Draft => ({
  Principal: "*",
  Condition: { [operator]: { [key]: value } },
});

test("what opens a bucket to everybody in other words is public: a block refuses it, or closes it, to pages too", async () => {
  for (const open of [
    { Principal: "*", Condition: {} },
    ip("0.0.0.0/0"),
    ip(["0.0.0.0/1", "128.0.0.0/1"]),
    ip(["10.0.0.0/8", "0.0.0.0/0"]),
    ip(Array.from({ length: 256 }, (_, i) => `${i}.0.0.0/8`)),
    { ...ip("0.0.0.0/0"), Principal: { AWS: "*" } },
    ip("198.51.100.0/24", "NotIpAddress"),
    ip("81.0.0.0/8", "IpAddressIfExists"),
    of("aws:PrincipalAccount", "*", "StringLike"),
    of("aws:PrincipalAccount", ["beta", ""]),
    of("aws:PrincipalAccount", "beta", "StringNotEquals"),
    of("aws:SourceAccount", "beta", "StringEqualsIfExists"),
  ] satisfies readonly Draft[]) {
    const policy = document(open);
    expect([policy, await put(policy), await seenFrom("81.2.69.160"), await isPublic()]).toEqual([policy, "done", "200", true]);
    expect(await seenFrom("81.2.69.160", `${Bucket}.${domain}`, "/")).toBe("200");
    await block({ BlockPublicPolicy: true, RestrictPublicBuckets: true });
    expect([policy, await put(policy), await seenFrom("81.2.69.160")]).toEqual([policy, "AccessDenied", "403"]);
    expect(await seenFrom("81.2.69.160", `${Bucket}.${domain}`, "/")).toBe("403");
    await s3.client().send(new sdk.DeletePublicAccessBlockCommand({ Bucket }));
  }
});

test("ranges wider together than a /8 of IPv4, private networks aside, or a /32 of IPv6, are public; fixed names are not", async () => {
  for (const [draft, expected] of [
    [ip("81.0.0.0/8"), false],
    [ip("80.0.0.0/7"), true],
    [ip(["81.0.0.0/9", "45.0.0.0/9"]), false],
    [ip(["81.0.0.0/9", "45.0.0.0/9", "203.0.113.7"]), true],
    [ip(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "10.1.0.0/16", "81.0.0.0/8"]), false],
    [ip("10.0.0.0/7"), true],
    [ip(["172.16.0.0/8", "192.168.0.0/8"]), true],
    [ip("2a02:1234::/32"), false],
    [ip("2a02:1234::/31"), true],
    [ip(["2a02:1234::/32", "2607::/33"]), true],
    [ip("::/0"), true],
    [of("aws:PrincipalAccount", ["beta", "alpha"]), false],
    [of("aws:PrincipalAccount", "beta", "StringLike"), false],
    [of("aws:PrincipalAccount", ["beta", "b*"], "StringLike"), true],
    [of("aws:SourceArn", "arn:aws:s3:::photos", "ArnLike"), false],
    [of("aws:SourceArn", "arn:aws:s3:::*", "ArnLike"), true],
    [of("s3:x-amz-server-side-encryption", "AES256"), true],
    [of("aws:Referer", "https://example.org/"), true],
    [{ Principal: { AWS: "beta" }, Condition: {} }, false],
    [{ Principal: { AWS: "beta" }, Condition: { IpAddress: { "aws:SourceIp": "0.0.0.0/0" } } }, false],
  ] as const)
    expect([draft, await put(document(draft)), await isPublic()]).toEqual([draft, "done", expected]);
});

test("a policy opens nothing to whoever is called so later: who is named exists, and a name is given once", async () => {
  const named = (name: string): readonly unknown[] => [
    { Principal: { AWS: name } },
    { Principal: { AWS: ["beta", `arn:aws:iam::${name}:root`] } },
    { Principal: { CanonicalUser: name } },
    { Effect: "Deny", Principal: { AWS: name } },
    { Effect: "Deny", NotPrincipal: { AWS: name } },
    of("aws:PrincipalAccount", name),
    of("aws:PrincipalAccount", ["b*", name], "StringLike"),
    of("aws:PrincipalAccount", name, "StringNotEqualsIfExists"),
    of("aws:PrincipalAccount", name.toUpperCase(), "StringEqualsIgnoreCase"),
  ];
  expect(await put(document({ Principal: { AWS: "beta" }, Condition: {} }))).toBe("done");
  const drafts = (name: string) => named(name).map((one) => document({ ...(one as Draft) }));
  for (const policy of drafts("ghost")) {
    const { status, text: answer } = await signedFetch(s3, {
      method: "PUT",
      path: `/${Bucket}`,
      query: { policy: "" },
      headers: {},
      body: Buffer.from(policy),
    });
    expect([policy, status]).toEqual([policy, 400]);
    expect(answer).toContain("<Code>MalformedPolicy</Code><Message>Invalid principal in policy</Message>");
    expect(answer).toContain("ghost");
  }
  const stored = await s3.client().send(new sdk.GetBucketPolicyCommand({ Bucket }));
  expect(stored.Policy).not.toContain("ghost");
  const { tenants } = s3.rig.node;
  const actor = { id: "test", source: "test" };
  await tenants.create("ghost", { dedup: true }, actor);
  for (const policy of drafts("ghost")) expect([policy, await put(policy)]).toEqual([policy, "done"]);
  await tenants.shred("ghost", actor);
  await expect(tenants.create("ghost", { dedup: true }, actor)).rejects.toMatchObject({ code: "AlreadyExists" });
  await s3.client().send(new sdk.DeleteBucketPolicyCommand({ Bucket }));
});

test("what is the owner's alone no policy gives to another: 405, and nothing changes", async () => {
  const Policy = JSON.stringify({
    Version: "2012-10-17",
    Statement: [
      { Effect: "Allow", Principal: "*", Action: "s3:*", Resource: [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`] },
    ],
  });
  expect(await put(Policy)).toBe("done");
  const record = await s3.rig.store.get("storage_buckets", Bucket);
  const closed = [
    ["policy", "GET", "PUT", "DELETE"],
    ["policyStatus", "GET"],
    ["publicAccessBlock", "GET", "PUT", "DELETE"],
    ["ownershipControls", "PUT"],
    ["replication", "PUT", "DELETE"],
    ["notification", "PUT"],
    ["logging", "PUT"],
  ] as const;
  for (const [name, ...methods] of closed)
    for (const method of methods) {
      const body = method === "PUT" ? { body: Buffer.from("x") } : {};
      const asked = { method, path: `/${Bucket}`, query: { [name]: "" }, headers: {}, ...body };
      const foreign = await signedFetch(s3, { ...asked, keys: stranger });
      expect([name, method, foreign.status]).toEqual([name, method, 405]);
      expect(foreign.text).toContain("<Code>MethodNotAllowed</Code>");
      const nobody = request(`${s3.gateway.url}/${Bucket}?${name}`, { method });
      nobody.end(method === "PUT" ? "x" : undefined);
      const answer = await new Promise<number | undefined>((resolve, reject) => {
        nobody.on("error", reject).on("response", (response) => text(response).then(() => resolve(response.statusCode), reject));
      });
      expect([name, method, answer]).toEqual([name, method, 405]);
    }
  expect(await s3.rig.store.get("storage_buckets", Bucket)).toEqual(record);
  // What is not the owner's alone stays what the policy says.
  const tagging = { path: `/${Bucket}`, query: { versioning: "" }, keys: stranger };
  expect((await signedFetch(s3, tagging)).status).toBe(200);
  await s3.client().send(new sdk.DeleteBucketPolicyCommand({ Bucket }));
});
