import type { DocumentStore, IndexValue } from "../ports/document-store.ts";
import { seededIntegers } from "./seeded-integers.ts";
import type { StoreUnderTest } from "./store-under-test.ts";
import type { SuiteRunner } from "./suite.ts";

type Law = (name: string, body: (store: DocumentStore) => Promise<void>) => void;

const entries = 23;
const pool: readonly IndexValue[] = [null, -1, 0, 1, 2, 2.5, 9, 10, 22, 23, 24, 1e300, false, true, "", "7"];

/** The index `seq` of audit against a filter over all numbers: prefix, range, direction, offset, limit, cursor and count. */
export function auditSequenceTest(runner: SuiteRunner, subject: StoreUnderTest, law: Law): void {
  const seed = subject.seed ?? 1;
  law(`audit by seq: every list, page by page, and every count is the filter of all numbers (seed ${seed})`, async (store) => {
    await store.commit({
      commitId: "all",
      audit: Array.from({ length: entries }, (_, at) => ({ stream: `s${at % 2}`, event: { type: "t", at } })),
    });
    const pick = seededIntegers(seed);
    const value = (): IndexValue => pool[pick(pool.length)] as IndexValue;
    for (let round = 0; round < 10 * (subject.rounds ?? 12); round += 1) {
      const prefix = pick(3) === 0 ? [value()] : [];
      const from = pick(2) === 0 ? [value()] : undefined;
      const to = pick(2) === 0 ? [value()] : undefined;
      const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
      // Behind a whole tuple there is no value that a bound could let in, but for the empty one below every `to`.
      const behind = prefix.length > 0;
      const expected = Array.from({ length: entries }, (_, at) => at + 1)
        .filter((seq) => prefix.every((wanted) => wanted === seq))
        .filter((seq) => from === undefined || (!behind && compare(seq, from[0] as IndexValue) >= 0))
        .filter((seq) => to === undefined || behind || compare(seq, to[0] as IndexValue) <= 0);
      const asked = `prefix ${JSON.stringify(prefix)}, range ${JSON.stringify(range)}`;
      runner.equal(await store.count("audit", "seq", prefix, range), expected.length, asked);
      const reverse = pick(2) === 0;
      if (reverse) expected.reverse();
      const offset = pick(4);
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const at = cursor === undefined ? { offset } : { cursor };
        const page = await store.list("audit", "seq", prefix, { limit: 1 + pick(9), reverse, ...range, ...at });
        found.push(...page.items.map((item) => item.id));
        cursor = page.cursor;
      } while (cursor !== undefined);
      runner.equal(found, expected.slice(offset).map(String), asked);
    }
  });
}

/** null < numbers < false < true < strings. */
function compare(seq: number, bound: IndexValue): number {
  if (typeof bound === "number") return seq - bound;
  return bound === null ? 1 : -1;
}
