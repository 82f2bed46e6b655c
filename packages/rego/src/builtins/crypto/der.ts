/** One DER element (X.690). */
export interface Der {
  readonly tag: number;
  readonly content: Uint8Array;
  /** The element with its header. */
  readonly raw: Uint8Array;
}

const MAX_ELEMENTS = 100_000;

/** Reads the elements that fill `bytes`; undefined if it is no DER. */
export function readDer(bytes: Uint8Array): readonly Der[] | undefined {
  const out: Der[] = [];
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] as number;
    let length = bytes[at + 1];
    if ((tag & 31) === 31 || length === undefined || out.length > MAX_ELEMENTS) return undefined;
    let from = at + 2;
    if (length >= 0x80) {
      const count = length & 127;
      if (count === 0 || count > 4) return undefined;
      length = 0;
      for (let i = 0; i < count; i++) length = length * 256 + (bytes[from + i] ?? 0);
      from += count;
    }
    if (from + length > bytes.length) return undefined;
    out.push({ tag, content: bytes.subarray(from, from + length), raw: bytes.subarray(at, from + length) });
    at = from + length;
  }
  return out;
}

/** The elements inside of a constructed one. */
export function inside(element: Der | undefined): readonly Der[] {
  return element === undefined ? [] : (readDer(element.content) ?? []);
}

export function unsigned(bytes: Uint8Array): bigint {
  let out = 0n;
  for (const b of bytes) out = (out << 8n) | BigInt(b);
  return out;
}

/** A two's-complement INTEGER. */
export function integerOf(element: Der): bigint {
  const value = unsigned(element.content);
  return ((element.content[0] ?? 0) & 0x80) === 0 ? value : value - (1n << BigInt(8 * element.content.length));
}

/** Dotted arcs of an OBJECT IDENTIFIER. */
export function oidOf(element: Der | undefined): string {
  const arcs: number[] = [];
  let value = 0;
  for (const b of element?.content ?? []) {
    value = value * 128 + (b & 127);
    if ((b & 128) !== 0) continue;
    if (arcs.length === 0) {
      const first = Math.min(2, Math.floor(value / 40));
      arcs.push(first, value - first * 40);
    } else arcs.push(value);
    value = 0;
  }
  return arcs.join(".");
}

/** The bits of a BIT STRING, without the count of unused ones. */
export function bitsOf(element: Der | undefined): Uint8Array {
  return element?.content.subarray(1) ?? new Uint8Array();
}

export interface PemBlock {
  readonly label: string;
  readonly bytes: Uint8Array;
}

const PEM = /-----BEGIN ([A-Z0-9 ]+)-----\s*(?:[A-Za-z-]+:[^\n]*\n)*\s*([A-Za-z0-9+/=\s]*?)-----END \1-----[ \t]*\r?\n?/g;

/** The blocks of PEM text and what follows the last. */
export function readPem(
  text: string,
  decode: (base64: string) => Uint8Array | undefined,
): { readonly blocks: readonly PemBlock[]; readonly rest: string } {
  const blocks: PemBlock[] = [];
  let end = 0;
  for (const match of text.matchAll(PEM)) {
    const bytes = decode((match[2] as string).replace(/\s/g, ""));
    if (bytes === undefined) continue;
    blocks.push({ label: match[1] as string, bytes });
    end = match.index + match[0].length;
  }
  return { blocks, rest: text.slice(end) };
}
