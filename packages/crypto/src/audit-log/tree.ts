import { checkArgument } from "@seneschal/kernel";
import { base64 } from "../bytes.ts";
import { checkpointText } from "../merkle/checkpoint.ts";
import { CompactRange } from "../merkle/compact-range.ts";
import { type ExpectedCheckpoint, type KeptCheckpoint, openCheckpoint, openTree } from "../merkle/open-tree.ts";
import { gapLine, parseGapLine, type SignedGap } from "./gaps.ts";
import type { LogFinding, LogIdentity } from "./record.ts";

/** A log as far as it is signed. */
export interface LogTree {
  readonly range: CompactRange;
  /** In order. */
  readonly gaps: readonly SignedGap[];
}

/** Leaf hashes of a log, in order. */
export type Leaves = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The newest checkpoint of a stream, or of the whole log. */
export interface StreamCheckpoint extends KeptCheckpoint {
  readonly stream: string;
}

/** What is signed of a log, and what is kept with the note. */
export function logCheckpoint(log: Omit<LogIdentity, "key">, stream: string, tree: LogTree) {
  checkArgument("log", log, "object");
  checkArgument("tree", tree, "object");
  const { range, gaps } = tree;
  const { size } = range;
  const origin = log.form.checkpointOrigin(log.instance, stream);
  return {
    text: checkpointText({ origin, size, root: range.root(), extensions: gaps.map(gapLine) }),
    kept: { stream, size, peaks: range.hashes.map(base64) },
  };
}

const expected = (log: LogIdentity, stream: string, keys: ExpectedCheckpoint["keys"] = [log.key]): ExpectedCheckpoint => ({
  origin: log.form.checkpointOrigin(log.instance, stream),
  keys,
});

/** The tree that a checkpoint leaves, if the key has signed what it says; an empty one where there is none. */
export function openLogTree(
  kept: StreamCheckpoint | undefined,
  stream: string,
  log: LogIdentity,
  keys?: ExpectedCheckpoint["keys"],
): LogTree | LogFinding {
  checkArgument("log", log, "object");
  if (kept === undefined) return { range: new CompactRange(0, [], log.form.sha256), gaps: [] };
  checkArgument("kept", kept, "object");
  const tree = kept.stream === stream ? openTree(kept, expected(log, stream, keys), log.form.sha256) : undefined;
  const gaps = tree && gapsOf(tree.extensions);
  return tree && gaps ? { range: tree.range, gaps } : { flaw: "checkpoint_invalid", stream, sequence: null };
}

/** The gaps that the key has signed of a log; none of a checkpoint that says anything else. */
export function signedGaps(kept: StreamCheckpoint, stream: string, log: LogIdentity): readonly SignedGap[] {
  checkArgument("kept", kept, "object");
  checkArgument("log", log, "object");
  try {
    return openCheckpoint(kept.note, expected(log, stream)).extensions?.map(parseGapLine) ?? [];
  } catch {
    return [];
  }
}

function gapsOf(extensions: readonly string[]): readonly SignedGap[] | undefined {
  try {
    return extensions.map(parseGapLine);
  } catch {
    return undefined;
  }
}
