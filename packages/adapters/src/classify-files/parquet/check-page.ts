import { deltaBinaryUnpack } from "hyparquet/src/delta.js";

/** Values of one page and bytes of one page, before and after decompression, that are accepted. */
export const MAX_PAGE_VALUES = 16 * 1024 * 1024;
export const MAX_PAGE_BYTES = 64 * 1024 * 1024;
const MAX_EXPANDED = 4 * MAX_PAGE_BYTES;

/** What a decoder would do with a page that lies: a few bytes can claim billions of values. */
export class PageTooLarge extends Error {
  constructor() {
    super("a page claims more values than it may hold");
  }
}

interface Position {
  readonly view: DataView;
  offset: number;
}

/**
 * Walks the runs of an RLE / bit-packed hybrid (Parquet encodings, section RLE) without unpacking them, byte by byte as the decoder does.
 * Gives how many values they hold, no further than `count`. Throws {@link PageTooLarge} beyond `count` values.
 */
function walkRuns(view: DataView, start: number, end: number, width: number, count: number): number {
  const at: Position = { view, offset: start };
  let seen = 0;
  while (seen < count && at.offset < end) {
    const header = varint(at);
    const packed = header % 2 === 1;
    const values = packed ? Math.floor(header / 2) * 8 : header / 2;
    // The last group of eight may be padded.
    if (values > count - seen + 7) throw new PageTooLarge();
    // The decoder takes a byte of packed values even where there are none, or they have no width.
    at.offset += packed ? Math.max(1, (values / 8) * width) : (width + 7) >> 3;
    seen += values;
  }
  return seen;
}

/** Levels, of which there are `count`. Throws {@link PageTooLarge} for more, and for fewer: the decoder would read on in what stands behind them. */
export function checkLevels(view: DataView, start: number, end: number, width: number, count: number): void {
  if (walkRuns(view, start, end, width, count) < count) throw new PageTooLarge();
}

/** Values up to the end of the page: nulls are not among them, so there may be fewer than `count`. Throws {@link PageTooLarge} for more. */
export function checkRuns(view: DataView, start: number, width: number, count: number): void {
  walkRuns(view, start, view.byteLength, width, count);
}

/** Sum of the lengths that DELTA_BYTE_ARRAY would unpack: prefixes repeat what came before, so they can grow far beyond the page. */
export function checkDeltaStrings(view: DataView, start: number, count: number): void {
  const at: Position = { view, offset: start };
  let total = 0;
  // Lengths of prefixes, then of suffixes.
  for (let list = 0; list < 2; list++) {
    const claimed = deltaCount(at);
    if (claimed > count) throw new PageTooLarge();
    if (claimed === 0) return;
    const lengths = new Int32Array(claimed);
    deltaBinaryUnpack(at, claimed, lengths);
    for (const length of lengths) total += Math.max(0, length);
    if (total > MAX_EXPANDED) throw new PageTooLarge();
  }
}

/** The value count in the header of a DELTA_BINARY_PACKED block: block size, miniblocks, count. */
function deltaCount({ view, offset }: Position): number {
  const at = { view, offset };
  varint(at);
  varint(at);
  return varint(at);
}

function varint(at: Position): number {
  let value = 0;
  for (let shift = 1; ; shift *= 128) {
    const byte = at.view.getUint8(at.offset++);
    value += (byte & 0x7f) * shift;
    if (byte < 0x80) return value;
    if (shift > 2 ** 28) throw new PageTooLarge();
  }
}
