import { auditRecords, damagedList, testLogForm as form, type LogDamage } from "@seneschal/crypto/arbitraries";
import {
  type LogFinding,
  LogGrowth,
  type LogRecord,
  type LogTree,
  numberIn,
  openLogTree,
  type StreamCheckpoint,
  signedGaps,
  verifyClaims,
  verifyRecords,
  wholeLog,
} from "@seneschal/crypto/audit-log";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkpointsOf, emptyTree, grown, log, nothingMissing, pagesOf } from "./signed-log.ts";

const damages = fc.constantFrom<LogDamage>("dropped", "swapped", "repeated");
const of = (stream: string, records: readonly LogRecord[]) =>
  stream === wholeLog ? records : records.filter((record) => record.stream === stream);
const judged = (stream: string, tree: LogTree, records: readonly LogRecord[]) =>
  verifyRecords(pagesOf(of(stream, records)), tree, { stream, form });

/** Deep runs (`FC_RUNS`) flip every bit; ordinary ones every seventh, so one or two of each byte. */
const STEP = process.env["FC_RUNS"] === undefined ? 7 : 1;

/** Copies of a text in which one bit is another, as far as they are still JSON. */
function* flips<T>(value: T): Generator<T> {
  const bytes = Buffer.from(JSON.stringify(value));
  for (let bit = 0; bit < bytes.length * 8; bit += STEP) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
    try {
      yield JSON.parse(changed.toString()) as T;
    } catch {
      // Who reads it finds no record there.
    }
  }
}

test("a log that was signed verifies, whole and each stream, with more records behind it, and in whatever batches it grew", () =>
  fc.assert(
    fc.asyncProperty(auditRecords({ min: 1, max: 40 }), fc.nat(), async (records, cut) => {
      const at = cut % (records.length + 1);
      const some = grown(records.slice(0, at));
      for (const [stream, tree] of some.grown()) expect(await judged(stream, tree, records)).toBeUndefined();
      const [first, ...streams] = [...some.grown()].reverse();
      const further = new LogGrowth(first?.[1] as LogTree, form);
      for (const [stream, tree] of streams) further.open(stream, tree);
      for (const record of records.slice(at)) {
        if (!further.knows(record.stream)) further.open(record.stream, emptyTree());
        expect(further.take(record, nothingMissing)).toBeUndefined();
      }
      const roots = (growth: LogGrowth) =>
        Object.fromEntries([...growth.grown()].map(([stream, { range }]) => [stream, Buffer.from(range.root()).toString("hex")]));
      expect(roots(further)).toEqual(roots(grown(records)));
    }),
  ));

test("a record that is dropped, swapped or repeated is found in its stream and in the whole log, no later than where it stood, and in no other stream", () =>
  fc.assert(
    fc.asyncProperty(auditRecords({ min: 1, max: 30 }), fc.nat(), damages, async (records, pick, damage) => {
      const signed = new Map(grown(records).grown());
      for (const [stream, tree] of signed) {
        const own = of(stream, records);
        const at = pick % own.length;
        const changed = damagedList(own, damage, at);
        const finding = await verifyRecords(pagesOf(changed), tree, { stream, form });
        if (damage === "swapped" && at === own.length - 1) expect(finding).toBeUndefined();
        else {
          const { flaw, sequence } = finding as LogFinding;
          expect(flaw).toBe("event_missing");
          expect(sequence).toBe(numberIn(stream, own[at] as LogRecord) + (damage === "repeated" ? 1 : 0));
        }
        if (stream === wholeLog) continue;
        const gone = new Set(own);
        const rest = records.filter((record) => !gone.has(record));
        for (const [other, its] of signed)
          if (other !== stream && other !== wholeLog) expect(await judged(other, its, rest)).toBeUndefined();
      }
    }),
  ));

test("each bit of each event counts", () =>
  fc.assert(
    fc.asyncProperty(auditRecords({ min: 1, max: 4 }), async (records) => {
      const signed = new Map(grown(records).grown());
      for (const [at, record] of records.entries())
        for (const event of flips(record.event)) {
          const now = records.with(at, { ...record, event });
          for (const stream of [record.stream, wholeLog])
            expect(await judged(stream, signed.get(stream) as LogTree, now), JSON.stringify(event)).toBeDefined();
        }
    }),
    { numRuns: 5 },
  ));

test("a checkpoint opens as it was signed, and with no bit of it another", async () => {
  const [records] = fc.sample(auditRecords({ min: 12, max: 12 }), { numRuns: 1, seed: 1 }) as [readonly LogRecord[]];
  const kept = (await checkpointsOf(grown(records))).at(-1) as StreamCheckpoint;
  expect(openLogTree(kept, wholeLog, log)).toMatchObject({ gaps: [], range: { size: 12 } });
  expect(openLogTree(kept, "acme", log), "of another stream").toMatchObject({ flaw: "checkpoint_invalid" });
  expect(openLogTree(kept, wholeLog, { ...log, instance: "two" }), "of another instance").toMatchObject({
    flaw: "checkpoint_invalid",
  });
  for (const changed of flips(kept))
    expect(openLogTree(changed, wholeLog, log), JSON.stringify(changed)).toMatchObject({ flaw: "checkpoint_invalid" });
  // What was checked before is believed as far as it fits what it says.
  expect(openLogTree(kept, wholeLog, log, "checked")).toMatchObject({ range: { size: 12 } });
  expect(openLogTree({ ...kept, size: 11 }, wholeLog, log, "checked")).toMatchObject({ flaw: "checkpoint_invalid" });
});

test("records that are missing end the whole log unless each of them was accepted as gone; then all goes on, and none may come back", () =>
  fc.assert(
    fc.asyncProperty(auditRecords({ min: 3, max: 20 }), fc.nat(), fc.nat(3), async (records, pick, more) => {
      const at = pick % (records.length - 1);
      const lost = records.slice(at, Math.min(at + 1 + more, records.length - 1));
      const there = records.filter((record) => !lost.includes(record));
      const gap = { first: (lost[0] as LogRecord).seq, last: (lost.at(-1) as LogRecord).seq };
      const take = (accepted: readonly { first: number; last: number }[]) => {
        const growth = new LogGrowth(emptyTree(), form);
        const seqs = new Map<string, number>();
        for (const record of there) {
          if (!growth.knows(record.stream)) growth.open(record.stream, emptyTree());
          const after = seqs.get(record.stream) ?? 0;
          const finding = growth.take(record, { accepted, after });
          if (finding !== undefined) return finding;
          seqs.set(record.stream, record.seq);
        }
        return growth;
      };
      const finding = { flaw: "event_missing", stream: wholeLog, sequence: gap.first };
      expect(take([])).toEqual(finding);
      if (gap.last > gap.first) expect(take([{ ...gap, last: gap.last - 1 }])).toEqual(finding);
      const growth = take([gap]) as LogGrowth;
      expect(growth.broken()).toEqual([]);
      const trees = new Map(growth.grown());
      for (const [stream, tree] of trees) expect(await judged(stream, tree, there)).toBeUndefined();
      const whole = trees.get(wholeLog) as LogTree;
      expect(await judged(wholeLog, whole, records)).toEqual({ flaw: "root_differs", stream: wholeLog, sequence: gap.first });
      const kept = (await checkpointsOf(growth)).at(-1) as StreamCheckpoint;
      expect(signedGaps(kept, wholeLog, log)).toEqual(whole.gaps);
      expect(openLogTree(kept, wholeLog, log)).toMatchObject({ gaps: whole.gaps });
    }),
    { numRuns: 30 },
  ));

test("a stream that does not go on where it was signed is signed no further; the whole log and all others are", () =>
  fc.assert(
    fc.property(auditRecords({ min: 2, max: 20 }), fc.nat(), (records, pick) => {
      const broken = records[pick % records.length]?.stream as string;
      const growth = new LogGrowth(emptyTree(), form);
      const before = new Set<string>();
      for (const record of records) {
        if (!growth.knows(record.stream)) growth.open(record.stream, emptyTree());
        const skipped = record.stream === broken && before.size === 0;
        before.add(record.stream === broken ? broken : "");
        const taken = skipped ? { ...record, stream_seq: record.stream_seq + 1 } : record;
        expect(growth.take(taken, nothingMissing)).toBeUndefined();
      }
      expect(growth.size).toBe(records.length);
      const streams = [...growth.grown()].map(([stream]) => stream);
      for (const { stream } of growth.broken()) expect([stream, streams.includes(stream)]).toEqual([broken, false]);
    }),
  ));

test("claims about a log hold as far as its records are what they were, and none that counts one which is not", () =>
  fc.assert(
    fc.asyncProperty(
      auditRecords({ min: 1, max: 20 }),
      fc.array(fc.nat(), { maxLength: 6 }),
      fc.nat(),
      fc.constantFrom<LogDamage | "none">("none", "dropped", "swapped", "repeated"),
      async (records, picks, pick, damage) => {
        const sizes = [...new Set(picks.map((n) => n % (records.length + 1)))].sort((a, b) => a - b);
        const claims = sizes.map((size) => {
          const tree = new Map(grown(records.slice(0, size)).grown()).get(wholeLog) as LogTree;
          return { size, root: Buffer.from(tree.range.root()).toString("base64") };
        });
        const at = pick % records.length;
        const now = damage === "none" ? records : damagedList(records, damage, at);
        const same = now.every((record, i) => record === records[i]) && now.length >= records.length;
        const wrong = same ? Number.POSITIVE_INFINITY : now.findIndex((record, i) => record !== records[i]);
        const from = same ? wrong : wrong < 0 ? now.length : wrong;
        const leaves = (first: number) => now.slice(first - 1).map(form.leaf);
        const { firstBad, missing } = await verifyClaims(claims, { leaves }, form.sha256);
        const bad = sizes.find((size) => size > from && !equalPrefix(now, records, size)) ?? null;
        expect(firstBad).toBe(bad);
        expect(missing).toBe(Math.max(0, (sizes.at(-1) ?? 0) - now.length));
      },
    ),
  ));

const equalPrefix = (some: readonly LogRecord[], others: readonly LogRecord[], size: number): boolean =>
  some.length >= size &&
  some.slice(0, size).every((record, i) => Buffer.from(form.leaf(record)).equals(form.leaf(others[i] as LogRecord)));
