import { checkArgument } from "@seneschal/kernel";
import { base64, bytesEqual, concat, fromBase64, fromUtf8, hex, utf8 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { nobleCrypto } from "../provider/noble.ts";

/** Ed25519 over the note's text (C2SP signed-note). */
const ED25519 = 1;
/** Ed25519 over a time and the note's text, by a witness (C2SP tlog-cosignature, cosignature/v1). */
const COSIGNATURE = 4;

/** A log's state that its owner answers for (C2SP tlog-checkpoint). */
export interface Checkpoint {
  /** The log's name, for example `audit.acme.example`; no line break. */
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
  /** Further lines, each not empty. */
  readonly extensions?: readonly string[];
}

/** Who signs or verifies a note: a key name without spaces or plus, and an Ed25519 public key. */
export interface NoteKey {
  readonly name: string;
  readonly publicKey: Uint8Array;
}

/** Signs bytes with the key: a seed, an HSM, or custodians by FROST. */
export type SignBytes = (message: Uint8Array) => Uint8Array | Promise<Uint8Array>;

/** The text of a checkpoint: origin, size, base64 root, extensions, one per line. Throws `log_invalid`. */
export function checkpointText(checkpoint: Checkpoint): string {
  checkArgument("checkpoint", checkpoint, "object");
  const { origin, size, root, extensions = [] } = checkpoint;
  const lines = [origin, String(size), base64(root), ...extensions];
  if (
    lines.some((line) => line === "" || /[\n\r\0]/.test(line)) ||
    !Number.isSafeInteger(size) ||
    size < 0 ||
    root.length !== 32
  ) {
    throw cryptoError("log_invalid", "a checkpoint needs an origin, a size, a 32-byte root and lines without breaks");
  }
  return `${lines.join("\n")}\n`;
}

/** Reads a checkpoint's text. Throws `log_invalid`. */
export function parseCheckpoint(text: string): Checkpoint {
  checkArgument("text", text, "string");
  const [origin = "", size = "", root = "", ...rest] = text.split("\n");
  try {
    if (!/^(?:0|[1-9]\d{0,15})$/.test(size) || rest.pop() !== "") throw new Error("shape");
    const checkpoint = { origin, size: Number(size), root: fromBase64(root), ...(rest.length > 0 ? { extensions: rest } : {}) };
    checkpointText(checkpoint);
    return checkpoint;
  } catch (cause) {
    throw cryptoError("log_invalid", "not a checkpoint", {}, cause);
  }
}

/**
 * A signed note (C2SP signed-note): the text, an empty line, one signature line. Further signers append with
 * {@link cosignNote}.
 *
 * @example
 * ```ts
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { checkpointText, signNote, verifyNote } from "@seneschal/crypto/merkle";
 * const seed = new Uint8Array(32).fill(3);
 * const key = { name: "audit.acme.example", publicKey: nobleCrypto.ed25519PublicKey(seed) };
 * const text = checkpointText({ origin: key.name, size: 7, root: new Uint8Array(32) });
 * const note = await signNote(text, key, (message) => nobleCrypto.ed25519Sign(seed, message));
 * console.log(verifyNote(note, [key]).signedBy); // [ 'audit.acme.example' ]
 * ```
 */
export async function signNote(text: string, key: NoteKey, sign: SignBytes): Promise<string> {
  checkArgument("text", text, "string");
  checkArgument("key", key, "object");
  checkArgument("sign", sign, "function");
  assertText(text);
  const signature = await sign(utf8(text));
  return `${text}\n${signatureLine(key, ED25519, signature)}`;
}

/** Adds a witness's cosignature with its time (seconds). The witness must have checked consistency with what it saw before. */
export async function cosignNote(note: string, key: NoteKey, seconds: number, sign: SignBytes): Promise<string> {
  checkArgument("note", note, "string");
  checkArgument("key", key, "object");
  checkArgument("seconds", seconds, "number");
  checkArgument("sign", sign, "function");
  const { text } = splitNote(note);
  const signature = await sign(cosignedMessage(text, seconds));
  return `${note}${signatureLine(key, COSIGNATURE, concat(u64(seconds), signature))}`;
}

/** A note whose signatures by the given keys were checked. */
export interface VerifiedNote {
  readonly text: string;
  /** Names of the given keys with a valid signature. */
  readonly signedBy: readonly string[];
  /** Times in seconds of valid cosignatures, by key name. */
  readonly cosignedAt: Readonly<Record<string, number>>;
}

/**
 * Checks a note. Signatures of unknown keys are ignored; a wrong signature of a known key spoils the note. Throws
 * `log_invalid` for that, for a malformed note and when no known key signed.
 */
export function verifyNote(note: string, keys: readonly NoteKey[]): VerifiedNote {
  checkArgument("note", note, "string");
  checkArgument("keys", keys, "array");
  const { text, lines } = splitNote(note);
  const signedBy: string[] = [];
  const cosignedAt: Record<string, number> = {};
  for (const line of lines) {
    const match = /^\u2014 ([^\s+]+) (\S+)$/.exec(line);
    if (match === null) throw malformed();
    const [, name = "", encoded = ""] = match;
    const bytes = decode(encoded);
    if (bytes.length < 5) throw malformed();
    const id = bytes.subarray(0, 4);
    const signature = bytes.subarray(4);
    for (const key of keys.filter((k) => k.name === name)) {
      if (bytesEqual(id, keyId(key, ED25519))) {
        if (!verify(key, utf8(text), signature)) throw wrong(name);
        if (!signedBy.includes(name)) signedBy.push(name);
      } else if (bytesEqual(id, keyId(key, COSIGNATURE))) {
        const seconds = readU64(signature);
        if (signature.length !== 72 || !verify(key, cosignedMessage(text, seconds), signature.subarray(8))) throw wrong(name);
        cosignedAt[name] = seconds;
      }
    }
  }
  if (signedBy.length === 0 && Object.keys(cosignedAt).length === 0) {
    throw cryptoError("log_invalid", "no known key signed the note");
  }
  return { text, signedBy, cosignedAt };
}

/** The verifier key of a log in the note format's own text: `name+keyid+base64(0x01 || public key)`. */
export function noteVerifierKey(key: NoteKey): string {
  checkArgument("key", key, "object");
  return verifierKeyText(key, ED25519);
}

/** The verifier key of a witness (C2SP tlog-cosignature): `name+keyid+base64(0x04 || public key)`. */
export function witnessVerifierKey(key: NoteKey): string {
  checkArgument("key", key, "object");
  return verifierKeyText(key, COSIGNATURE);
}

/**
 * Reads a verifier key, and says whose kind of signature it verifies: a log's over notes, a witness's over checkpoints of others. Throws
 * `log_invalid`, also for a key id that is not the key's.
 */
export function parseVerifierKey(text: string): { readonly key: NoteKey; readonly signs: "notes" | "cosignatures" } {
  const [, name = "", encoded = ""] = /^([^\s+]+)\+[0-9a-f]{8}\+(\S+)$/.exec(text) ?? [];
  try {
    const bytes = fromBase64(encoded);
    const key = { name, publicKey: bytes.slice(1) };
    if (bytes.length === 33 && [ED25519, COSIGNATURE].includes(bytes[0] as number))
      if (verifierKeyText(key, bytes[0] as number) === text)
        return { key, signs: bytes[0] === ED25519 ? "notes" : "cosignatures" };
  } catch (cause) {
    throw cryptoError("log_invalid", "not a verifier key", {}, cause);
  }
  throw cryptoError("log_invalid", "not a verifier key");
}

function verifierKeyText(key: NoteKey, algorithm: number): string {
  return `${key.name}+${hex(keyId(key, algorithm))}+${base64(concat(Uint8Array.of(algorithm), key.publicKey))}`;
}

/** First four bytes of SHA-256(name || "\n" || algorithm || key). */
function keyId(key: NoteKey, algorithm: number): Uint8Array {
  const input = concat(utf8(`${key.name}\n`), Uint8Array.of(algorithm), key.publicKey);
  return nobleCrypto.hash("sha256", input).subarray(0, 4);
}

function signatureLine(key: NoteKey, algorithm: number, signature: Uint8Array): string {
  if (!/^[^\s+]+$/.test(key.name)) throw cryptoError("log_invalid", "a key name has no spaces and no plus");
  return `\u2014 ${key.name} ${base64(concat(keyId(key, algorithm), signature))}\n`;
}

function cosignedMessage(text: string, seconds: number): Uint8Array {
  return utf8(`cosignature/v1\ntime ${seconds}\n${text}`);
}

/** The text of a note whose signatures were checked before. Throws `log_invalid`. */
export function noteText(note: string): string {
  checkArgument("note", note, "string");
  return splitNote(note).text;
}

function splitNote(note: string): { readonly text: string; readonly lines: readonly string[] } {
  const at = note.lastIndexOf("\n\n");
  if (at < 0 || !note.endsWith("\n")) throw malformed();
  const lines = note.slice(at + 2, -1).split("\n");
  if (lines.length === 0 || lines.length > 100 || lines[0] === "") throw malformed();
  return { text: note.slice(0, at + 1), lines };
}

function assertText(text: string): void {
  if (!text.endsWith("\n") || fromUtf8(utf8(text)) !== text || hasControl(text)) {
    throw cryptoError("log_invalid", "a note's text ends with a line break and holds no control characters");
  }
}

function hasControl(text: string): boolean {
  return [...text].some((c) => c < " " && c !== "\n");
}

function verify(key: NoteKey, message: Uint8Array, signature: Uint8Array): boolean {
  return nobleCrypto.ed25519Verify(key.publicKey, message, signature);
}

function decode(text: string): Uint8Array {
  try {
    return fromBase64(text);
  } catch {
    throw malformed();
  }
}

function u64(value: number): Uint8Array {
  const out = new Uint8Array(8);
  new DataView(out.buffer).setBigUint64(0, BigInt(value));
  return out;
}

function readU64(bytes: Uint8Array): number {
  if (bytes.length < 8) throw malformed();
  return Number(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getBigUint64(0));
}

function malformed() {
  return cryptoError("log_invalid", "not a signed note");
}

function wrong(name: string) {
  return cryptoError("log_invalid", "a known key's signature on the note is wrong", { key: name });
}
