import fc from "fast-check";
import type { DeletionAsked, ObjectVersion, Retention, Versioning } from "../storage/index.ts";

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
