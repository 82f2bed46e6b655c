import { auditCollection, auditKeyId, encodeIndexKey, entryKey, type KeyRange } from "@seneschal/kernel/store";
import { bytes, layout } from "./layout.ts";

/** Whether an index is the built-in `seq` of audit. It is not written: the entries lie in its order. */
export function isSeqIndex(coll: string, index: string): boolean {
  return coll === auditCollection && index === "seq";
}

/** Where the entries lie whose keys of the index `seq` are in a range, while `newest` is the newest entry. */
export function seqReach({ gte, lt }: KeyRange, newest: number): { readonly gte: Buffer; readonly lt: Buffer } {
  const end = lt === undefined ? newest + 1 : firstFrom(lt, newest);
  return { gte: bytes(layout.audit(Math.min(firstFrom(gte, newest), end))), lt: bytes(layout.audit(end)) };
}

/** The key of an entry in the index `seq`. */
export function seqPlace(seq: number): string {
  return entryKey(encodeIndexKey([seq]), auditKeyId(seq));
}

/** The first number whose key is not below `key`, `newest + 1` when none is: keys grow with the numbers. */
function firstFrom(key: string, newest: number): number {
  let low = 1;
  let high = newest + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (seqPlace(middle) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
