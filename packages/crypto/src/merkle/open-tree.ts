import { checkArgument } from "@seneschal/kernel";
import { bytesEqual, fromBase64 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { type Checkpoint, type NoteKey, noteText, parseCheckpoint, verifyNote } from "./checkpoint.ts";
import { CompactRange } from "./compact-range.ts";
import type { Sha256 } from "./tree-hash.ts";

/** What a signed checkpoint must be. */
export interface ExpectedCheckpoint {
  /** Whose log: the checkpoint's first line. Unset: anybody's. */
  readonly origin?: string;
  /** Those one of whom must have signed it; `checked`: the signatures need no proof, as of a note of one's own. */
  readonly keys: readonly NoteKey[] | "checked";
}

/** Reads a checkpoint from its note. Throws `log_invalid` for what is no checkpoint, not signed by a key or of another log. */
export function openCheckpoint(note: string, expected: ExpectedCheckpoint): Checkpoint {
  checkArgument("note", note, "string");
  checkArgument("expected", expected, "object");
  const { origin, keys } = expected;
  const checkpoint = parseCheckpoint(keys === "checked" ? noteText(note) : verifyNote(note, keys).text);
  if (origin !== undefined && checkpoint.origin !== origin) throw cryptoError("log_invalid", "the checkpoint is of another log");
  return checkpoint;
}

/** A checkpoint as it is kept: its note, and the right edge of the tree that it signs. */
export interface KeptCheckpoint {
  readonly size: number;
  /** Roots of the perfect subtrees, base64: what appending needs ({@link CompactRange}). */
  readonly peaks: readonly string[];
  readonly note: string;
}

/**
 * The tree that a kept checkpoint leaves, to be appended to, and the further lines of its note: `undefined` unless it was signed, is of the log that it
 * should be, and its peaks come to the root that was signed.
 *
 * @example
 * ```ts
 * import { base64, nobleCrypto } from "@seneschal/crypto";
 * import { CompactRange, checkpointText, openTree, signNote } from "@seneschal/crypto/merkle";
 * const seed = new Uint8Array(32).fill(3);
 * const key = { name: "audit.acme.example", publicKey: nobleCrypto.ed25519PublicKey(seed) };
 * const tree = new CompactRange();
 * tree.append(Uint8Array.of(1));
 * const text = checkpointText({ origin: key.name, size: tree.size, root: tree.root() });
 * const note = await signNote(text, key, (message) => nobleCrypto.ed25519Sign(seed, message));
 * const kept = { size: tree.size, peaks: tree.hashes.map(base64), note };
 * const expected = { origin: key.name, keys: [key] };
 * console.log(openTree(kept, expected)?.range.size, openTree({ ...kept, peaks: [] }, expected)); // 1 undefined
 * ```
 */
export function openTree(
  kept: KeptCheckpoint,
  expected: ExpectedCheckpoint,
  hash?: Sha256,
): { readonly range: CompactRange; readonly extensions: readonly string[] } | undefined {
  checkArgument("kept", kept, "object");
  checkArgument("expected", expected, "object");
  const { size, peaks, note } = kept;
  try {
    const signed = openCheckpoint(note, expected);
    const range = new CompactRange(size, peaks.map(fromBase64), hash);
    const same = size === signed.size && bytesEqual(range.root(), signed.root);
    return same ? { range, extensions: signed.extensions ?? [] } : undefined;
  } catch {
    return undefined;
  }
}
