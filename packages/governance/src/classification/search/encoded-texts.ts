import { base64Runs, type EncodedText, textOfBytes } from "./base64-texts.ts";

/** Nine bytes and more in hexadecimal, together or with a blank or a colon between. */
const HEX = /(?<![\w])(?:0x)?([\da-f]{2})(?:([ :]?)[\da-f]{2})(?:\2[\da-f]{2}){7,}(?!\w)/gi;
/** Ten bytes and more in base32 (RFC 4648, section 6). */
const BASE32 = /(?<![\w])[A-Z2-7]{16,}={0,6}(?![\w=])/g;
const BASE32_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/** Tags (U+E0020 to U+E007E): ASCII that nobody sees. */
const TAGS = /(?:\udb40[\udc20-\udc7e])+/g;
/** Variation selectors: 256 of them, so that each may stand for a byte. A letter or an emoji has one. */
const SELECTORS = /(?:[\ufe00-\ufe0f]|\udb40[\udd00-\uddef]){4,}/g;

/** What none of these is in, and no run of twelve letters or digits, has none of these encodings. */
export const MAY_HOLD_ENCODED = "(?:[\\da-fA-F]{2}[ :]){4}|\\udb40[\\udc20-\\udc7e\\udd00-\\uddef]|[\\ufe00-\\ufe0f]{4}";
const MAY_HOLD = new RegExp(`[\\w+/\\\\-]{12}|${MAY_HOLD_ENCODED}`);

/** The texts that a text holds in hexadecimal and base32, where bytes are a text. */
function bareRuns(text: string): readonly EncodedText[] {
  return [...runsOf(text, HEX, bytesOfHex), ...runsOf(text, BASE32, bytesOfBase32)].sort((a, b) => a.start - b.start);
}

/** The texts that a text holds in characters that cannot be seen. */
function unseenRuns(text: string): readonly EncodedText[] {
  const tags = Array.from(text.matchAll(TAGS), ({ 0: run, index }): EncodedText => {
    const said = Array.from(run, (tag) => String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000)).join("");
    return { start: index, end: index + run.length, text: said };
  });
  return [...tags, ...runsOf(text, SELECTORS, bytesOfSelectors)].sort((a, b) => a.start - b.start);
}

const NONE: readonly EncodedText[] = [];

/** What a text holds in encodings of bytes and in characters that cannot be seen: each is looked for at the first question, and once. */
export class EncodedRuns {
  readonly text: string;
  readonly #mayHold: boolean;
  #base64: readonly EncodedText[] | undefined;
  #bare: readonly EncodedText[] | undefined;
  #unseen: readonly EncodedText[] | undefined;

  constructor(text: string) {
    this.text = text;
    this.#mayHold = MAY_HOLD.test(text);
  }

  get base64(): readonly EncodedText[] {
    this.#base64 ??= this.#mayHold ? base64Runs(this.text) : NONE;
    return this.#base64;
  }

  get bare(): readonly EncodedText[] {
    this.#bare ??= this.#mayHold ? bareRuns(this.text) : NONE;
    return this.#bare;
  }

  get unseen(): readonly EncodedText[] {
    this.#unseen ??= this.#mayHold ? unseenRuns(this.text) : NONE;
    return this.#unseen;
  }

  /** All of them, each with what it is held in. */
  get all(): readonly (readonly [how: string, inner: string])[] {
    return [
      ...this.base64.map((run) => ["base64", run.text] as const),
      ...this.bare.map((run) => ["hexadecimal or base32", run.text] as const),
      ...this.unseen.map((run) => ["characters that cannot be seen", run.text] as const),
    ];
  }
}

function runsOf(text: string, pattern: RegExp, bytesOf: (run: string) => Uint8Array): readonly EncodedText[] {
  return [...text.matchAll(pattern)].flatMap(({ 0: run, index }): readonly EncodedText[] => {
    const said = textOfBytes(bytesOf(run));
    return said === undefined ? [] : [{ start: index, end: index + run.length, text: said }];
  });
}

function bytesOfHex(run: string): Uint8Array {
  const digits = run.replace(/^0x(?=[\da-f])/i, "").replace(/[ :]/g, "");
  return Uint8Array.from({ length: digits.length / 2 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

function bytesOfBase32(run: string): Uint8Array {
  const letters = run.replace(/=+$/, "");
  const bytes = new Uint8Array(Math.floor((letters.length * 5) / 8));
  let held = 0;
  let bits = 0;
  let at = 0;
  for (const letter of letters) {
    held = ((held << 5) | BASE32_LETTERS.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[at++] = held >> bits;
  }
  return bytes;
}

function bytesOfSelectors(run: string): Uint8Array {
  return Uint8Array.from(run, (selector) => {
    const code = selector.codePointAt(0) ?? 0;
    return code < 0x10000 ? code - 0xfe00 : code - 0xe0100 + 16;
  });
}
