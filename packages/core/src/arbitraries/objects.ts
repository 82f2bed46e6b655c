import fc from "fast-check";
import {
  type DeletionAsked,
  type LifecycleRule,
  type ObjectVersion,
  type PlacedVersion,
  type ReplicationOutcome,
  type ReplicationRule,
  type Retention,
  replicationOutcomes,
  type UploadPart,
  type Versioning,
  type WaitingCopy,
} from "../storage/index.ts";

/** What a bucket may say of its versions. */
export const versionings: fc.Arbitrary<Versioning | undefined> = fc.constantFrom(undefined, "Enabled", "Suspended");

/** Retentions that end around `at`. */
const retentions = (at: number): fc.Arbitrary<Retention> =>
  fc.record({ mode: fc.constantFrom("GOVERNANCE", "COMPLIANCE"), until: fc.integer({ min: at - 5, max: at + 5 }) });

/** Versions of one key as a writer makes them around `at`, milliseconds: without a name, some of them delete markers or kept. */
export const objectVersions = (at: number): fc.Arbitrary<ObjectVersion> =>
  fc.record(
    {
      bucket: fc.constant("docs"),
      key: fc.constant("a"),
      tenant: fc.constant("acme"),
      size: fc.nat(9),
      etag: fc.constantFrom("e", "f"),
      content_type: fc.constant(""),
      headers: fc.constant({}),
      meta: fc.constant({}),
      modified_at: fc.integer({ min: at - 5, max: at + 5 }),
      delete_marker: fc.boolean(),
      retention: retentions(at).map((retention) => ({ ...retention })),
      legal_hold: fc.boolean(),
      replica: fc.boolean(),
    },
    { requiredKeys: ["bucket", "key", "tenant", "size", "etag", "content_type", "headers", "meta", "modified_at"] },
  );

/** What a deletion may ask for around `at`, seldom ill formed. */
export const deletions = (at: number): fc.Arbitrary<DeletionAsked> => {
  const id = (digit: string) => at.toString(16).padStart(12, "0") + digit.repeat(20);
  return fc
    .record({
      version: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(undefined, "null", id("0")) }, fc.constant("no id")),
      replica: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, fc.constant(id("1"))),
      bypass: fc.boolean(),
      ordinal: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, fc.integer({ min: at - 1, max: at + 1 })),
      conditions: fc.oneof(
        { weight: 2, arbitrary: fc.constant(undefined) },
        fc.record(
          {
            ifMatch: fc.array(fc.constantFrom("e", "f", "*"), { maxLength: 2 }),
            size: fc.nat(9),
            modifiedAt: fc.integer({ min: at - 5, max: at + 5 }),
          },
          { requiredKeys: [] },
        ),
      ),
    })
    .map(({ version, replica, ordinal, conditions, bypass }) => ({
      bypass,
      ...(version !== undefined && { version }),
      ...(replica !== undefined && { replica }),
      ...(ordinal !== undefined && { ordinal }),
      ...(conditions !== undefined && { conditions }),
    }));
};

/** Keys of few letters, so that they share beginnings; the last three letters are in another order as UTF-16. */
export const objectKeys: fc.Arbitrary<string> = fc
  .array(fc.constantFrom("a", "b", "/", "/", "é", "\uffee", "😀"), { minLength: 1, maxLength: 6 })
  .map((letters) => letters.join(""));

/** Rules about keys that begin with `a`, `b` or anything, with days of small numbers. */
export const lifecycleRules: fc.Arbitrary<readonly LifecycleRule[]> = fc.array(
  fc.record(
    {
      id: fc.constant("rule"),
      enabled: fc.boolean(),
      filter: fc.record({ prefix: fc.constantFrom("", "a", "b"), over: fc.nat(5) }, { requiredKeys: [] }),
      form: fc.constant("filter" as const),
      expiration: fc.oneof(fc.record({ days: fc.integer({ min: 1, max: 4 }) }), fc.constant({ marker: true as const })),
      noncurrent: fc.record({ days: fc.integer({ min: 1, max: 4 }), newer: fc.nat(2) }, { requiredKeys: [] }),
      abort: fc.integer({ min: 1, max: 4 }),
    },
    { requiredKeys: ["id", "enabled", "filter", "form"] },
  ),
  { maxLength: 3 },
);

/** Versions where a bucket has them, current ones and ones of the past; many lie in one place. */
export const placedVersions: fc.Arbitrary<PlacedVersion> = fc
  .record({
    past: fc.boolean(),
    lead: fc.constantFrom("a", "b", "é", "\uffee", "😀"),
    order: fc.nat(2),
    size: fc.nat(9),
    marker: fc.boolean(),
  })
  .map(({ past, lead, order, size, marker }) => {
    const version = { size: marker ? 0 : size, ...(marker && { delete_marker: true }) };
    return past
      ? { coll: "storage_versions", at: [lead, -order, `${lead}.${order}`], version }
      : { coll: "storage_objects", at: [lead, 0, lead], version };
  });

/** Parts of one upload with few numbers, some below 5 MiB; their ETags are MD5s. */
export const uploadParts: fc.Arbitrary<UploadPart> = fc.record({
  upload: fc.constant("upload"),
  number: fc.integer({ min: 1, max: 5 }),
  size: fc.constantFrom(0, 9, 5 << 20, (5 << 20) - 1, 9 << 20),
  etag: fc.constantFrom("0", "7", "f").map((digit) => digit.repeat(32)),
  modified_at: fc.nat(9),
});

/** Rules of a bucket that copy to one of three destinations; some are off, some also about what was there before them. */
export const replicationRules: fc.Arbitrary<readonly ReplicationRule[]> = fc.array(
  fc.record(
    {
      id: fc.constant("rule"),
      enabled: fc.boolean(),
      form: fc.constant("filter" as const),
      filter: fc.record({ prefix: fc.constantFrom("", "a", "b") }),
      priority: fc.nat(9),
      destination: fc.constantFrom(
        { name: "west", bucket: "one" },
        { name: "west", bucket: "two" },
        { name: "north", bucket: "one" },
      ),
      deleteMarkers: fc.boolean(),
      existing: fc.boolean(),
    },
    { requiredKeys: ["id", "enabled", "form", "filter", "priority", "destination", "deleteMarkers"] },
  ),
  { maxLength: 5 },
);

/** What waits to be copied of a few keys, with some that were denied and are sent again around a minute from the epoch. */
export const waitingCopies: fc.Arbitrary<WaitingCopy> = fc.record(
  {
    destination: fc.constant("west"),
    into: fc.constant("photos"),
    bucket: fc.constant("docs"),
    key: fc.constantFrom("a", "b", "c"),
    version: fc.constant("v"),
    ordinal: fc.nat(99),
    size: fc.nat(9),
    at: fc.nat(9),
    sent: fc.constant(true),
    denials: fc.nat(9),
    due: fc.nat(90_000),
  },
  { requiredKeys: ["destination", "into", "bucket", "key", "version", "ordinal", "size", "at"] },
);

/** What may come of sending a version. */
export const sendings: fc.Arbitrary<ReplicationOutcome> = fc.constantFrom(...replicationOutcomes);

/** How a page of a queue may end. `size`: of what its bucket has no room for, where it is crowded. */
export const queuePages: fc.Arbitrary<{
  readonly end: "more" | "done" | "withheld";
  readonly crowded: boolean;
  readonly size: number;
}> = fc.record({ end: fc.constantFrom("more", "done", "withheld"), crowded: fc.boolean(), size: fc.nat(9) });
