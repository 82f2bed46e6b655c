import { s3Error } from "./errors.ts";

/** Bytes `start` to `end` (exclusive) of a resource. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * A single range of a Range header (RFC 9110, 14.1.2). `undefined`: no range, several ranges, or not understood, which
 * all mean the whole. Throws `InvalidRange` when it cannot be satisfied.
 */
export function parseRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return undefined;
  const unsatisfiable = () => s3Error("InvalidRange", "the range is not within the object", { size });
  if (first === "") {
    const suffix = Number(last);
    if (suffix === 0) throw unsatisfiable();
    // The last bytes of nothing are all of it.
    if (size === 0) return undefined;
    return { start: Math.max(0, size - suffix), end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return undefined;
  if (start >= size) throw unsatisfiable();
  return { start, end };
}
