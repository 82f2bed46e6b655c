import { checkArgument } from "@seneschal/kernel";
import { base64, bytesEqual } from "../bytes.ts";
import { CompactRange } from "../merkle/compact-range.ts";
import type { Sha256 } from "../merkle/tree-hash.ts";
import type { ArchivedLog } from "./archived.ts";
import type { Leaves } from "./tree.ts";

/** A claim about a log: the root over its first `size` records, base64. */
export interface RootClaim {
  readonly size: number;
  readonly root: string;
}

/** A log as a store has it. */
export interface LogFacts {
  /** What is archived of it: `damaged` where the key has not signed that. */
  readonly archived?:
    | "damaged"
    | {
        readonly log: ArchivedLog;
        /** The leaves that are kept of it, until one is missing; nobody vouches for them. */
        readonly leaves: Leaves;
        /** Numbers of records whose kept hashes, or whose records where they stay, are known to be others. */
        readonly wrong: readonly number[];
      };
  /** The leaves of the records from a number on, until one is missing. */
  leaves(from: number): Leaves;
}

/** What became of claims about a log. */
export interface ClaimsVerdict {
  readonly records: number;
  /** Over all of them, base64. */
  readonly root: string;
  /** Size of the first claim that the log does not agree with; of one about records that are not there too. */
  readonly firstBad: number | null;
  /** Records that a claim counts and the log lacks. */
  readonly missing: number;
}

/**
 * Holds a log against claims of any number about it. Records that are archived stand there by their hashes: those are what was signed when they were archived, or
 * no claim that counts them holds.
 *
 * @example
 * ```ts
 * import { verifyClaims } from "@seneschal/crypto/audit-log";
 * import { CompactRange, leafHash } from "@seneschal/crypto/merkle";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const leaves = [1, 2].map((number) => leafHash(Uint8Array.of(number)));
 * const range = new CompactRange(0, [], testLogForm.sha256);
 * for (const leaf of leaves) range.appendHash(leaf);
 * const root = Buffer.from(range.root()).toString("base64");
 * const facts = { leaves: (from: number) => leaves.slice(from - 1) };
 * console.log((await verifyClaims([{ size: 2, root }], facts, testLogForm.sha256)).firstBad); // null
 * console.log((await verifyClaims([{ size: 3, root }], facts, testLogForm.sha256)).missing); // 1
 * ```
 */
export async function verifyClaims(given: readonly RootClaim[], facts: LogFacts, sha256: Sha256): Promise<ClaimsVerdict> {
  checkArgument("given", given, "array");
  checkArgument("facts", facts, "object");
  const claims = [...given].sort((a, b) => a.size - b.size);
  let range = new CompactRange(0, [], sha256);
  const rootNow = (): string => base64(range.root());
  let bad: number | null = null;
  let judged = 0;
  const judge = (): void => {
    for (; claims[judged]?.size === range.size; judged += 1) if (claims[judged]?.root !== rootNow()) bad ??= range.size;
  };
  const append = async (leaves: Leaves): Promise<void> => {
    for await (const leaf of leaves) {
      range.appendHash(leaf);
      judge();
    }
  };
  /** What is wrong with record `number` is wrong with every claim that counts it. */
  const wrongFrom = (number: number): void => {
    const first = claims.find(({ size }) => size >= number)?.size ?? number;
    bad = Math.min(bad ?? first, first);
  };
  judge();
  const { archived } = facts;
  if (archived === "damaged") wrongFrom(1);
  else if (archived !== undefined) {
    const signed = archived.log.range;
    await append(archived.leaves);
    if (!bytesEqual(range.root(), signed.root())) bad ??= claims[judged]?.size ?? signed.size;
    range = new CompactRange(signed.size, signed.hashes, sha256);
    for (; (claims[judged]?.size ?? signed.size) < signed.size; judged += 1);
    judge();
    for (const number of archived.wrong) wrongFrom(number);
  }
  await append(facts.leaves(range.size + 1));
  // The rest speaks of records that are not there.
  bad ??= claims[judged]?.size ?? null;
  return {
    records: range.size,
    root: rootNow(),
    firstBad: bad,
    missing: Math.max(0, (claims.at(-1)?.size ?? 0) - range.size),
  };
}
