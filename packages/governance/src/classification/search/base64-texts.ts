import { utf8Decode } from "@seneschal/kernel";
import { fromBase64 } from "../../base64.ts";
import { inflated } from "./inflated.ts";

/** A run of base64 or base64url (RFC 4648), over lines as MIME breaks it; shorter ones hold nothing that is worth hiding. JSON may write a solidus behind a backslash (RFC 8259, section 7). */
const RUN = /(?<![\w+/-])(?:[\w+/-]|\\\/){12,}(?:\r?\n(?:[\w+/-]|\\\/){2,})*={0,2}(?![\w+/=-])/g;
const LINE = /[^\r\n]+/g;

/** Anything but what a text is made of. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no text has
const BINARY = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]/;

/** Letters of base64 of the least that gzip, zlib or deflate make of a value, and bytes of the value: less comes out of other bytes by chance. */
const LEAST_COMPRESSED = 16;
const LEAST_INFLATED = 9;
/** Of ids, hashes and paths, of which a log is full, the letters are of one case; of compressed bytes in ten thousand runs none. */
const isMixed = (run: string): boolean => /[a-z]/.test(run) && /[A-Z]/.test(run);

/** A text that stands in another one in an encoding, and where it stands. */
export interface EncodedText {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * The texts that a text holds in base64, in their order: UTF-8, or UTF-16 of Latin letters as shells take it (`-EncodedCommand`). Pictures, keys and other bytes are none.
 */
export function base64Texts(text: string): readonly string[] {
  return base64Runs(text).map((run) => run.text);
}

/** The same with their places. Where lines are no text together, each is looked at alone: what stands below a run need not belong to it. */
export function base64Runs(text: string): readonly EncodedText[] {
  return [...text.matchAll(RUN)].flatMap(({ 0: run, index }) => {
    const whole = runAt(run, index);
    if (whole !== undefined) return [whole];
    const lines = run.includes("\n") ? [...run.matchAll(LINE)] : [];
    return lines.flatMap(({ 0: line, index: at }) => runAt(line, index + at) ?? []);
  });
}

function runAt(run: string, start: number): EncodedText | undefined {
  const text = textOfRun(
    run
      .replace(/[\r\n\\]/g, "")
      .replaceAll("-", "+")
      .replaceAll("_", "/"),
  );
  return text === undefined ? undefined : { start, end: start + run.length, text };
}

function textOfRun(run: string): string | undefined {
  if (run.replace(/=+$/, "").length % 4 === 1) return undefined;
  // Most runs are no text, and their first bytes tell.
  const start = fromBase64(run.slice(0, 32));
  if (start === undefined) return undefined;
  if (beginsAsText(start)) {
    const text = textOfBytes(fromBase64(run) as Uint8Array);
    if (text !== undefined) return text;
  }
  // Compressed bytes are longer than what such a run begins at, and what is none shows at its beginning.
  if (run.length < LEAST_COMPRESSED || !isMixed(run)) return undefined;
  const out = inflated(fromBase64(run) as Uint8Array);
  return out === undefined || out.length < LEAST_INFLATED ? undefined : textOfBytes(out);
}

/** The text that bytes are, in UTF-8 or in UTF-16 of Latin letters; `undefined` for other bytes. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  if (!beginsAsText(bytes.subarray(0, 24))) return undefined;
  const wide = bytes.length % 2 === 0 && bytes.every((byte, at) => at % 2 === 0 || byte === 0);
  const found = wide ? String.fromCharCode(...bytes.filter((_, at) => at % 2 === 0)) : strict(bytes);
  return found === undefined || BINARY.test(found) ? undefined : found;
}

/** Whether bytes, which may end within a character, are UTF-8 without the lowest controls, or have every second 0. */
function beginsAsText(bytes: Uint8Array): boolean {
  if (bytes.every((byte, at) => at % 2 === 0 || byte === 0)) return true;
  let following = 0;
  for (const byte of bytes) {
    const follows = byte >> 6 === 0b10;
    if (follows !== following > 0 || byte < 9 || byte === 0xc0 || byte === 0xc1 || byte > 0xf4) return false;
    if (follows) following--;
    else following = utf8Length(byte) - 1;
  }
  return true;
}

/** How many bytes the character of UTF-8 has that begins with a byte; 1 for a byte that begins none. */
export function utf8Length(first: number): number {
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 1;
}

function strict(bytes: Uint8Array): string | undefined {
  try {
    return utf8Decode(bytes);
  } catch {
    return undefined;
  }
}
