/** How many items of a list come before all others, where `before` is true of a first part of it and of nothing behind that: a binary search. */
export function partitionPoint<T>(list: readonly T[], before: (item: T, index: number) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(list[middle] as T, middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
