import { commitHistory } from "@seneschal/kernel/arbitraries";
import { encodeEntry, sortedJson } from "@seneschal/kernel/log";
import type { Commit, DocumentStore, LogEntry, Migratable, Migration, ReplicatedLog } from "@seneschal/kernel/ports";
import { suiteSchema } from "@seneschal/kernel/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { abortTransfer, transfer } from "../../../src/compose/migration/transfer.ts";

/** A fresh store or log of an engine: opened as a service does, and to be migrated. */
export interface TestPlace<T> {
  readonly name: string;
  readonly open: () => Promise<T>;
  readonly migratable: () => Promise<Migratable>;
}

type Kept = { close(): Promise<void> };

/** What a place is filled with, and all that can be asked of it. */
interface Subject<T extends Kept, H> {
  readonly history: fc.Arbitrary<H>;
  readonly fill: (kept: T, history: H) => Promise<void>;
  readonly answers: (kept: T, history: H) => Promise<unknown>;
  /** Goes on from there: what is answered then. */
  readonly goOn: (kept: T, history: H) => Promise<unknown>;
  readonly refusals: readonly string[];
}

const steps = ["fence", "unfence", "beginImport", "write", "finishImport", "discardImport"] as const;

/** The same place, whose process dies when it has done so many steps. */
function dying(place: Migratable, fuse: { left: number }): Migratable {
  const burnt = { ...place };
  for (const step of steps)
    burnt[step] = async (...args: never[]) => {
      if (fuse.left === 0) throw new Error("killed");
      fuse.left -= 1;
      await (place[step] as (...given: never[]) => Promise<void>)(...args);
      if (fuse.left === 0) throw new Error("killed");
    };
  return burnt;
}

async function within<T extends Kept, R>(opening: Promise<T>, use: (kept: T) => Promise<R>): Promise<R> {
  const kept = await opening;
  try {
    return await use(kept);
  } finally {
    await kept.close();
  }
}

/** Which of the places can be opened; others say why. */
async function openable<T extends Kept>(place: TestPlace<T>, refusals: readonly string[]): Promise<boolean> {
  try {
    await within(place.open(), async () => undefined);
    return true;
  } catch (error) {
    expect(refusals).toContain((error as { code?: string }).code);
    return false;
  }
}

/** Laws of a migration from places of one engine to places of another. */
export function transferLaws<T extends Kept, H>(
  { history, fill, answers, goOn, refusals }: Subject<T, H>,
  ends: () => Promise<readonly [TestPlace<T>, TestPlace<T>]>,
  runs: number,
): void {
  const options = { id: "m1", now: 0, page: 3 };
  /** A migration whose process dies after so many steps; true: it came to its end. */
  const run = async (
    from: TestPlace<T>,
    to: TestPlace<T>,
    left: number,
    work = (e: Parameters<typeof transfer>[0]): Promise<unknown> => transfer(e, options),
  ) => {
    const fuse = { left };
    return within(from.migratable(), (source) =>
      within(to.migratable(), async (target) => {
        try {
          await work({ source: dying(source, fuse), target: dying(target, fuse), from: from.name, to: to.name });
          return true;
        } catch (error) {
          if ((error as Error).message !== "killed") throw error;
          return false;
        }
      }),
    );
  };
  const laws = (name: string, law: (from: TestPlace<T>, to: TestPlace<T>, given: H) => Promise<void>): void =>
    test(name, async () => {
      await fc.assert(
        fc.asyncProperty(history, async (given) => {
          const [from, to] = await ends();
          await within(from.open(), (kept) => fill(kept, given));
          await law(from, to, given);
        }),
        { numRuns: runs },
      );
    });

  laws(
    "killed after each step and run again, it arrives as it was, and never can both places be opened",
    async (from, to, given) => {
      const before = await within(from.open(), (kept) => answers(kept, given));
      const was = await within(from.migratable(), rowsOf);
      for (let rounds = 0, done = false; !done; rounds += 1) {
        expect(rounds).toBeLessThan(500);
        // Killed between the two marks it begins anew: every other time it comes further.
        done = await run(from, to, 1 + (rounds % 2));
        // An end that is not begun yet is empty: only what has content counts as served.
        const [a, b] = [await openable(from, refusals), await within(to.migratable(), (place) => place.state())];
        expect([a, b.state]).not.toEqual([true, "serving"]);
      }
      expect(await run(from, to, 100), "a run more finds it done").toBe(true);
      expect(await openable(from, refusals)).toBe(false);
      expect(await within(from.migratable(), rowsOf), "the source keeps every row").toEqual(was);
      expect(await within(to.open(), (kept) => answers(kept, given))).toEqual(before);
      await within(to.open(), (kept) => goOn(kept, given));
      await expect(
        within(from.migratable(), (source) =>
          within(to.migratable(), (target) => abortTransfer({ source, target, from: from.name, to: to.name })),
        ),
      ).rejects.toMatchObject({ code: "migration_refused" });
    },
  );

  laws(
    "undone after any number of steps, and killed meanwhile, the source serves as it did and the target is empty",
    async (from, to, given) => {
      const before = await within(from.open(), (kept) => answers(kept, given));
      const isServing = () => within(to.migratable(), async (place) => (await place.state()).state === "serving");
      for (let cut = 1; !(await run(from, to, cut)) && !(await isServing()); cut += 2) {
        while (!(await run(from, to, 1, abortTransfer).catch(refusedAs("nothing_to_abort"))));
        expect((await within(to.migratable(), (place) => place.state())).state).toBe("empty");
        expect(await within(from.open(), (kept) => answers(kept, given))).toEqual(before);
      }
    },
  );

  laws(
    "a run that another has undone and begun anew neither writes, ends nor undoes it, and a source is fenced once",
    async (from, to) => {
      const at = "2026-01-01T00:00:00.000Z";
      const [late, move] = ["late", "m2"].map((id) => ({ id, from: from.name, to: to.name, at })) as [Migration, Migration];
      await within(to.migratable(), async (target) => {
        await target.beginImport(late);
        await target.discardImport(late);
        await target.beginImport(move);
        const [table = ""] = target.tables;
        const [row] = await within(from.migratable(), (source) => source.read(table, undefined, 1));
        await expect(target.write(late, table, row === undefined ? [] : [row])).rejects.toMatchObject({
          code: "store_misconfigured",
        });
        await expect(target.discardImport(late)).rejects.toMatchObject({ code: "store_misconfigured" });
        await expect(target.finishImport(late, {})).rejects.toMatchObject({ code: "store_misconfigured" });
        expect(await target.state()).toEqual({ state: "importing", move });
        expect(await target.read(table, undefined, 1)).toEqual([]);
      });
      await within(from.migratable(), async (source) => {
        await source.fence(move);
        await source.fence(move);
        await expect(source.fence(late)).rejects.toMatchObject({ code: "store_misconfigured" });
        expect(await source.state()).toEqual({ state: "moved", move });
      });
      // One that came too late to fence it has marked its target: that is undone, and the fence of the other stays.
      const [, other] = await ends();
      await within(other.migratable(), (target) => target.beginImport({ ...late, to: other.name }));
      expect(await run(from, other, 100, abortTransfer)).toBe(true);
      expect((await within(other.migratable(), (target) => target.state())).state).toBe("empty");
      expect(await within(from.migratable(), (source) => source.state())).toEqual({ state: "moved", move });
    },
  );

  laws(
    "a target with content, and a source that was moved elsewhere, are refused and stay as they are",
    async (from, to, given) => {
      await within(to.open(), (kept) => fill(kept, given));
      const before = await within(to.open(), (kept) => answers(kept, given));
      await expect(run(from, to, 100)).rejects.toMatchObject({
        code: "migration_refused",
        details: { reason: "target_serving" },
      });
      expect(await within(to.open(), (kept) => answers(kept, given))).toEqual(before);
      const [, other] = await ends();
      await run(from, other, 100);
      const [, third] = await ends();
      await expect(run(from, third, 100)).rejects.toMatchObject({ details: { reason: "source_moved" } });
      await expect(run(to, from, 100)).rejects.toMatchObject({ details: { reason: "target_moved" } });
      await expect(run(third, other, 100)).rejects.toMatchObject({ details: { reason: "source_empty" } });
    },
  );
}

const refusedAs =
  (reason: string) =>
  (error: unknown): true => {
    expect(error).toMatchObject({ code: "migration_refused", details: { reason } });
    return true;
  };

async function rowsOf(place: Migratable): Promise<unknown> {
  const all: Record<string, unknown> = {};
  for (const table of place.tables) all[table] = await place.read(table, undefined, 1000);
  return all;
}

async function everyPage<R extends { readonly seq: number }>(
  read: (after: number) => Promise<readonly R[]>,
): Promise<readonly R[]> {
  const all: R[] = [];
  for (let page = await read(0); page.length > 0; page = await read(all.at(-1)?.seq ?? 0)) all.push(...page);
  return all;
}

/** Stores, by the histories of the store's suite. */
export const stores: Subject<DocumentStore, readonly Commit[]> = {
  history: commitHistory(12).filter((commits) => commits.some(({ puts = [], audit = [] }) => puts.length + audit.length > 0)),
  async fill(store, commits) {
    // The first of the suite's histories may all be refused; one document is there for sure, and a second collection with an id that tests the order of bytes.
    await store.commit({
      commitId: "first",
      puts: ["é", "Z", "a/b", "😀"].map((id) => ({ coll: "others", id, doc: { n: 1.5e300, text: `ä${id}` } })),
      audit: [
        { stream: "s/é", event: { type: "old" } },
        { stream: "s/é", event: { type: "t", z: 1, a: [null, { b: true }] } },
      ],
    });
    for (const commit of commits) await store.commit(commit);
    // As of what was archived, the log begins behind its first event.
    await store.compact({ audit: 1 });
    expect((await store.auditRead(0, 1)).map(({ seq }) => seq)).toEqual([2]);
  },
  async answers(store, commits) {
    const documents: string[] = [];
    for (const [coll, { indexes }] of Object.entries(suiteSchema.collections))
      for (const index of Object.keys(indexes))
        documents.push(sortedJson((await store.list(coll, index, [], { limit: 100 })) as never));
    const others = await store.getMany("others", ["é", "Z", "a/b", "😀"]);
    const repeated = await Promise.all(
      commits.map(({ commitId, audit = [] }) =>
        store.commit({ commitId, checks: [{ coll: "things", id: "never", version: 99 }], audit }),
      ),
    );
    return {
      documents,
      others: others.map((one) => sortedJson(one as never)),
      streams: sortedJson((await store.list("audit", "stream", ["s1"], { limit: 100 })) as never),
      audit: sortedJson((await everyPage((after) => store.auditRead(after, 7))) as never),
      changes: sortedJson((await everyPage((after) => store.changes(after, 7))) as never),
      repeated: repeated.map((result) => (result.ok ? result.seq : "refused")),
    };
  },
  async goOn(store) {
    const [audit, changes] = [
      await everyPage((after) => store.auditRead(after, 100)),
      await everyPage((after) => store.changes(after, 100)),
    ];
    const streamSeq = Math.max(0, ...audit.filter(({ stream }) => stream === "s1").map((entry) => entry.streamSeq));
    const next = await store.commit({
      commitId: "after the move",
      puts: [{ coll: "others", id: "new", doc: {}, ifVersion: 0 }],
      audit: [{ stream: "s1", event: { type: "t" } }],
    });
    expect(next).toMatchObject({ ok: true, audit: [{ seq: (audit.at(-1)?.seq ?? 0) + 1, streamSeq: streamSeq + 1 }] });
    expect(await store.changes(changes.length, 10)).toMatchObject([{ seq: changes.length + 1, id: "new" }]);
    expect(next.ok && next.seq).toBeGreaterThan(Math.max(0, ...changes.map(({ version = 0 }) => version)));
  },
  refusals: ["store_moved", "store_incomplete"],
};

interface LogHistory {
  readonly entries: number;
  /** Of the newest snapshot, and up to where entries were dropped; 0: none. */
  readonly snapshot: number;
  readonly dropped: number;
  readonly pieces: readonly number[];
}

const entryAt = (seq: number): LogEntry => ({
  v: 1,
  seq,
  batchId: `batch-${seq}`,
  prevHash: "",
  at: seq,
  commands: [{ text: `é${seq}` }],
});

/** Logs with snapshots, dropped entries and an archive. */
export const logs: Subject<ReplicatedLog, LogHistory> = {
  history: fc
    .record({
      entries: fc.integer({ min: 1, max: 12 }),
      snapshot: fc.nat(12),
      dropped: fc.nat(12),
      pieces: fc.uniqueArray(fc.nat(4), { maxLength: 3 }),
    })
    .map(({ entries, snapshot, dropped, pieces }) => {
      const at = Math.min(entries, snapshot);
      return { entries, snapshot: at, dropped: Math.min(at, dropped), pieces };
    }),
  async fill(log, { entries, snapshot, dropped, pieces }) {
    for (let seq = 1; seq <= entries; seq += 1)
      await log.append({ seq: seq - 1, batchId: seq === 1 ? "" : `batch-${seq - 1}` }, entryAt(seq));
    if (snapshot > 1) await log.saveSnapshot(snapshot - 1, Uint8Array.of(9));
    if (snapshot > 0) await log.saveSnapshot(snapshot, Uint8Array.of(0, 255, snapshot));
    if (dropped > 0) await log.truncate(dropped);
    for (const piece of pieces) await log.archive(piece, Uint8Array.of(piece, 0, 254));
  },
  async answers(log, { dropped, pieces }) {
    const { head } = await log.read(dropped, { limit: 1 });
    const entries: string[] = [];
    while (dropped + entries.length < head.seq)
      entries.push(...(await log.read(dropped + entries.length, { limit: 5 })).entries.map(encodeEntry));
    const before = dropped === 0 ? "all" : await log.read(dropped - 1, { limit: 1 }).catch(({ code }: { code: string }) => code);
    const archived = await Promise.all([...pieces, 99].map(async (piece) => [piece, await log.archived(piece)]));
    return { head, entries, before, archived, snapshot: await log.loadSnapshot() };
  },
  async goOn(log, { entries }) {
    const appended = await log.append({ seq: entries, batchId: `batch-${entries}` }, entryAt(entries + 1));
    expect(appended).toMatchObject({ ok: true, head: { seq: entries + 1 } });
    await log.saveSnapshot(entries + 1, Uint8Array.of(7));
    await log.truncate(entries);
    expect((await log.loadSnapshot())?.seq).toBe(entries + 1);
  },
  refusals: ["log_moved", "log_incomplete"],
};
