import { checkArgument } from "@seneschal/kernel";

const hour = 3_600_000;
const intervals = [2, 2, 4, 8, 16, 24] as const;

/**
 * Concurrent shard migrations allowed in the cluster: `max(1, floor(nodes / 10))`.
 *
 * @example
 * ```ts
 * import { migrationLimit } from "@seneschal/core/storage";
 * console.log(migrationLimit(3), migrationLimit(40)); // 1 4
 * ```
 */
export function migrationLimit(nodes: number): number {
  return Math.max(1, Math.floor(nodes / 10));
}

/**
 * Milliseconds that must pass after the `moves`-th placement change of a shard: 2, 2, 4, 8, 16, 24, 24 ... hours.
 *
 * @example
 * ```ts
 * import { migrationInterval } from "@seneschal/core/storage";
 * console.log(migrationInterval(0) / 3_600_000, migrationInterval(9) / 3_600_000); // 2 24
 * ```
 */
export function migrationInterval(moves: number): number {
  return (intervals[Math.min(Math.max(moves, 0), intervals.length - 1)] ?? 24) * hour;
}

/**
 * What keeps a shard from moving now; `undefined` when it may.
 *
 * @example
 * ```ts
 * import { migrationRefusal } from "@seneschal/core/storage";
 * console.log(migrationRefusal({ lastMoveAt: 0, moves: 1 }, 0, 3, 86_400_000)); // undefined
 * ```
 */
export function migrationRefusal(
  shard: { readonly lastMoveAt: number; readonly moves: number },
  running: number,
  nodes: number,
  now: number,
): string | undefined {
  checkArgument("shard", shard, "object");
  checkArgument("running", running, "number");
  checkArgument("nodes", nodes, "number");
  checkArgument("now", now, "number");
  if (running >= migrationLimit(nodes)) return `${running} migrations run, the limit is ${migrationLimit(nodes)}`;
  // The first move of a shard waits for nothing; a reset goes back to the first interval, never below it.
  if (shard.lastMoveAt === 0) return undefined;
  const due = shard.lastMoveAt + migrationInterval(shard.moves - 1);
  return now >= due ? undefined : `the next placement change is allowed in ${Math.ceil((due - now) / 60_000)} minutes`;
}

/** One step of a migration, in order: a learner joins, catches up, is promoted, then the old voter leaves. */
export type MigrationStep =
  | { readonly kind: "add_learner"; readonly node: string }
  | { readonly kind: "promote"; readonly node: string }
  | { readonly kind: "demote"; readonly node: string }
  | { readonly kind: "wait" };

/**
 * The next step; a learner is promoted only at the commit index, the old voter leaves only after that.
 *
 * @example
 * ```ts
 * import { nextMigrationStep } from "@seneschal/core/storage";
 * const facts = { from: "n1", to: "n2", voters: ["n1"], learnerIndex: 0, commitIndex: 9 };
 * console.log(nextMigrationStep({ ...facts, learners: [] }), nextMigrationStep({ ...facts, learners: ["n2"] })); // { kind: 'add_learner', node: 'n2' } { kind: 'wait' }
 * ```
 */
export function nextMigrationStep(facts: {
  /** The voter to leave; absent: a voter is added. */
  readonly from?: string;
  readonly to: string;
  readonly voters: readonly string[];
  readonly learners: readonly string[];
  readonly learnerIndex: number;
  readonly commitIndex: number;
}): MigrationStep | undefined {
  checkArgument("facts", facts, "object");
  const { from, to, voters, learners } = facts;
  if (voters.includes(to)) return from !== undefined && voters.includes(from) ? { kind: "demote", node: from } : undefined;
  if (!learners.includes(to)) return { kind: "add_learner", node: to };
  return facts.learnerIndex >= facts.commitIndex ? { kind: "promote", node: to } : { kind: "wait" };
}
