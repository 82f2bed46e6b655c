import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { Check, DocumentStore, Page, RangeCheck, Stored } from "@seneschal/kernel/ports";

/** A view of a store that remembers what was read through it. */
export interface RecordedReads {
  readonly store: DocumentStore;
  /** Whether everything that was read was true at one moment. Nothing more is remembered afterwards. */
  hold(): Promise<boolean>;
  /** Whether everything that was read is still as it was read. */
  same(): Promise<boolean>;
  /** How many reads there were. */
  count(): number;
  /** What was got, for a commit that is only good while it is the same. */
  checks(): readonly Check[];
  /** What was listed and counted, for a commit that is only good while the answers are the same. */
  ranges(): readonly RangeCheck[];
}

/** Who reads more often than this is counting over many records while others write, and means to. */
const MOST = 100;

interface Recorded {
  readonly again: () => Promise<unknown>;
  readonly seen: string;
  readonly range: RangeCheck;
}

export interface RecordedReadsOptions {
  /** What was read before, of the same moment: it holds, and is told, together with what is read here. */
  readonly before?: Pick<RecordedReads, "same" | "checks" | "ranges" | "count"> | undefined;
  /** Where to look again; default: where it was read. A cache in between has its own moment. */
  readonly again?: DocumentStore;
}

/**
 * Remembers what is read, by versions. To {@link RecordedReads.hold} everything is read once more: no version ever comes back, so
 * what is the same again was the same in between, and all of it at the moment between the last first and the first second
 * reading. One read alone is of one moment. The audit log is only ever appended to: what was read of it stays true.
 */
export function recordedReads(store: DocumentStore, given: RecordedReadsOptions = {}): RecordedReads {
  checkOptions("given", given, { before: "object?", again: "object?" });
  checkArgument("store", store, "object");
  const { before, again: source = store } = given;
  const gets = new Map<string, Map<string, number>>();
  const others: Recorded[] = [];
  let reads = 0;
  let closed = false;
  let torn = false;

  const remembers = (coll: string): boolean => {
    if (closed || coll === "audit") return false;
    reads += 1;
    return reads <= MOST;
  };
  const got = (coll: string, id: string, stored: Stored | undefined): void => {
    const version = stored?.version ?? 0;
    const known = gets.get(coll) ?? new Map<string, number>();
    gets.set(coll, known);
    if ((known.get(id) ?? version) !== version) torn = true;
    // The first version stays: it never comes back, so that no commit stands on two.
    else known.set(id, version);
  };

  const ownSame = async (): Promise<boolean> => {
    if (torn) return false;
    const same = await Promise.all([
      ...[...gets].map(async ([coll, known]) => {
        const ids = [...known.keys()];
        const now = await source.getMany(coll, ids);
        return ids.every((id, i) => (now[i]?.version ?? 0) === known.get(id));
      }),
      ...others.map(async ({ again, seen }) => String(await again()) === seen),
    ]);
    return same.every(Boolean);
  };

  return {
    store: {
      capabilities: store.capabilities,
      async get(coll, id) {
        const stored = await store.get(coll, id);
        if (remembers(coll)) got(coll, id, stored);
        return stored;
      },
      async getMany(coll, ids) {
        const all = await store.getMany(coll, ids);
        if (remembers(coll)) for (const [i, id] of ids.entries()) got(coll, id, all[i]);
        return all;
      },
      async list(coll, index, prefix, options) {
        const page = await store.list(coll, index, prefix, options);
        if (remembers(coll))
          others.push({
            again: async () => versions(await source.list(coll, index, prefix, options)),
            seen: versions(page),
            range: { coll, index, prefix, options, found: page.items },
          });
        return page;
      },
      async count(coll, index, prefix, range) {
        const count = await store.count(coll, index, prefix, range);
        if (remembers(coll))
          others.push({
            again: () => source.count(coll, index, prefix, range),
            seen: String(count),
            range: { coll, index, prefix, ...(range && { options: range }), found: count },
          });
        return count;
      },
      auditRead: (after, limit) => store.auditRead(after, limit),
      changes: (after, limit) => store.changes(after, limit),
      compact: (upTo) => store.compact(upTo),
      commit: (commit) => store.commit(commit),
      subscribe: (callback) => store.subscribe(callback),
      close: () => store.close(),
    },
    async hold() {
      closed = true;
      const earlier = before?.count() ?? 0;
      if (torn) return false;
      if (reads + earlier <= 1) return true;
      const kept = reads > MOST ? [] : [ownSame()];
      return (await Promise.all([...kept, before?.same() ?? true])).every(Boolean);
    },
    same: async () => (await Promise.all([ownSame(), before?.same() ?? true])).every(Boolean),
    count: () => reads + (before?.count() ?? 0),
    checks: () => [
      ...(before?.checks() ?? []),
      ...[...gets].flatMap(([coll, known]) => [...known].map(([id, version]) => ({ coll, id, version }))),
    ],
    ranges: () => [...(before?.ranges() ?? []), ...others.map(({ range }) => range)],
  };
}

const versions = ({ items, cursor }: Page): string =>
  `${items.map(({ id, version }) => `${version} ${id}`).join("\n")}${cursor === undefined ? "" : "\n..."}`;
