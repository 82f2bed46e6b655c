import { checkArgument } from "@seneschal/kernel";

/** A right that one process holds at a time, as it stands in the store. */
export interface LeaseRecord {
  readonly holder: string;
  /** Milliseconds, by the holder's clock; 0: given back. */
  readonly until: number;
}

/** What a process knows of a lease. */
export interface LeaseMemory {
  readonly holder: string;
  /** Of the record as this process wrote it last; 0: it does not hold it. */
  readonly version: number;
  /** The record as it saw it last, and since when it has stood so by this process's clock. */
  readonly seen?: { readonly version: number; readonly since: number };
}

/** What a process does about a lease: `keep` it as it is written, `write` it anew, or `wait` for another. */
export interface LeaseJudgement {
  readonly act: "keep" | "write" | "wait";
  readonly seen?: { readonly version: number; readonly since: number };
}

/**
 * Whether a process may hold a lease now. Whoever writes its name into the record with a time that lies ahead has it until then. A lease that is renewed is held,
 * whatever the times in it say: clocks differ, and two that are far apart must not take it from each other for ever; and no lease lasts twice its time, so that one
 * that says so was written by a wrong clock and keeps nobody waiting for it. That two hold it for a moment is not ruled out here: every write of a holder carries
 * the record's version as a condition, and is refused once another has written it.
 *
 * @example
 * ```ts
 * import { judgeLease } from "@seneschal/core/jobs";
 * const record = { holder: "a", until: 31_000, version: 7 };
 * console.log(judgeLease(record, { holder: "b", version: 0 }, 1_000, 30_000).act); // wait
 * console.log(judgeLease(record, { holder: "b", version: 0 }, 31_000, 30_000).act); // write
 * console.log(judgeLease(record, { holder: "a", version: 7 }, 2_000, 30_000).act); // keep
 * ```
 */
export function judgeLease(
  record: (LeaseRecord & { readonly version: number }) | undefined,
  memory: LeaseMemory,
  now: number,
  durationMs: number,
): LeaseJudgement {
  checkArgument("memory", memory, "object");
  checkArgument("now", now, "number");
  checkArgument("durationMs", durationMs, "number");
  const known = memory.seen && { seen: memory.seen };
  if (record === undefined) return { act: "write", ...known };
  const { version } = record;
  const left = record.until - now;
  const wrong = left > 2 * durationMs;
  const mine = record.holder === memory.holder && version === memory.version;
  // Every commit wakes those who look, and a renewal at each look would wake them for ever.
  if (mine) return { act: left > durationMs / 2 && !wrong ? "keep" : "write", ...known };
  if (record.until === 0) return { act: "write", ...known };
  // Who never looked before has only the time to go by.
  const since = memory.seen === undefined ? Number.NEGATIVE_INFINITY : now;
  const seen = memory.seen?.version === version ? memory.seen : { version, since };
  const waits = (left > 0 && !wrong) || now - seen.since < durationMs;
  return { act: waits ? "wait" : "write", seen };
}
