/** The newest `capacity` items, oldest first. */
export interface Ring<T> {
  push(item: T): void;
  items(): readonly T[];
  readonly size: number;
}

/**
 * A ring buffer; pushing beyond the capacity drops the oldest.
 *
 * @example
 * ```ts
 * import { createRing } from "@seneschal/core/storage";
 * const ring = createRing<number>(2);
 * for (const n of [1, 2, 3]) ring.push(n);
 * console.log([...ring.items()]); // [ 2, 3 ]
 * ```
 */
export function createRing<T>(capacity: number): Ring<T> {
  const slots: T[] = [];
  let start = 0;
  return {
    push(item) {
      if (slots.length < capacity) slots.push(item);
      else {
        slots[start] = item;
        start = (start + 1) % capacity;
      }
    },
    items: () => [...slots.slice(start), ...slots.slice(0, start)],
    get size() {
      return slots.length;
    },
  };
}
