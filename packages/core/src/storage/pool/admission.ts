import { checkArgument } from "@seneschal/kernel";
import type { DeviceClass } from "../device/types.ts";
import { type PoolState, type PoolThresholds, poolState } from "./thresholds.ts";

/** A pool as admission sees it. `usedBytes` counts what is on disk and what is reserved by writes in flight. */
export interface PoolFill {
  readonly id: string;
  readonly class: DeviceClass;
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly thresholds: PoolThresholds;
}

export type Admission =
  | { readonly kind: "admit"; readonly pool: string; readonly redirected: boolean }
  | { readonly kind: "refuse"; readonly error: "PoolFull" | "PoolReadOnly"; readonly state: PoolState };

/**
 * Decides where new bytes of a pool go. Below critical: here. From critical on: to another pool of the same class whose
 * state after the write stays below critical, the emptiest first. Otherwise read-only refuses retriably, all else is full.
 *
 * @example
 * ```ts
 * import { admitWrite, effectiveThresholds } from "@seneschal/core/storage";
 * const pool = { id: "p1", class: "ssd", capacityBytes: 1000, usedBytes: 100, thresholds: effectiveThresholds("ssd", {}) } as const;
 * console.log(admitWrite(pool, 10, []).kind, admitWrite({ ...pool, usedBytes: 1000 }, 10, []).kind); // admit refuse
 * ```
 */
export function admitWrite(pool: PoolFill, bytes: number, others: readonly PoolFill[]): Admission {
  checkArgument("pool", pool, "object");
  checkArgument("bytes", bytes, "number");
  checkArgument("others", others, "array");
  const state = poolState(pool.usedBytes, pool.capacityBytes, pool.thresholds);
  const fits = (p: PoolFill) =>
    p.usedBytes + bytes <= p.capacityBytes && poolState(p.usedBytes + bytes, p.capacityBytes, p.thresholds) !== "full";
  if ((state === "normal" || state === "warning") && fits(pool)) return { kind: "admit", pool: pool.id, redirected: false };
  const sibling = others
    .filter((p) => p.id !== pool.id && p.class === pool.class && fits(p) && below(p, bytes))
    .sort((a, b) => a.usedBytes / a.capacityBytes - b.usedBytes / b.capacityBytes || (a.id < b.id ? -1 : 1))[0];
  if (sibling !== undefined) return { kind: "admit", pool: sibling.id, redirected: true };
  return { kind: "refuse", error: state === "read_only" ? "PoolReadOnly" : "PoolFull", state };
}

function below(pool: PoolFill, bytes: number): boolean {
  const after = poolState(pool.usedBytes + bytes, pool.capacityBytes, pool.thresholds);
  return after === "normal" || after === "warning";
}
