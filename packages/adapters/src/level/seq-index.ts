import { auditCollection, auditKeyId, encodeIndexKey, entryKey, type KeyRange, type ListRequest } from "@seneschal/kernel/store";

/**
 * Whether an index is the built-in `seq` of audit. It is not written: the entries lie in its order and are dense from 1, so that
 * arithmetic answers it.
 */
export function isSeqIndex(coll: string, index: string): boolean {
  return coll === auditCollection && index === "seq";
}

/**
 * The entries whose keys of the index `seq` lie in a range, while `newest` is the newest entry: from `first` up to and
 * without `end`.
 */
export function seqsIn({ gte, lt }: KeyRange, newest: number): { readonly first: number; readonly end: number } {
  const end = lt === undefined ? newest + 1 : firstFrom(lt, newest);
  return { first: Math.min(firstFrom(gte, newest), end), end };
}

/** One page of the index `seq`, and the cursor behind it unless it is the last one. */
export function seqPage(
  { range, limit, offset, reverse, cursorAt }: ListRequest,
  newest: number,
): { readonly seqs: readonly number[]; readonly cursor?: string } {
  const { first, end } = seqsIn(range, newest);
  const left = Math.max(0, end - first - offset);
  const length = Math.min(limit, left);
  const seqs = Array.from({ length }, (_, at) => (reverse ? end - 1 - offset - at : first + offset + at));
  const last = seqs.at(-1);
  return length === left || last === undefined ? { seqs } : { seqs, cursor: cursorAt(keyOf(last)) };
}

/** The first entry whose key is not below `key`, `newest + 1` when none is: keys grow with the numbers. */
function firstFrom(key: string, newest: number): number {
  let low = 1;
  let high = newest + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (keyOf(middle) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keyOf(seq: number): string {
  return entryKey(encodeIndexKey([seq]), auditKeyId(seq));
}
