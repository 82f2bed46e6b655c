import { tick } from "../value/meter.ts";
import { equal, getKey, isArray, isObject, RegoSet, sortedKeys, type Value } from "../value/value.ts";

/** `item in collection`, or `key, item in collection`: array items, object values, set elements. */
export function isMember(item: Value, collection: Value, key?: Value): boolean {
  if (isArray(collection)) {
    if (key !== undefined) {
      if (typeof key !== "number" || !Number.isInteger(key) || key < 0) return false;
      const at = collection[key];
      return at !== undefined && equal(item, at);
    }
    for (const other of collection) {
      tick();
      if (item === other || equal(item, other)) return true;
    }
    return false;
  }
  if (collection instanceof RegoSet) return (key === undefined || equal(key, item)) && collection.has(item);
  if (!isObject(collection)) return false;
  if (key !== undefined) {
    const at = getKey(collection, key);
    return at !== undefined && equal(item, at);
  }
  for (const k of sortedKeys(collection)) {
    tick();
    if (equal(item, getKey(collection, k) as Value)) return true;
  }
  return false;
}
