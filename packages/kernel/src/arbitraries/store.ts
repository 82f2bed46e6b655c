import fc from "fast-check";
import type { JsonObject } from "../json.ts";
import type { Commit, IndexValue } from "../ports/document-store.ts";

/** Values that an index sorts by, of every kind; strings over all of Unicode but U+0000. */
export const indexValues: fc.Arbitrary<IndexValue> = fc.oneof(
  fc.constantFrom(null, true, false),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.string({ unit: "binary", maxLength: 6 }).filter((value) => !value.includes("\0")),
);

const id = fc.constantFrom("a", "b", "c", "d", "e");
const version = fc.option(fc.nat(4), { nil: undefined, freq: 2 });
const conditional = <T>(target: fc.Arbitrary<T>) =>
  fc.tuple(target, version).map(([what, ifVersion]) => ({ ...what, ...(ifVersion === undefined ? {} : { ifVersion }) }));
const doc: fc.Arbitrary<JsonObject> = fc.record(
  {
    kind: fc.constantFrom(null, -1, 2.5, true, "a", "ab"),
    rank: fc.integer({ min: -2, max: 2 }),
    name: fc.constantFrom("n1", "n2", "n3", "n4"),
    any: indexValues,
  },
  { requiredKeys: ["kind"] },
);

/** Commits by the schema of the store's suite (`suiteSchema`): of a few ids, so that conditions and unique names clash. */
const commit: fc.Arbitrary<Omit<Commit, "commitId">> = fc.record({
  puts: fc.uniqueArray(conditional(fc.record({ coll: fc.constant("things"), id, doc })), {
    maxLength: 3,
    selector: (put) => put.id,
  }),
  dels: fc.array(conditional(fc.constant({ coll: "others", id: "gone" })), { maxLength: 1 }),
  checks: fc.array(fc.record({ coll: fc.constant("things"), id, version: fc.nat(3) }), { maxLength: 1 }),
  audit: fc.array(fc.record({ stream: fc.constantFrom("s1", "s2"), event: fc.record({ type: fc.constantFrom("t", "u") }) }), {
    maxLength: 2,
  }),
});

/**
 * A history of up to `maxLength` commits by the schema of the store's suite, `suiteSchema` of `@seneschal/kernel/testing`; now and then
 * one is a repeat of an earlier one. Two stores that keep the laws of the port answer it alike: `openMemoryStore` of
 * `@seneschal/adapters/memory` is the reference.
 *
 * @example
 * ```ts
 * import { openMemoryStore } from "@seneschal/adapters/memory";
 * import { commitHistory } from "@seneschal/kernel/arbitraries";
 * import { suiteSchema } from "@seneschal/kernel/testing";
 * import fc from "fast-check";
 *
 * const law = fc.asyncProperty(commitHistory(10), async (history) => {
 *   const store = openMemoryStore(suiteSchema);
 *   for (const commit of history) await store.commit(commit);
 *   await store.close();
 * });
 * await fc.assert(law, { numRuns: 10 });
 * ```
 */
export const commitHistory = (maxLength: number): fc.Arbitrary<readonly Commit[]> =>
  fc.array(fc.tuple(commit, fc.option(fc.nat(), { freq: 8 })), { maxLength, size: "max" }).map((steps) => {
    const history: Commit[] = [];
    for (const [at, [made, again]] of steps.entries()) {
      const earlier = again === null ? undefined : history[again % Math.max(1, at)];
      history.push(earlier ?? { ...made, commitId: `c${at}` });
    }
    return history;
  });
