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

/**
 * What is signed of a log, and what is kept with the note.
 *
 * @example
 * ```ts
 * import { logCheckpoint } from "@seneschal/crypto/audit-log";
 * import { CompactRange } from "@seneschal/crypto/merkle";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const range = new CompactRange(0, [], testLogForm.sha256);
 * range.append(Uint8Array.of(1));
 * const { text } = logCheckpoint({ form: testLogForm, instance: "one" }, "acme", { range, gaps: [] });
 * console.log(text.split("\n").slice(0, 2)); // [ 'test/one/acme', '1' ]
 * ```
 */
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

/**
 * The tree that a checkpoint leaves, if the key has signed what it says; an empty one where there is none.
 *
 * @example
 * ```ts
 * import { logCheckpoint, openLogTree } from "@seneschal/crypto/audit-log";
 * import { CompactRange, signNote } from "@seneschal/crypto/merkle";
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const seed = new Uint8Array(32).fill(9);
 * const key = { name: "one", publicKey: nobleCrypto.ed25519PublicKey(seed) };
 * const log = { form: testLogForm, instance: "one", key };
 * const range = new CompactRange(0, [], testLogForm.sha256);
 * range.append(Uint8Array.of(1));
 * const { text, kept } = logCheckpoint(log, "acme", { range, gaps: [] });
 * const note = await signNote(text, key, (message) => nobleCrypto.ed25519Sign(seed, message));
 * const tree = openLogTree({ ...kept, note }, "acme", log);
 * console.log("range" in tree && tree.range.size); // 1
 * console.log(openLogTree({ ...kept, note: note.replace("acme", "evil") }, "acme", log)); // { flaw: 'checkpoint_invalid', stream: 'acme', sequence: null }
 * ```
 */
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

/**
 * The gaps that the key has signed of a log; none of a checkpoint that says anything else.
 *
 * @example
 * ```ts
 * import { logCheckpoint, signedGaps } from "@seneschal/crypto/audit-log";
 * import { CompactRange, signNote } from "@seneschal/crypto/merkle";
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { testLogForm } from "@seneschal/crypto/arbitraries";
 * const seed = new Uint8Array(32).fill(9);
 * const key = { name: "one", publicKey: nobleCrypto.ed25519PublicKey(seed) };
 * const log = { form: testLogForm, instance: "one", key };
 * const range = new CompactRange(0, [], testLogForm.sha256);
 * for (const number of [1, 2, 3]) range.append(Uint8Array.of(number));
 * const { text, kept } = logCheckpoint(log, "acme", { range, gaps: [{ first: 2, last: 2 }] });
 * const note = await signNote(text, key, (message) => nobleCrypto.ed25519Sign(seed, message));
 * console.log(signedGaps({ ...kept, note }, "acme", log)); // [ { first: 2, last: 2 } ]
 * ```
 */
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
