import { expiresAt, type LifecycleRule, lifecycleDue } from "@seneschal/core/storage";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expireVersions } from "../../src/storage/jobs/expire-versions.ts";
import { openS3Rig, type S3Rig, sdk } from "./s3-rig.ts";

let s3: S3Rig;
const client = () => s3.client();
const dayMs = 86_400_000;
beforeAll(async () => {
  s3 = await openS3Rig();
});
afterAll(() => s3.dispose());
const failure = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (e: { $metadata: { httpStatusCode: number }; name: string }) => `${e.$metadata.httpStatusCode} ${e.name}`,
  );
let made = 0;
async function bucket(Rules: readonly object[], more: object = {}): Promise<string> {
  const Bucket = `expiring-${made++}`;
  await client().send(new sdk.CreateBucketCommand({ Bucket, ...more }));
  await client().send(
    new sdk.PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules: Rules as never } }),
  );
  return Bucket;
}
const put = async (Bucket: string, Key: string, more: object = {}) =>
  (await client().send(new sdk.PutObjectCommand({ Bucket, Key, Body: "body", ...more }))).VersionId;
const keys = async (Bucket: string) =>
  (await client().send(new sdk.ListObjectsV2Command({ Bucket }))).Contents?.map((o) => o.Key) ?? [];
/** Days pass for the node; the clients' signatures are of today. */
async function after(days: number): Promise<void> {
  const today = s3.rig.clock.now();
  s3.rig.clock.set(today + days * dayMs);
  await expireVersions(s3.rig.node.parts);
  s3.rig.clock.set(today);
}

describe("a lifecycle", () => {
  test("deletes what its rules are about, when it is due, and says when", async () => {
    const Bucket = await bucket([
      { ID: "logs", Status: "Enabled", Filter: { Prefix: "logs/" }, Expiration: { Days: 2 } },
      {
        ID: "tmp",
        Status: "Enabled",
        Filter: { And: { Prefix: "x/", Tags: [{ Key: "tmp", Value: "1" }] } },
        Expiration: { Days: 1 },
      },
      { ID: "off", Status: "Disabled", Filter: { Prefix: "" }, Expiration: { Days: 1 } },
    ]);
    await put(Bucket, "logs/a");
    await put(Bucket, "x/tagged", { Tagging: "tmp=1" });
    await put(Bucket, "x/plain");
    const head = await client().send(new sdk.HeadObjectCommand({ Bucket, Key: "logs/a" }));
    expect(head.Expiration).toMatch(/^expiry-date="[^"]+ 00:00:00 GMT", rule-id="logs"$/);
    await after(0);
    expect(await keys(Bucket)).toEqual(["logs/a", "x/plain", "x/tagged"]);
    await after(2);
    expect(await keys(Bucket)).toEqual(["logs/a", "x/plain"]);
    await after(3);
    expect(await keys(Bucket)).toEqual(["x/plain"]);
  });

  test("in a bucket with versions hides by a marker, removes versions of the past, and then the marker that hides nothing", async () => {
    const Bucket = await bucket([
      {
        ID: "r",
        Status: "Enabled",
        Filter: { Prefix: "" },
        Expiration: { Days: 1 },
        NoncurrentVersionExpiration: { NoncurrentDays: 3 },
      },
      { ID: "m", Status: "Enabled", Filter: { Prefix: "" }, Expiration: { ExpiredObjectDeleteMarker: true } },
    ]);
    await client().send(new sdk.PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: "Enabled" } }));
    await put(Bucket, "k");
    const count = async () => {
      const { Versions = [], DeleteMarkers = [] } = await client().send(new sdk.ListObjectVersionsCommand({ Bucket }));
      return [Versions.length, DeleteMarkers.length];
    };
    await after(2);
    expect([await keys(Bucket), await count()]).toEqual([[], [1, 1]]);
    await after(4);
    expect(await count()).toEqual([1, 1]);
    await after(7);
    await after(7);
    expect(await count()).toEqual([0, 0]);
  });

  test("gives uploads up, and takes nothing that is locked", async () => {
    const Bucket = await bucket(
      [
        {
          ID: "r",
          Status: "Enabled",
          Filter: { Prefix: "" },
          NoncurrentVersionExpiration: { NoncurrentDays: 1 },
          AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
        },
      ],
      { ObjectLockEnabledForBucket: true },
    );
    const until = new Date(s3.rig.clock.now() + 30 * dayMs);
    const locked = await put(Bucket, "k", { ObjectLockMode: "COMPLIANCE", ObjectLockRetainUntilDate: until });
    const held = await put(Bucket, "k", { ObjectLockLegalHoldStatus: "ON" });
    await put(Bucket, "k");
    await put(Bucket, "k");
    await client().send(new sdk.CreateMultipartUploadCommand({ Bucket, Key: "m" }));
    await after(5);
    const { Versions } = await client().send(new sdk.ListObjectVersionsCommand({ Bucket }));
    expect(Versions?.map((v) => v.VersionId).slice(1)).toEqual([held, locked]);
    expect((await client().send(new sdk.ListMultipartUploadsCommand({ Bucket }))).Uploads).toBeUndefined();
  });

  test("that is not understood is refused, and the one before stays", async () => {
    const Bucket = await bucket([{ ID: "r", Status: "Enabled", Filter: { Prefix: "a" }, Expiration: { Days: 1 } }]);
    const set = (rule: object) =>
      failure(
        client().send(
          new sdk.PutBucketLifecycleConfigurationCommand({
            Bucket,
            LifecycleConfiguration: { Rules: [{ ID: "r", Status: "Enabled", Filter: { Prefix: "" }, ...rule } as never] },
          }),
        ),
      );
    expect(await set({ Transitions: [{ Days: 1, StorageClass: "GLACIER" }] })).toBe("501 NotImplemented");
    expect(await set({ Expiration: { Days: 0 } })).toBe("400 InvalidArgument");
    for (const Days of [2 ** 31, 99_999_999_999]) expect(await set({ Expiration: { Days } })).toBe("400 MalformedXML");
    expect(await set({})).toBe("400 InvalidRequest");
    expect(await set({ Status: "enabled", Expiration: { Days: 1 } })).toBe("400 MalformedXML");
    const kept = await client().send(new sdk.GetBucketLifecycleConfigurationCommand({ Bucket }));
    expect(kept.Rules).toEqual([{ ID: "r", Status: "Enabled", Filter: { Prefix: "a" }, Expiration: { Days: 1 } }]);
  });
});

const rule: fc.Arbitrary<LifecycleRule> = fc.record({
  id: fc.constant("r"),
  enabled: fc.boolean(),
  form: fc.constant("filter" as const),
  filter: fc.record({ prefix: fc.constantFrom("a", "b"), over: fc.nat(9) }, { requiredKeys: [] }),
  expiration: fc.record({ days: fc.integer({ min: 1, max: 5 }) }),
  noncurrent: fc.record({ days: fc.integer({ min: 1, max: 5 }), newer: fc.nat(3) }),
});
test("nothing is due before a whole day, by a rule that is off, or outside of its filter; what is due stays due", () =>
  fc.assert(
    fc.property(rule, fc.nat(9), fc.nat(4), fc.nat(20 * dayMs), fc.boolean(), (r, size, others, age, past) => {
      const version = {
        key: "a/k",
        size,
        tags: [],
        marker: false,
        modifiedAt: 5 * dayMs,
        others,
        ...(past && { supersededAt: 5 * dayMs }),
      };
      const at = (now: number) => lifecycleDue([r], version, now, dayMs);
      const now = 5 * dayMs + age;
      const meant = r.enabled && (r.filter.prefix ?? "a") === "a" && (r.filter.over === undefined || size > r.filter.over);
      if (!meant || age < dayMs) expect(at(now)).toBeUndefined();
      if (past && others < (r.noncurrent?.newer ?? 0)) expect(at(now)).toBeUndefined();
      if (at(now) !== undefined) expect(at(now + age)).toBe(at(now));
    }),
  ));

test("what clients are told of an end is a time, however many days a rule has; what has none never is due", () =>
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), fc.date({ noInvalidDate: true }), (days, modified) => {
      const version = { key: "k", size: 1, tags: [], marker: false, modifiedAt: modified.getTime(), others: 0 };
      const rules = [{ id: "r", enabled: true, form: "filter", filter: {}, expiration: { days } }] as const;
      const end = expiresAt(rules, version, dayMs);
      if (end === undefined) expect(lifecycleDue(rules, version, 8.64e15, dayMs)).toBeUndefined();
      else expect(new Date(end.at).getTime()).toBe(end.at);
    }),
  ));
