import { checkArgument, checkOptions } from "../argument.ts";
import { CodedError } from "../errors.ts";
import type { Change, IndexValue, ListOptions, StoreErrorCode } from "../ports/document-store.ts";
import { fromHex, successor, toHex, utf8 } from "./byte-string.ts";
import { encodeIndexKey } from "./index-key.ts";
import { type CompiledSchema, collectionOf, valuesProblem } from "./schema.ts";

/** A half-open range of entry keys (index values, zero byte, id) in key order. `lt` absent: to the end of the index. */
export interface KeyRange {
  readonly gte: string;
  readonly lt: string | undefined;
}

/** A checked list request. `range` already starts behind the cursor. */
export interface ListRequest {
  readonly range: KeyRange;
  readonly limit: number;
  readonly offset: number;
  readonly reverse: boolean;
  /** The cursor of a page whose last entry has this key. */
  readonly cursorAt: (entryKey: string) => string;
}

type Bounds = { readonly from?: readonly IndexValue[]; readonly to?: readonly IndexValue[] };

/**
 * The keys of an index whose values start with `prefix` and, behind it, lie from `from` to `to`, both inclusive and
 * both possibly shorter than the index's tuple.
 *
 * @throws CodedError `invalid_query` for an unknown index or a value out of the domain.
 */
export function keyRange(
  schema: CompiledSchema,
  coll: string,
  index: string,
  prefix: readonly IndexValue[],
  bounds: Bounds = {},
): KeyRange {
  checkArgument("schema", schema, "object");
  checkArgument("coll", coll, "string");
  checkArgument("index", index, "string");
  checkArgument("prefix", prefix, "array");
  if (!collectionOf(schema, coll).indexes.some(({ name }) => name === index))
    throw invalid("invalid_query", `unknown index "${coll}.${index}"`);
  const problem = valuesProblem([...prefix, ...(bounds.from ?? []), ...(bounds.to ?? [])]);
  if (problem !== undefined) throw invalid("invalid_query", `the range of ${coll}.${index} ${problem}`);
  const start = encodeIndexKey(prefix);
  return {
    gte: bounds.from === undefined ? start : start + encodeIndexKey(bounds.from),
    lt: successor(bounds.to === undefined ? start : start + encodeIndexKey(bounds.to)),
  };
}

/**
 * Checks list options and turns them into a range. A cursor continues behind the last key it saw, in the direction it
 * came from; it is bound to collection, index, prefix and direction.
 *
 * @throws CodedError `invalid_query`, or `invalid_cursor` for a cursor of another list.
 */
export function listRequest(
  schema: CompiledSchema,
  coll: string,
  index: string,
  prefix: readonly IndexValue[],
  options: ListOptions,
): ListRequest {
  checkOptions("options", options, {
    from: "array?",
    to: "array?",
    limit: "number",
    offset: "number?",
    cursor: "string?",
    reverse: "boolean?",
  });
  checkArgument("schema", schema, "object");
  checkArgument("coll", coll, "string");
  checkArgument("index", index, "string");
  checkArgument("prefix", prefix, "array");
  const { limit, offset = 0, reverse = false, cursor } = options;
  if (!Number.isSafeInteger(limit) || limit < 1) throw invalid("invalid_query", "limit is no integer from 1");
  if (!Number.isSafeInteger(offset) || offset < 0) throw invalid("invalid_query", "offset is no integer from 0");
  const bounds: KeyRange = keyRange(schema, coll, index, prefix, options);
  const binding = `${reverse ? "-" : "+"}${coll}/${index}/${utf8(JSON.stringify(prefix))}\0`;
  const cursorAt = (entryKey: string): string => toHex(binding + entryKey);
  if (cursor === undefined) return { range: bounds, limit, offset, reverse, cursorAt };
  const decoded = fromHex(cursor);
  if (decoded?.startsWith(binding) !== true) throw invalid("invalid_cursor", `the cursor is not one of this list of ${coll}`);
  const last = decoded.slice(binding.length);
  const range = reverse
    ? { gte: bounds.gte, lt: bounds.lt === undefined || last < bounds.lt ? last : bounds.lt }
    : { gte: `${last}\0` > bounds.gte ? `${last}\0` : bounds.gte, lt: bounds.lt };
  return { range, limit, offset, reverse, cursorAt };
}

/** Checks the arguments of `auditRead` and `changes`. Throws CodedError `invalid_query`. */
export function checkFeed(afterSeq: number, limit: number): void {
  if (!Number.isSafeInteger(afterSeq) || afterSeq < 0) throw invalid("invalid_query", "afterSeq is no integer from 0");
  if (!Number.isSafeInteger(limit) || limit < 1) throw invalid("invalid_query", "limit is no integer from 1");
}

/** Checks the arguments of `compact`. Throws CodedError `invalid_query`. */
export function checkCompaction(given: { readonly audit?: number; readonly changes?: number }): void {
  checkArgument("given", given, "object");
  const { audit = 0, changes = 0 } = given;
  if (!Number.isSafeInteger(audit) || audit < 0) throw invalid("invalid_query", "audit is no integer from 0");
  if (!Number.isSafeInteger(changes) || changes < 0) throw invalid("invalid_query", "changes is no integer from 0");
}

/** Changes as they were read behind a number, up to the newest. They are dense: where the first is another than the next, some are forgotten. */
export function wholeFeed(afterSeq: number, changes: readonly Change[], newest: number): readonly Change[] {
  checkArgument("afterSeq", afterSeq, "number");
  checkArgument("changes", changes, "array");
  checkArgument("newest", newest, "number");
  const first = changes[0]?.seq ?? afterSeq + 1;
  if (first === afterSeq + 1) return changes;
  throw new CodedError<StoreErrorCode>("changes_compacted", `changes up to ${first - 1} are forgotten`, { first, newest });
}

function invalid(code: StoreErrorCode, message: string): CodedError<StoreErrorCode> {
  return new CodedError(code, message);
}
