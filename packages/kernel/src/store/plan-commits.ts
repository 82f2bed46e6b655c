import { checkArgument } from "../argument.ts";
import type { AuditNumber, Change, CommitResult, FailedCondition, UniqueViolation } from "../ports/document-store.ts";
import { entryKey } from "./index-key.ts";
import { atTime, type PreparedCommit, type PreparedRange } from "./prepare-commit.ts";
import { auditIdBytes, auditNumberKeys, type CompiledSchema, type IndexKeys } from "./schema.ts";

/** The newest number of each sequence; each is dense from 1. */
export interface StoreHead {
  readonly commit: number;
  readonly change: number;
  readonly audit: number;
  /** The time of the newest audit entry; absent before the first, and where the schema names no `auditTime`. */
  readonly auditTime?: string;
}

/** A retry is recognised while its commit is among this many newest ones. */
export const commitIdWindow = 100_000;

/** A document as the planner sees it. */
export interface IndexedVersion {
  readonly version: number;
  readonly keys: IndexKeys;
}

/** What the store holds now, as far as {@link readsOf} named it. */
export interface StoreView {
  readonly head: StoreHead;
  readonly document: (coll: string, id: string) => IndexedVersion | undefined;
  /** The id that holds a key of a unique index. */
  readonly owner: (coll: string, index: string, key: string) => string | undefined;
  /** What a list or a count answers, by {@link answerText}. */
  readonly answer: (range: PreparedRange) => string;
  /** The newest `streamSeq`, 0 before the first. */
  readonly streamSeq: (stream: string) => number;
  /** The commit sequence of an applied commit id. */
  readonly applied: (commitId: string) => number | undefined;
}

/** Everything that {@link planCommits} looks at, without repetition. */
export interface PlanReads {
  readonly documents: readonly { readonly coll: string; readonly id: string }[];
  readonly owners: readonly { readonly coll: string; readonly index: string; readonly key: string }[];
  readonly ranges: readonly PreparedRange[];
  readonly streams: readonly string[];
  readonly commitIds: readonly string[];
}

/** The state of one written document before and after the batch. Absent `after`: deleted. */
export interface PlannedDocument {
  readonly coll: string;
  readonly id: string;
  readonly before: IndexedVersion | undefined;
  readonly after: (IndexedVersion & { readonly text: string }) | undefined;
}

/** One audit entry with its numbers. */
export interface PlannedAudit {
  readonly seq: number;
  readonly stream: string;
  readonly streamSeq: number;
  readonly text: string;
  readonly keys: IndexKeys;
}

/** What to write, atomically, and what to answer once it is written: one result per commit, in order. */
export interface CommitPlan {
  readonly results: readonly CommitResult[];
  readonly head: StoreHead;
  readonly documents: readonly PlannedDocument[];
  readonly audit: readonly PlannedAudit[];
  readonly changes: readonly Change[];
  readonly applied: readonly { readonly commitId: string; readonly seq: number }[];
}

/** Names what a batch of commits must be judged on. */
export function readsOf(schema: CompiledSchema, commits: readonly PreparedCommit[]): PlanReads {
  checkArgument("schema", schema, "object");
  checkArgument("commits", commits, "array");
  const documents = new Map<string, { coll: string; id: string }>();
  const owners = new Map<string, { coll: string; index: string; key: string }>();
  const streams = new Set<string>();
  for (const { puts, dels, checks, audit } of commits) {
    for (const { coll, id } of [...puts, ...dels, ...checks]) documents.set(name(coll, id), { coll, id });
    for (const { coll, keys } of puts)
      for (const index of schema.collections.get(coll)?.uniques ?? []) {
        const key = keys[index];
        if (key !== undefined) owners.set(`${coll}/${index}/${key}`, { coll, index, key });
      }
    for (const { stream } of audit) streams.add(stream);
  }
  return {
    documents: [...documents.values()],
    owners: [...owners.values()],
    ranges: commits.flatMap(({ ranges }) => ranges),
    streams: [...streams],
    commitIds: [...new Set(commits.map((commit) => commit.commitId))],
  };
}

/**
 * Judges a batch of commits in order, each on the outcome of those before it, and says what to write. All engines share
 * it: the memory, level and PostgreSQL stores differ only in how they read the view and write the plan.
 *
 * A rejected commit leaves no trace and never fails its neighbours. The version of a written document is the sequence
 * of its commit, so that it never repeats. Conditions and unique keys are judged on the state that the whole commit
 * leaves: two documents may swap a unique key in one commit. Ranges are judged on the state before it; what an earlier commit of
 * the batch wrote into one is taken for another answer.
 */
export function planCommits(schema: CompiledSchema, view: StoreView, commits: readonly PreparedCommit[]): CommitPlan {
  checkArgument("schema", schema, "object");
  checkArgument("view", view, "object");
  checkArgument("commits", commits, "array");
  const written = new Map<string, PlannedDocument>();
  const claimed = new Map<string, string | undefined>();
  const streams = new Map<string, number>();
  const applied = new Map<string, number>();
  const audit: PlannedAudit[] = [];
  const changes: Change[] = [];
  const head: { -readonly [K in keyof StoreHead]: StoreHead[K] } = { ...view.head };

  const current = (coll: string, id: string): IndexedVersion | undefined => {
    const planned = written.get(name(coll, id));
    return planned === undefined ? view.document(coll, id) : planned.after;
  };
  const write = (coll: string, id: string, after: PlannedDocument["after"]): void => {
    const planned = written.get(name(coll, id));
    written.set(name(coll, id), { coll, id, before: planned === undefined ? view.document(coll, id) : planned.before, after });
    head.change += 1;
    changes.push({ seq: head.change, coll, id, ...(after === undefined ? {} : { version: after.version }) });
  };

  const judge = (commit: PreparedCommit): CommitResult => {
    const earlier = applied.get(commit.commitId) ?? view.applied(commit.commitId);
    if (earlier !== undefined) return accepted(commit, earlier, []);

    const failed = failedConditions(commit, current);
    const claims = new Map<string, string | undefined>();
    const unique = uniqueViolations(schema, commit, claims, current, (coll, index, key) => {
      const slot = `${coll}/${index}/${key}`;
      return claimed.has(slot) ? claimed.get(slot) : view.owner(coll, index, key);
    });
    const moved = commit.ranges.filter((range) => touches(written.values(), range) || view.answer(range) !== range.found);
    if (failed.length > 0 || unique.length > 0 || moved.length > 0) {
      const lists = moved.map(({ coll, index }) => ({ coll, index }));
      return { ok: false, failed, unique, ...(moved.length === 0 ? {} : { moved: lists }) };
    }

    head.commit += 1;
    const seq = head.commit;
    applied.set(commit.commitId, seq);
    for (const [slot, id] of claims) claimed.set(slot, id);
    for (const { coll, id, text, keys } of commit.puts) write(coll, id, { version: seq, keys, text });
    for (const { coll, id } of commit.dels) if (current(coll, id) !== undefined) write(coll, id, undefined);
    const numbers: AuditNumber[] = [];
    for (const event of commit.audit) {
      const before = head.auditTime;
      const isLate = before !== undefined && event.time !== undefined && event.time < before;
      const { stream, text, keys, time } = isLate ? atTime(schema, event, before) : event;
      if (time !== undefined) head.auditTime = time;
      const streamSeq = (streams.get(stream) ?? view.streamSeq(stream)) + 1;
      streams.set(stream, streamSeq);
      head.audit += 1;
      const numbered = Object.assign({}, keys, auditNumberKeys(stream, streamSeq, head.audit));
      audit.push({ seq: head.audit, stream, streamSeq, text, keys: numbered });
      numbers.push({ seq: head.audit, streamSeq, ...(isLate ? { time: before } : {}) });
    }
    return accepted(commit, seq, numbers);
  };

  const results = commits.map(judge);
  return {
    results,
    head,
    documents: [...written.values()],
    audit,
    changes,
    applied: [...applied].map(([commitId, seq]) => ({ commitId, seq })),
  };
}

/** The id under which index keys carry an audit entry: padded, so that equal index values sort by sequence. */
export function auditKeyId(seq: number): string {
  return String(seq).padStart(auditIdBytes, "0");
}

function accepted(commit: PreparedCommit, seq: number, audit: readonly AuditNumber[]): CommitResult {
  // Without a prototype it is a dictionary from the start: ids as properties of an object would make a hidden class each.
  const versions = Object.create(null) as Record<string, number>;
  for (const { coll, id } of commit.puts) versions[name(coll, id)] = seq;
  return { ok: true, seq, versions, audit };
}

function failedConditions(
  commit: PreparedCommit,
  current: (coll: string, id: string) => IndexedVersion | undefined,
): FailedCondition[] {
  const conditions = [
    ...[...commit.puts, ...commit.dels].map(({ coll, id, ifVersion }) => ({ coll, id, expected: ifVersion })),
    ...commit.checks.map(({ coll, id, version }) => ({ coll, id, expected: version })),
  ];
  return conditions.flatMap(({ coll, id, expected }) => {
    const actual = current(coll, id)?.version ?? 0;
    return expected === undefined || expected === actual ? [] : [{ coll, id, expected, actual }];
  });
}

/** Whether one of these documents was in the range, or is now. */
function touches(written: Iterable<PlannedDocument>, { coll, index, range }: PreparedRange): boolean {
  for (const { coll: of, id, before, after } of written) {
    if (of !== coll) continue;
    for (const key of [before?.keys[index], after?.keys[index]]) {
      if (key === undefined) continue;
      const entry = entryKey(key, id);
      if (entry >= range.gte && (range.lt === undefined || entry < range.lt)) return true;
    }
  }
  return false;
}

/** Fills `claims` with the unique keys that the commit gives up (`undefined`) and takes (the id). */
function uniqueViolations(
  schema: CompiledSchema,
  commit: PreparedCommit,
  claims: Map<string, string | undefined>,
  current: (coll: string, id: string) => IndexedVersion | undefined,
  owner: (coll: string, index: string, key: string) => string | undefined,
): UniqueViolation[] {
  for (const { coll, id } of [...commit.puts, ...commit.dels])
    for (const index of schema.collections.get(coll)?.uniques ?? []) {
      const key = current(coll, id)?.keys[index];
      if (key !== undefined) claims.set(`${coll}/${index}/${key}`, undefined);
    }
  const violations: UniqueViolation[] = [];
  for (const { coll, id, keys } of commit.puts)
    for (const index of schema.collections.get(coll)?.uniques ?? []) {
      const key = keys[index];
      if (key === undefined) continue;
      const slot = `${coll}/${index}/${key}`;
      const holder = claims.has(slot) ? claims.get(slot) : owner(coll, index, key);
      if (holder === undefined || holder === id) claims.set(slot, id);
      else violations.push({ coll, id, index });
    }
  return violations;
}

function name(coll: string, id: string): string {
  return `${coll}/${id}`;
}
