import { checkArgument } from "@seneschal/kernel";
import { bytesEqual } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { Share, type ShareScheme } from "./share.ts";

/** What is wrong with a submitted share. */
export type ShareProblemKind =
  /** Not an envelope. */
  | "malformed"
  /** Damaged on its way. */
  | "checksum"
  /** Of another secret, scheme or threshold. */
  | "foreign"
  /** Of an earlier (or later) epoch of this secret. */
  | "stale"
  /** The envelope's index is not the one it was submitted under. */
  | "index_mismatch"
  /** The index was submitted before. */
  | "duplicate"
  /** A well-formed envelope whose payload is not the share that was dealt. */
  | "wrong";

/** `index` is the one the share was submitted under, `position` its place in the list from 0. */
export interface ShareProblem {
  readonly index: number;
  readonly position: number;
  readonly problem: ShareProblemKind;
}

/** As in the HTTP interface: the holder's index and the envelope's text. */
export interface SubmittedShare {
  readonly index: number;
  readonly data: string;
}

/** The set that shares must belong to. `accepts` judges a payload: against a commitment or a verifying share. */
export interface ShareSet {
  readonly scheme: ShareScheme;
  readonly setId: Uint8Array;
  readonly epoch: number;
  readonly threshold: number;
  readonly total: number;
  accepts(share: Share): boolean;
}

export interface ShareInspection {
  /** In the order of submission, distinct indexes. */
  readonly valid: readonly Share[];
  readonly problems: readonly ShareProblem[];
  /** No problem and at least `threshold` valid shares. */
  readonly sufficient: boolean;
}

/** Judges every submitted share against its set, by index, before anything is combined. Never throws. */
export function inspectShares(set: ShareSet, submitted: readonly SubmittedShare[]): ShareInspection {
  checkArgument("set", set, "object");
  checkArgument("submitted", submitted, "array");
  const valid: Share[] = [];
  const problems: ShareProblem[] = [];
  const seen = new Set<number>();
  submitted.forEach(({ index, data }, position) => {
    const verdict = judge(set, index, data);
    if (!(verdict instanceof Share)) problems.push({ index, position, problem: verdict });
    else if (seen.has(index)) problems.push({ index, position, problem: "duplicate" });
    else {
      seen.add(index);
      valid.push(verdict);
    }
  });
  return { valid, problems, sufficient: problems.length === 0 && valid.length >= set.threshold };
}

/** The shares of an inspection that is sufficient. Throws `share_invalid` naming the indexes, else `threshold_not_met`. */
export function acceptedShares(set: ShareSet, submitted: readonly SubmittedShare[]): readonly Share[] {
  checkArgument("set", set, "object");
  checkArgument("submitted", submitted, "array");
  const { valid, problems } = inspectShares(set, submitted);
  if (problems.length > 0) {
    const indexes = [...new Set(problems.map((p) => p.index))].sort((a, b) => a - b);
    throw cryptoError("share_invalid", `invalid shares: ${indexes.join(", ")}`, { indexes, problems });
  }
  if (valid.length < set.threshold) {
    throw cryptoError("threshold_not_met", `${set.threshold} shares required, ${valid.length} given`, {
      required: set.threshold,
      valid: valid.length,
    });
  }
  return valid;
}

function judge(set: ShareSet, index: number, data: string): Share | ShareProblemKind {
  let share: Share;
  try {
    share = Share.decode(data);
  } catch (error) {
    return (error as { details?: { problem?: ShareProblemKind } }).details?.problem ?? "malformed";
  }
  if (share.scheme !== set.scheme || !bytesEqual(share.setId, set.setId)) return "foreign";
  if (share.epoch !== set.epoch) return "stale";
  if (share.threshold !== set.threshold || share.total !== set.total) return "foreign";
  if (share.index !== index) return "index_mismatch";
  return set.accepts(share) ? share : "wrong";
}
