import { checkArgument } from "@seneschal/kernel";

/** Spec 3 A, Limits: 128 bytes is the floor; defaults and the admin range are the project's. */
export const inlineLimits = { floor: 128, ceiling: 65_536, default: 4096, adminMin: 512, adminMax: 65_536 } as const;

export type InlineReason = "Normal" | "SoftLimitApproaching" | "HardLimitBreached" | "EmergencyFloor";

/** What the threshold of a shard depends on. */
export interface InlineFacts {
  /** The value in force, and the value that the admin set. */
  readonly current: number;
  /** Smallest budget for inline bytes over the voters of the shard. */
  readonly smallFileBudgetBytes: number;
  readonly fileCountEstimate: number;
  /** Fill of the fullest system disk among the voters, percent. */
  readonly systemDiskPercent: number;
  readonly softLimitPercent: number;
  readonly hardLimitPercent: number;
  /** Inline bytes per second over the last 10 s. */
  readonly inlineWriteRate: number;
}

/**
 * Fill of a disk in percent as `df` has it: what is kept back for the system neither counts as used nor as free. Blocks.
 *
 * @example
 * ```ts
 * import { diskPercent } from "@seneschal/core/storage";
 * console.log(diskPercent({ blocks: 100, bfree: 50, bavail: 50 })); // 50
 * ```
 */
export function diskPercent(disk: { readonly blocks: number; readonly bfree: number; readonly bavail: number }): number {
  checkArgument("disk", disk, "object");
  const used = disk.blocks - disk.bfree;
  return used + disk.bavail === 0 ? 0 : (100 * used) / (used + disk.bavail);
}

/**
 * Bytes that each of a node's shards may keep in metadata: a tenth of what is free, in equal shares.
 *
 * @example
 * ```ts
 * import { smallFileBudget } from "@seneschal/core/storage";
 * console.log(smallFileBudget(1_000_000, 4)); // 25000
 * ```
 */
export function smallFileBudget(freeBytes: number, shards: number): number {
  checkArgument("freeBytes", freeBytes, "number");
  checkArgument("shards", shards, "number");
  return Math.floor(freeBytes / 10 / Math.max(1, shards));
}

/**
 * `clamp(floor(budget / max(files, 1)), 128, 65536)`.
 *
 * @example
 * ```ts
 * import { inlineThresholdFor } from "@seneschal/core/storage";
 * console.log(inlineThresholdFor(1_000_000, 1000), inlineThresholdFor(0, 1000)); // 1000 128
 * ```
 */
export function inlineThresholdFor(smallFileBudgetBytes: number, fileCountEstimate: number): number {
  const share = Math.floor(smallFileBudgetBytes / Math.max(fileCountEstimate, 1));
  return Math.min(inlineLimits.ceiling, Math.max(inlineLimits.floor, share));
}

/**
 * The stored threshold (`value`, only ever lowered automatically) and the one to apply now (`effective`: 128 while
 * inline writes exceed 10 MB/s).
 *
 * @example
 * ```ts
 * import { stepInlineThreshold } from "@seneschal/core/storage";
 * const disk = { systemDiskPercent: 10, softLimitPercent: 50, hardLimitPercent: 75 };
 * const facts = { current: 65_536, smallFileBudgetBytes: 1_000_000, fileCountEstimate: 1000, inlineWriteRate: 0, ...disk };
 * console.log(stepInlineThreshold(facts).value); // 65536
 * ```
 */
export function stepInlineThreshold(facts: InlineFacts): {
  readonly value: number;
  readonly effective: number;
  readonly reason: InlineReason;
} {
  checkArgument("facts", facts, "object");
  if (facts.systemDiskPercent > facts.hardLimitPercent)
    return { value: inlineLimits.floor, effective: inlineLimits.floor, reason: "HardLimitBreached" };
  const soft = facts.systemDiskPercent > facts.softLimitPercent;
  const value = soft
    ? Math.min(facts.current, inlineThresholdFor(facts.smallFileBudgetBytes, facts.fileCountEstimate))
    : facts.current;
  if (facts.inlineWriteRate > 10_000_000) return { value, effective: inlineLimits.floor, reason: "EmergencyFloor" };
  return { value, effective: value, reason: soft ? "SoftLimitApproaching" : "Normal" };
}

/**
 * A payload of exactly the threshold is still inline.
 *
 * @example
 * ```ts
 * import { isInline } from "@seneschal/core/storage";
 * console.log(isInline(128, 128), isInline(129, 128)); // true false
 * ```
 */
export function isInline(bytes: number, threshold: number): boolean {
  return bytes <= threshold;
}
