import { checkArgument } from "../argument.ts";
import type { Migration, MigrationState } from "../ports/migratable.ts";

/** Both ends of a migration, as they stand. */
export interface MigrationFacts {
  readonly source: MigrationState;
  readonly target: MigrationState;
  /** The ends in words, as a {@link Migration} names them. */
  readonly from: string;
  readonly to: string;
  /** Processes that have an end open. */
  readonly openedBy: readonly string[];
}

export type MigrationRefusal =
  | "source_empty"
  /** Something is still being copied into the source. */
  | "source_importing"
  /** The source was moved elsewhere. */
  | "source_moved"
  /** The target has content of its own. */
  | "target_serving"
  /** The target was itself moved away: its content is old. */
  | "target_moved"
  /** Something else is being copied into the target. */
  | "target_importing"
  /** Services run. */
  | "in_use"
  /** The migration is complete, or there is none. */
  | "nothing_to_abort";

/** What a migration does next. */
export type MigrationDecision =
  /** Mark the target, then the source, then copy. */
  | { readonly next: "begin" }
  /** Both are marked: copy from where it stood. */
  | { readonly next: "resume"; readonly move: Migration }
  /** The target serves what the source was. */
  | { readonly next: "done"; readonly move: Migration }
  | Refused;

interface Refused {
  readonly next: "refuse";
  readonly reason: MigrationRefusal;
}

/**
 * What to do about two ends that stand so. The target is marked before the source, and serves only when all is there and verified; the source is fenced before
 * the first row is copied and stays so: in no order of crashes do both serve.
 */
export function decideMigration(facts: MigrationFacts): MigrationDecision {
  checkArgument("facts", facts, "object");
  const { source, target, from, to, openedBy } = facts;
  if (source.state === "empty") return refuse("source_empty");
  if (source.state === "importing") return refuse("source_importing");
  if (target.state === "moved") return refuse("target_moved");
  if (source.state === "moved") {
    const { move } = source;
    if (target.state === "importing" && target.move.id === move.id) return { next: "resume", move };
    return target.state === "serving" && move.to === to ? { next: "done", move } : refuse("source_moved");
  }
  if (target.state === "serving") return refuse("target_serving");
  // From this source: killed between both marks, when nothing was copied yet.
  if (target.state === "importing" && target.move.from !== from) return refuse("target_importing");
  return openedBy.length > 0 ? refuse("in_use") : { next: "begin" };
}

/**
 * Whether a migration that is not complete may be undone: the target is emptied first, then the source is taken from behind its fence, unless that is another
 * migration's.
 */
export function decideAbort(facts: MigrationFacts): { readonly next: "abort"; readonly unfence: boolean } | Refused {
  checkArgument("facts", facts, "object");
  const { source, target, from, to } = facts;
  if (target.state === "importing") {
    if (target.move.from !== from) return refuse("target_importing");
    return { next: "abort", unfence: source.state === "moved" && source.move.id === target.move.id };
  }
  const isLeft = source.state === "moved" && source.move.to === to && target.state === "empty";
  return isLeft ? { next: "abort", unfence: true } : refuse("nothing_to_abort");
}

function refuse(reason: MigrationRefusal): Refused {
  return { next: "refuse", reason };
}
