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

/** What a deletion may ask for, well formed or not, around `at`. */
export const deletions = (at: number): fc.Arbitrary<DeletionAsked> =>
  fc.record(
    {
      version: fc.constantFrom("null", "no id", `${at.toString(16).padStart(12, "0")}${"0".repeat(20)}`),
      replica: fc.constantFrom(`${at.toString(16).padStart(12, "0")}${"1".repeat(20)}`),
      bypass: fc.boolean(),
      ordinal: fc.integer({ min: at - 1, max: at + 1 }),
      conditions: fc.record(
        {
          ifMatch: fc.array(fc.constantFrom("e", "f", "*"), { maxLength: 2 }),
          size: fc.nat(9),
          modifiedAt: fc.integer({ min: at - 5, max: at + 5 }),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  );
