import { checkArgument } from "@seneschal/kernel";
import { storageError } from "./errors.ts";

/** How firmly a version is kept: `GOVERNANCE` yields to who may bypass it and says so, `COMPLIANCE` to nobody. */
export const retentionModes = ["GOVERNANCE", "COMPLIANCE"] as const;
export type RetentionMode = (typeof retentionModes)[number];

/** Until when a version may not be deleted, milliseconds. */
export interface Retention {
  readonly mode: RetentionMode;
  readonly until: number;
}

/** What new versions of a bucket are kept for. */
export interface DefaultRetention {
  readonly mode: RetentionMode;
  readonly unit: "days" | "years";
  readonly count: number;
}

/** What of a version decides whether it may go. */
export interface Held {
  readonly retention?: Retention;
  readonly legal_hold?: boolean;
}

const dayMs = 86_400_000;

/**
 * The retention of a version that is made now.
 *
 * @example
 * ```ts
 * import { defaultRetention } from "@seneschal/core/storage";
 * console.log(defaultRetention({ mode: "GOVERNANCE", unit: "days", count: 1 }, 0)); // { mode: 'GOVERNANCE', until: 86400000 }
 * ```
 */
export function defaultRetention(retention: DefaultRetention, now: number): Retention {
  checkArgument("retention", retention, "object");
  checkArgument("now", now, "number");
  const { mode, unit, count } = retention;
  return { mode, until: now + count * (unit === "days" ? 1 : 365) * dayMs };
}

/**
 * Throws `ObjectLocked` while a version may not be deleted: a legal hold and `COMPLIANCE` hold against everybody, `GOVERNANCE`
 * against who does not bypass it.
 *
 * @example
 * ```ts
 * import { checkDeletable } from "@seneschal/core/storage";
 * const held = { retention: { mode: "GOVERNANCE", until: 1000 } } as const;
 * checkDeletable(held, 1000, false);
 * try {
 *   checkDeletable(held, 999, false);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // ObjectLocked
 * }
 * ```
 */
export function checkDeletable(held: Held, now: number, bypass: boolean): void {
  checkArgument("held", held, "object");
  checkArgument("now", now, "number");
  checkArgument("bypass", bypass, "boolean");
  const { retention, legal_hold } = held;
  if (legal_hold === true) throw storageError("ObjectLocked", "the version is under a legal hold");
  if (retention === undefined || retention.until <= now || (retention.mode === "GOVERNANCE" && bypass)) return;
  throw storageError("ObjectLocked", `the version is kept until ${new Date(retention.until).toISOString()} (${retention.mode})`);
}

/**
 * True when one retention holds whatever the other does, for as long: `COMPLIANCE` holds against more than `GOVERNANCE`.
 *
 * @example
 * ```ts
 * import { holdsAsMuch } from "@seneschal/core/storage";
 * console.log(holdsAsMuch({ mode: "COMPLIANCE", until: 2 }, { mode: "GOVERNANCE", until: 1 })); // true
 * ```
 */
export function holdsAsMuch(one: Retention, other: Retention): boolean {
  checkArgument("one", one, "object");
  checkArgument("other", other, "object");
  return one.until >= other.until && (one.mode === "COMPLIANCE" || other.mode === "GOVERNANCE");
}

/** By what a retention is changed: a caller who holds the version, who may bypass `GOVERNANCE`, or what is copied from elsewhere. */
export type RetentionChange = "holder" | "bypass" | "replica";

/**
 * Throws `ObjectLocked` when a retention is to become another one than the same for longer: `COMPLIANCE` only grows, `GOVERNANCE`
 * is changed otherwise, or ended, by bypass alone. What is copied from elsewhere may turn `GOVERNANCE` to a `COMPLIANCE` that ends no sooner,
 * and bypasses nothing.
 *
 * @example
 * ```ts
 * import { checkRetentionChange } from "@seneschal/core/storage";
 * const before = { mode: "COMPLIANCE", until: 1000 } as const;
 * checkRetentionChange(before, { mode: "COMPLIANCE", until: 2000 }, 0, "holder");
 * try {
 *   checkRetentionChange(before, undefined, 0, "holder");
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // ObjectLocked
 * }
 * ```
 */
export function checkRetentionChange(
  before: Retention | undefined,
  after: Retention | undefined,
  now: number,
  by: RetentionChange,
): void {
  checkArgument("now", now, "number");
  checkArgument("by", by, "string");
  if (before === undefined || before.until <= now || (before.mode === "GOVERNANCE" && by === "bypass")) return;
  if (after !== undefined && holdsAsMuch(after, before) && (after.mode === before.mode || by === "replica")) return;
  throw storageError(
    "ObjectLocked",
    `the version is kept until ${new Date(before.until).toISOString()} (${before.mode}), which cannot be taken back`,
  );
}

/**
 * What becomes of the retention that a copy has when its version is kept by another one: it is that one (`put`) or stays (`kept`), whichever
 * holds as much as both; of two that hold differently neither does (`refused`).
 *
 * @example
 * ```ts
 * import { retentionOfReplica } from "@seneschal/core/storage";
 * console.log(retentionOfReplica({ mode: "COMPLIANCE", until: 1000 }, { mode: "COMPLIANCE", until: 2000 }, 0)); // put
 * ```
 */
export function retentionOfReplica(there: Retention | undefined, wanted: Retention, now: number): "put" | "kept" | "refused" {
  checkArgument("wanted", wanted, "object");
  checkArgument("now", now, "number");
  if (there === undefined || there.until <= now) return "put";
  if (holdsAsMuch(there, wanted)) return "kept";
  return holdsAsMuch(wanted, there) ? "put" : "refused";
}
