import { checkArgument } from "@seneschal/kernel";

/** A range of bytes: `from` inclusive, `to` exclusive. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The ranges with one more, in order, none touching another.
 *
 * @example
 * ```ts
 * import { addRange } from "@seneschal/core/storage";
 * console.log(addRange([{ from: 0, to: 4 }], { from: 4, to: 8 })); // [ { from: 0, to: 8 } ]
 * ```
 */
export function addRange(ranges: readonly ByteRange[], added: ByteRange): readonly ByteRange[] {
  checkArgument("ranges", ranges, "array");
  checkArgument("added", added, "object");
  if (added.from >= added.to) return ranges;
  const apart = ranges.filter(({ from, to }) => to < added.from || from > added.to);
  const joined = ranges.filter((range) => !apart.includes(range));
  const from = Math.min(added.from, ...joined.map((range) => range.from));
  const to = Math.max(added.to, ...joined.map((range) => range.to));
  return [...apart, { from, to }].sort((a, b) => a.from - b.from);
}

/**
 * The ranges without what lies from `end` on.
 *
 * @example
 * ```ts
 * import { cutRanges } from "@seneschal/core/storage";
 * console.log(cutRanges([{ from: 0, to: 8 }], 4)); // [ { from: 0, to: 4 } ]
 * ```
 */
export function cutRanges(ranges: readonly ByteRange[], end: number): readonly ByteRange[] {
  checkArgument("ranges", ranges, "array");
  checkArgument("end", end, "number");
  return ranges.flatMap(({ from, to }) => (from >= end ? [] : [{ from, to: Math.min(to, end) }]));
}
