import { checkArgument } from "@seneschal/kernel";
import type { DeviceClass } from "../device/types.ts";

/** Percent of capacity used at which a pool changes its behaviour. All inclusive. */
export interface PoolThresholds {
  readonly warning: number;
  readonly critical: number;
  readonly readOnly: number;
  readonly full: number;
  readonly targetFill: number;
}

/** An operator's changes; 0 or absent means the default of the class. */
export interface ThresholdOverrides {
  readonly warning?: number;
  readonly critical?: number;
  readonly readOnly?: number;
  readonly targetFill?: number;
}

export type PoolState = "normal" | "warning" | "critical" | "read_only" | "full";

const solid: PoolThresholds = { warning: 75, critical: 85, readOnly: 92, full: 97, targetFill: 70 };
const plain: PoolThresholds = { warning: 80, critical: 90, readOnly: 95, full: 99, targetFill: 75 };

export const classThresholds: Readonly<Record<DeviceClass, PoolThresholds>> = {
  ssd: solid,
  nvme: solid,
  hdd: { warning: 85, critical: 92, readOnly: 97, full: 99, targetFill: 80 },
  custom: plain,
  mixed: plain,
};

const bounds: Readonly<Record<keyof ThresholdOverrides, readonly [number, number]>> = {
  warning: [50, 95],
  critical: [60, 98],
  readOnly: [70, 99],
  targetFill: [50, 90],
};

/**
 * The thresholds in force.
 *
 * @example
 * ```ts
 * import { effectiveThresholds } from "@seneschal/core/storage";
 * console.log(effectiveThresholds("ssd", {})); // { warning: 75, critical: 85, readOnly: 92, full: 97, targetFill: 70 }
 * ```
 */
export function effectiveThresholds(deviceClass: DeviceClass, overrides: ThresholdOverrides): PoolThresholds {
  checkArgument("deviceClass", deviceClass, "string");
  checkArgument("overrides", overrides, "object");
  const base = classThresholds[deviceClass];
  return {
    warning: overrides.warning || base.warning,
    critical: overrides.critical || base.critical,
    readOnly: overrides.readOnly || base.readOnly,
    full: base.full,
    targetFill: overrides.targetFill || base.targetFill,
  };
}

/**
 * Every reason why the overrides cannot be used, with the field; empty when they can.
 *
 * @example
 * ```ts
 * import { thresholdProblems } from "@seneschal/core/storage";
 * console.log(thresholdProblems("ssd", {}), thresholdProblems("ssd", { warning: 101 }).map(({ field }) => field)); // [] [ 'warning' ]
 * ```
 */
export function thresholdProblems(
  deviceClass: DeviceClass,
  overrides: ThresholdOverrides,
): readonly { readonly field: keyof ThresholdOverrides; readonly message: string }[] {
  checkArgument("deviceClass", deviceClass, "string");
  checkArgument("overrides", overrides, "object");
  const problems: { field: keyof ThresholdOverrides; message: string }[] = [];
  for (const field of Object.keys(bounds) as (keyof ThresholdOverrides)[]) {
    const value = overrides[field];
    const [low, high] = bounds[field];
    if (value !== undefined && value !== 0 && !(Number.isInteger(value) && value >= low && value <= high))
      problems.push({ field, message: `${field} must be 0 or an integer from ${low} to ${high}, got ${value}` });
  }
  if (problems.length > 0) return problems;
  const t = effectiveThresholds(deviceClass, overrides);
  if (t.targetFill > t.warning)
    problems.push({ field: "targetFill", message: `targetFill ${t.targetFill} is above warning ${t.warning}` });
  if (t.warning >= t.critical)
    problems.push({ field: "warning", message: `warning ${t.warning} is not below critical ${t.critical}` });
  if (t.critical >= t.readOnly)
    problems.push({ field: "critical", message: `critical ${t.critical} is not below readOnly ${t.readOnly}` });
  if (t.readOnly >= t.full) problems.push({ field: "readOnly", message: `readOnly ${t.readOnly} is not below full ${t.full}` });
  return problems;
}

/**
 * The state of a pool; a pool without capacity is full. Exact: compares products, not rounded percentages.
 *
 * @example
 * ```ts
 * import { effectiveThresholds, poolState } from "@seneschal/core/storage";
 * const thresholds = effectiveThresholds("ssd", {});
 * console.log(poolState(100, 1000, thresholds), poolState(1000, 1000, thresholds)); // normal full
 * ```
 */
export function poolState(usedBytes: number, capacityBytes: number, thresholds: PoolThresholds): PoolState {
  checkArgument("usedBytes", usedBytes, "number");
  checkArgument("capacityBytes", capacityBytes, "number");
  checkArgument("thresholds", thresholds, "object");
  const reached = (percent: number) => usedBytes * 100 >= percent * capacityBytes;
  if (capacityBytes <= 0 || reached(thresholds.full)) return "full";
  if (reached(thresholds.readOnly)) return "read_only";
  if (reached(thresholds.critical)) return "critical";
  return reached(thresholds.warning) ? "warning" : "normal";
}
