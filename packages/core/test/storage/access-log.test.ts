import {
  type AccessRecord,
  accessLogLimits,
  accessLogLine,
  keepsLine,
  logBatch,
  logObjectKey,
  shownReferrer,
  shownTarget,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { expect, test } from "vitest";

const anything = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("", "-", '"', "a b", "]", "\n", 'x" 200 - "', "\\", "\r\nacme"),
);
const count = fc.option(fc.nat(1e9), { nil: undefined });
const word = fc.option(anything, { nil: undefined });
const record: fc.Arbitrary<AccessRecord> = fc.record({
  owner: anything,
  bucket: anything,
  at: fc.nat(4e12),
  address: word,
  requester: word,
  requestId: anything,
  operation: anything,
  key: word,
  line: word,
  status: count,
  errorCode: word,
  sent: count,
  size: count,
  totalMs: count,
  turnAroundMs: count,
  referrer: word,
  userAgent: word,
  version: word,
  cipher: word,
  host: word,
  tls: word,
  signature: fc.constantFrom("SigV2" as const, "SigV4" as const, undefined),
  authentication: fc.constantFrom("AuthHeader" as const, "QueryString" as const, undefined),
});

/** As readers of these logs cut a line: by spaces, but for brackets and quotation marks. */
const cut = (line: string) => [...line.matchAll(/\[([^\]]*)\]|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c);

test("whatever a request says, its line has 26 fields and one end, and each text reads back as it was", () => {
  fc.assert(
    fc.property(record, (it) => {
      const line = accessLogLine(it);
      expect(line).toMatch(/^[ -~]+$/);
      const fields = cut(line);
      expect(fields).toHaveLength(26);
      const reads = (at: number, text: string | undefined) => {
        const none = text === undefined || text === "";
        expect(none ? fields[at] : decodeURIComponent((fields[at] ?? "").replace(/%(?![0-9A-F]{2})/g, "%25"))).toBe(
          none ? "-" : Buffer.from(text).toString(),
        );
      };
      reads(0, it.owner);
      reads(1, it.bucket);
      reads(7, it.key);
      if (it.key === "-") expect(fields[7]).toBe("%2D");
      expect(fields[9]).toBe(it.status === undefined ? "-" : String(it.status));
      expect(fields.slice(24)).toEqual(["-", "-"]);
    }),
  );
});

test("the line of the manual", () => {
  const line = accessLogLine({
    owner: "79a59df900b949e5",
    bucket: "amzn-s3-demo-bucket1",
    at: Date.UTC(2019, 1, 6, 0, 0, 38),
    address: "192.0.2.3",
    requester: "79a59df900b949e5",
    requestId: "3E57427F3EXAMPLE",
    operation: "REST.GET.VERSIONING",
    line: "GET /amzn-s3-demo-bucket1?versioning HTTP/1.1",
    status: 200,
    sent: 113,
    totalMs: 7,
    userAgent: "S3Console/0.4",
    signature: "SigV4",
    cipher: "ECDHE-RSA-AES128-GCM-SHA256",
    authentication: "AuthHeader",
    tls: "TLSv1.2",
    host: "amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com",
  });
  expect(line).toBe(
    '79a59df900b949e5 amzn-s3-demo-bucket1 [06/Feb/2019:00:00:38 +0000] 192.0.2.3 79a59df900b949e5 3E57427F3EXAMPLE REST.GET.VERSIONING - "GET /amzn-s3-demo-bucket1?versioning HTTP/1.1" 200 - 113 - 7 - "-" "S3Console/0.4" - - SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader amzn-s3-demo-bucket1.s3.us-west-1.amazonaws.com TLSv1.2 - -',
  );
});

const shown = new Set(["versionId", "list-type", "prefix"]);
const secret = "c0ffee5ecret";
const letters = (name: string) =>
  fc.array(fc.constantFrom("lower", "upper", "escaped", "same"), { minLength: name.length, maxLength: name.length }).map((how) =>
    [...name]
      .map((c, i) => {
        if (how[i] === "escaped") return `%${c.charCodeAt(0).toString(16)}`;
        return how[i] === "lower" ? c.toLowerCase() : how[i] === "upper" ? c.toUpperCase() : c;
      })
      .join(""),
  );
const secretNames = ["X-Amz-Signature", "X-Amz-Security-Token", "X-Amz-Credential", "Signature", "AWSAccessKeyId"];
const customer = ["key", "key-MD5"].map((name) => `x-amz-server-side-encryption-customer-${name}`);

test("what a query says beside what is named is not shown, however it is written", () => {
  const other = fc.constantFrom("versionId=3", "list-type=2", "prefix=a%20b", "versionId", "", "=", "foo=bar");
  const hidden = fc.oneof(
    fc
      .constantFrom(...secretNames, ...customer, "foo", "")
      .chain(letters)
      .map((name) => `${name}=${secret}`),
    fc.constant(secret),
    fc.constant(`versionid=${secret}`),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(other, hidden), { maxLength: 6 }), (pairs) => {
      const target = `/bucket/key?${pairs.join("&")}`;
      const told = shownTarget(target, shown);
      expect(told).not.toContain(secret);
      expect(told.split("&")).toHaveLength(Math.max(1, pairs.length));
      for (const kept of pairs.filter((pair) => /^(?:versionId|list-type|prefix)(?:=|$)/.test(pair)))
        expect(told).toContain(kept);
    }),
  );
  expect(shownTarget("/bucket/a%3Fb", shown)).toBe("/bucket/a%3Fb");
});

test("a referrer is told without what may be signed or secret in it", () => {
  expect(shownReferrer("https://user:pass@example.org/page?X-Amz-Signature=ab#frag")).toBe("https://example.org/page");
  expect(shownReferrer("http://user:pa@ss@example.org:8080?ab#c@d")).toBe("http://example.org:8080");
  for (const none of [undefined, "", "page?X-Amz-Signature=ab", "data:text/plain,ab", "javascript:ab"])
    expect(shownReferrer(none)).toBeUndefined();
});

test("keys of log objects: simple, and by the day of their requests or of their delivery", () => {
  const at = Date.UTC(2026, 10, 27, 1, 2, 3);
  const delivery = {
    tenant: "acme",
    region: "eu-west-1",
    bucket: "photos",
    at,
    since: at - 7_200_000,
    unique: "E568B2907131C0C0",
  };
  const to = { target: "logs", prefix: "log/" } as const;
  expect(logObjectKey(to, delivery)).toBe("log/2026-11-27-01-02-03-E568B2907131C0C0");
  expect(logObjectKey({ ...to, format: "SimplePrefix" }, delivery)).toBe("log/2026-11-27-01-02-03-E568B2907131C0C0");
  expect(logObjectKey({ ...to, format: "DeliveryTime" }, delivery)).toBe(
    "log/acme/eu-west-1/photos/2026/11/27/2026-11-27-01-02-03-E568B2907131C0C0",
  );
  expect(logObjectKey({ ...to, format: "EventTime" }, delivery)).toBe(
    "log/acme/eu-west-1/photos/2026/11/26/2026-11-26-00-00-00-E568B2907131C0C0",
  );
  const batch = (format: "EventTime" | "DeliveryTime", when: number) => logBatch("photos", { ...to, format }, when);
  expect(batch("EventTime", at)).not.toBe(batch("EventTime", delivery.since));
  expect(batch("DeliveryTime", at)).toBe(batch("DeliveryTime", delivery.since));
  expect(logBatch("a", to, at)).not.toBe(logBatch("b", to, at));
});

test("what waits is bounded over all tenants, and one takes no other's whole part", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(9), fc.integer({ min: 1, max: 1 << 20 })), { maxLength: 200 }), (lines) => {
      const waiting = new Map<number, number>();
      const all = () => [...waiting.values()].reduce((sum, n) => sum + n, 0);
      for (const [tenant, bytes] of lines)
        if (keepsLine(bytes, { all: all(), tenant: waiting.get(tenant) ?? 0 }))
          waiting.set(tenant, (waiting.get(tenant) ?? 0) + bytes);
      expect(all()).toBeLessThanOrEqual(accessLogLimits.all);
      for (const bytes of waiting.values()) expect(bytes).toBeLessThanOrEqual(accessLogLimits.tenant);
    }),
  );
});
