import { refusal } from "@seneschal/core/keys";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import type { AuditDraft, Commit, DocumentStore, IndexValue, ListOptions, Put, Stored } from "@seneschal/kernel/ports";
import type { Collection } from "../../../platform/collection.ts";
import { type Admission, recordedReads } from "../../../platform/index.ts";
import { documents, listStored, type Reader, reader } from "./reader.ts";

/**
 * Work runs side by side, until one asks to run alone: it waits for what is under way, and what comes meanwhile waits for it.
 * Work that runs alone must not begin other work of the same turns: that one would wait for it for ever.
 */
function openTurns() {
  let running = 0;
  let idle: (() => void) | undefined;
  let alone: Promise<void> | undefined;

  return {
    async together<R>(work: () => Promise<R>): Promise<R> {
      while (alone !== undefined) await alone;
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
        if (running === 0) idle?.();
      }
    },
    async alone<R>(work: () => Promise<R>): Promise<R> {
      while (alone !== undefined) await alone;
      let end = (): void => undefined;
      alone = new Promise((resolve) => {
        end = resolve;
      });
      if (running > 0) await new Promise<void>((resolve) => (idle = resolve));
      try {
        return await work();
      } finally {
        idle = undefined;
        alone = undefined;
        end();
      }
    },
  };
}

const turns = new WeakMap<object, ReturnType<typeof openTurns>>();

/** The turns of what works on `store` in this process. */
function turnsOf(store: object): ReturnType<typeof openTurns> {
  const known = turns.get(store) ?? openTurns();
  turns.set(store, known);
  return known;
}

/**
 * A transaction in the making: reads, lists and counts are guarded, writes and audit events wait for the one commit at its end.
 * A document that was got once is the same for the whole unit, whatever others commit meanwhile.
 */
export interface Unit extends Reader {
  /** Writes a document that must not exist yet. */
  insert<T extends object>(into: Collection<T>, id: string, doc: T): void;
  /** Writes a document that was got or listed in this unit: it is refused if it changed since; one never read is overwritten. */
  put<T extends object>(into: Collection<T>, id: string, doc: T): void;
  delete<T extends object>(from: Collection<T>, id: string): void;
  audit(draft: AuditDraft): void;
  /** Documents that go along with its audit events and are no change of anything: nobody reads them in a unit. */
  along(puts: readonly Put[]): void;
  /** Runs once, after the commit stands. */
  afterCommit(run: () => void): void;
  /** Forgets what is cached of what this unit changes: runs once the commit stands, and also when it may stand. */
  invalidate(run: () => void): void;
}

const ATTEMPTS = 12;

/** Who has lost so many races runs alone in this process: commits of the same moment share a batch, in which the same one loses each time. */
const TOGETHER = 3;

/** Stands for an attempt that lost. */
const LOST = Symbol("lost");

/**
 * Runs `work` and commits what it wrote, entity changes and audit events together. When somebody else changed what it read,
 * everything is thrown away and `work` runs again on the new state, so that every guard is judged on what is really
 * there; `work` must therefore have no effect outside of its unit. So it is when `work` throws, or answers without a write:
 * what leaves was judged on reads of one moment. A unit that lost {@link TOGETHER} races runs alone in this process, so that no
 * load of others keeps it from ending; `work` must therefore begin no other unit of the same store.
 *
 * `onChange` is called when documents were written or may have been, before anybody hears of it. With an `admission` the unit belongs to a
 * request: what its caller was let in on holds together with what is read here, or the caller is let in anew before `work` runs again.
 *
 * Throws what `work` throws, `CONFLICT` for a violated unique index, `SERVICE_UNAVAILABLE` for losing {@link ATTEMPTS} races in a row. The
 * store is `settled`: its `outcome_unknown` is final, and what may have been committed is neither undone nor promised.
 */
export async function transact<R>(
  store: DocumentStore,
  commitId: () => string,
  work: (unit: Unit) => Promise<R>,
  onChange: () => void = () => undefined,
  admission?: Admission,
): Promise<R> {
  const { together, alone } = turnsOf(store);
  const attempt = (last: boolean) => attemptOnce(store, commitId, work, onChange, admission, last);
  for (let lost = 0; lost < ATTEMPTS; lost++) {
    // Between turns: a refusal is recorded by a unit of its own. Of another caller it would be another's work from here on.
    if (lost > 0 && (await admission?.revise()) === false) break;
    const run = lost < TOGETHER ? together : alone;
    const answer = await run(() => attempt(lost + 1 === ATTEMPTS));
    if (answer !== LOST) return answer as R;
  }
  throw lostRace();
}

/** What was asked for lost against others each time: nothing is wrong with it, and the same may be asked again. */
export const lostRace = () => refusal("SERVICE_UNAVAILABLE", "changed by others at the same time: try again", { retry_after: 1 });

async function attemptOnce<R>(
  store: DocumentStore,
  commitId: () => string,
  work: (unit: Unit) => Promise<R>,
  onChange: () => void,
  admission: Admission | undefined,
  last: boolean,
): Promise<R | typeof LOST> {
  const { unit, commit, changes, callbacks, caches, clashes, hold } = openUnit(store, admission);
  let answer: R;
  try {
    answer = await work(unit);
  } catch (error) {
    // INVARIANT: nothing is judged on what was never true together; the commit, which would have noticed, is not reached.
    if (last || (await hold())) throw error;
    return LOST;
  }
  const draft = commit();
  if (draft === undefined) return (await hold()) ? answer : LOST;
  const invalidate = (): void => {
    if (changes()) onChange();
    for (const run of caches) run();
  };
  const outcome = await store.commit({ commitId: commitId(), ...draft }).catch((error: unknown) => {
    if (isCoded(error, "outcome_unknown")) invalidate();
    throw error;
  });
  if (outcome.ok) {
    if (changes()) admission?.stands();
    invalidate();
    for (const run of callbacks) run();
    return answer;
  }
  const [violation] = outcome.unique;
  // Of what was there when it was judged: what failed beside it may have changed what the key says.
  if (violation !== undefined && outcome.failed.length === 0 && outcome.moved === undefined) {
    throw refusal("CONFLICT", clashes.get(`${violation.coll}.${violation.index}`) ?? "it exists already");
  }
  return LOST;
}

interface Pending {
  readonly coll: string;
  readonly id: string;
  /** Absent: to be deleted. */
  readonly doc?: object;
  readonly ifVersion?: number;
}

function openUnit(shared: DocumentStore, admission: Admission | undefined) {
  const { store, hold, ranges } = recordedReads(shared, { before: admission?.reads });
  const reads = new Map<string, Promise<Stored | undefined>>();
  const versions = new Map<string, { readonly coll: string; readonly id: string; readonly version: number }>();
  const listed = new Map<string, number>();
  const pending = new Map<string, Pending>();
  const audit: AuditDraft[] = [];
  const along: Put[] = [];
  const callbacks: (() => void)[] = [];
  const caches: (() => void)[] = [];
  const clashes = new Map<string, string>();

  const stage = (coll: Collection<object>, write: Pending): void => {
    for (const [index, text] of Object.entries(coll.clashes)) clashes.set(`${coll.name}.${index}`, text);
    const key = `${write.coll}/${write.id}`;
    const inserted = pending.get(key)?.ifVersion === 0;
    const ifVersion = inserted ? 0 : (write.ifVersion ?? versions.get(key)?.version ?? listed.get(key));
    const { id, doc } = write;
    pending.set(key, { coll: write.coll, id, ...(doc && { doc }), ...(ifVersion === undefined ? {} : { ifVersion }) });
  };

  const { page, count } = reader(store);
  const unit: Unit = {
    page,
    count,
    async get<T extends object>(from: Collection<T>, id: string) {
      const key = `${from.name}/${id}`;
      const staged = pending.get(key);
      if (staged !== undefined) return staged.doc as T | undefined;
      // INVARIANT: one read per document. A second one could see a later version, which the guards were not judged on.
      const reading = reads.get(key) ?? store.get(from.name, id);
      reads.set(key, reading);
      const stored = await reading;
      versions.set(key, { coll: from.name, id, version: stored?.version ?? 0 });
      return stored?.doc as T | undefined;
    },
    async list<T extends object>(
      from: Collection<T>,
      index: string,
      prefix: readonly IndexValue[],
      options?: Partial<ListOptions>,
    ) {
      const items = await listStored(store, from, index, prefix, options);
      for (const { id, version } of items) {
        const key = `${from.name}/${id}`;
        if (!listed.has(key)) listed.set(key, version);
      }
      return documents<T>(items);
    },
    insert(into, id, doc) {
      stage(into as Collection<object>, { coll: into.name, id, doc, ifVersion: 0 });
    },
    put(into, id, doc) {
      stage(into as Collection<object>, { coll: into.name, id, doc });
    },
    delete(from, id) {
      stage(from as Collection<object>, { coll: from.name, id });
    },
    audit(draft) {
      audit.push(draft);
    },
    along(puts) {
      along.push(...puts);
    },
    afterCommit(run) {
      callbacks.push(run);
    },
    invalidate(run) {
      caches.push(run);
    },
  };

  const commit = (): Required<Omit<Commit, "commitId">> | undefined => {
    if (pending.size === 0 && audit.length === 0) return undefined;
    const writes = [...pending.values()];
    const puts = writes.filter((write) => write.doc !== undefined) as (Pending & { readonly doc: object })[];
    const dels = writes.filter((write) => write.doc === undefined);
    return {
      puts: [...puts.map(({ doc, ...put }): Put => ({ doc: doc as JsonObject, ...put })), ...along],
      dels,
      checks: [
        ...(admission?.reads.checks() ?? []),
        ...[...versions.entries()].filter(([key]) => !pending.has(key)).map(([, check]) => check),
      ],
      ranges: ranges(),
      audit,
    };
  };

  return { unit, commit, changes: () => pending.size > 0, callbacks, caches, clashes, hold };
}
