import { CompactRange } from "@seneschal/crypto/merkle";
import { CodedError } from "@seneschal/kernel";
import { sortedJson } from "@seneschal/kernel/log";
import type { Migratable, Migration } from "@seneschal/kernel/ports";
import {
  decideAbort,
  decideMigration,
  type MigrationDecision,
  type MigrationFacts,
  type MigrationRefusal,
} from "@seneschal/kernel/store";

/** What was found equal at both ends: the rows of a table, and the root of the Merkle tree (RFC 6962) over them, in the order of their keys. */
export interface MigratedTable {
  readonly rows: number;
  /** Hex. A leaf is the key, a zero byte, and the row as canonical JSON. */
  readonly root: string;
}

/** Two ends, and their names in words. */
export interface MigrationEnds {
  readonly source: Migratable;
  readonly target: Migratable;
  readonly from: string;
  readonly to: string;
}

export interface TransferOptions {
  readonly id: string;
  /** Milliseconds. */
  readonly now: number;
  /** So many rows travel at once; default 200. */
  readonly page?: number;
  /** Told of each page. */
  readonly progress?: (table: string, rows: number) => void;
}

const refusals: Readonly<Record<MigrationRefusal, (facts: MigrationFacts) => string>> = {
  source_empty: ({ from }) => `${from} is empty: there is nothing to migrate`,
  source_importing: ({ from }) =>
    `${from} is itself still being filled by a migration: finish that first, or undo it with --abort`,
  source_moved: ({ from }) => `${from} was already moved elsewhere`,
  target_serving: ({ to }) => `${to} has content of its own: name an empty one`,
  target_moved: ({ to }) => `${to} holds what was moved away from it before: remove that, or name another`,
  target_importing: ({ to }) => `${to} is being filled from elsewhere`,
  in_use: ({ from, to, openedBy }) => `services that use ${from} or ${to} must be stopped first: ${openedBy.join(", ")}`,
  nothing_to_abort: ({ from, to }) =>
    `no unfinished migration from ${from} to ${to} was found: what is complete is migrated back instead`,
};

function refused(reason: MigrationRefusal, facts: MigrationFacts): CodedError {
  return new CodedError("migration_refused", refusals[reason](facts), { reason, from: facts.from, to: facts.to });
}

async function factsOf({ source, target, from, to }: MigrationEnds): Promise<MigrationFacts> {
  return {
    source: await source.state(),
    target: await target.state(),
    from,
    to,
    openedBy: [...(await source.openedBy()), ...(await target.openedBy())],
  };
}

/** What is to be done about two ends. Throws `migration_refused` with its reason. */
export async function nextStep(ends: MigrationEnds): Promise<Exclude<MigrationDecision, { next: "refuse" }>> {
  const facts = await factsOf(ends);
  const decision = decideMigration(facts);
  if (decision.next === "refuse") throw refused(decision.reason, facts);
  return decision;
}

/**
 * Copies what is at one end to the other, goes on where an earlier run was cut off, or finds it done (`undefined`). The source stays as it is, but for the mark by
 * which it refuses to be opened; the target can be opened when every row was read back equal.
 *
 * Throws `migration_refused` with its reason, before anything changes; `migration_differs` when the ends are not equal: then nothing serves until it is run
 * again or undone.
 */
export async function transfer(
  ends: MigrationEnds,
  options: TransferOptions,
): Promise<Readonly<Record<string, MigratedTable>> | undefined> {
  const { source, target, from, to } = ends;
  const decision = await nextStep(ends);
  if (decision.next === "done") return undefined;
  const move = decision.next === "resume" ? decision.move : { id: options.id, from, to, at: new Date(options.now).toISOString() };
  if (decision.next === "begin") {
    await target.beginImport(move);
    await source.fence(move);
  }
  for (const table of source.tables) await copy(ends, move, table, options);
  const tables: Record<string, MigratedTable> = {};
  for (const table of source.tables) {
    const [left, arrived] = [await summary(source, table, options), await summary(target, table, options)];
    if (left.rows !== arrived.rows || left.root !== arrived.root)
      throw new CodedError("migration_differs", `${table} at ${to} is not what it is at ${from}: undo it with --abort`, {
        table,
        from: { ...left },
        to: { ...arrived },
      });
    tables[table] = left;
  }
  await target.finishImport(move, await source.head());
  return tables;
}

/** Undoes a migration that is not complete: the target is emptied, then the source can be opened again. Throws `migration_refused`. */
export async function abortTransfer(ends: MigrationEnds): Promise<void> {
  const facts = await factsOf(ends);
  const decision = decideAbort(facts);
  if (decision.next === "refuse") throw refused(decision.reason, facts);
  if (facts.target.state === "importing") await ends.target.discardImport(facts.target.move);
  if (decision.unfence) await ends.source.unfence();
}

async function copy(
  { source, target }: MigrationEnds,
  move: Migration,
  table: string,
  { page = 200, progress }: TransferOptions,
): Promise<void> {
  let after = await target.last(table);
  for (let copied = 0; ; ) {
    const rows = await source.read(table, after, page);
    const last = rows.at(-1);
    if (last === undefined) return;
    await target.write(move, table, rows);
    after = last.key;
    copied += rows.length;
    progress?.(table, copied);
  }
}

async function summary(end: Migratable, table: string, { page = 200 }: TransferOptions): Promise<MigratedTable> {
  const tree = new CompactRange();
  for (let after: string | undefined; ; ) {
    const rows = await end.read(table, after, page);
    for (const { key, value } of rows) tree.append(Buffer.from(`${key}\0${sortedJson(value)}`));
    after = rows.at(-1)?.key;
    if (after === undefined) return { rows: tree.size, root: Buffer.from(tree.root()).toString("hex") };
  }
}
