import type { Json, JsonObject } from "../json.ts";
import { sortedJson } from "./sorted-json.ts";

/** A command as it travels: a copy that shares nothing with its source, and the canonical JSON of it. */
export interface Detached {
  readonly command: JsonObject;
  readonly text: string;
}

/**
 * Copies a JSON object once, keys in order, and writes it once: what `JSON.parse(sortedJson(value))` gives, with its text.
 * Members that are undefined are left out; what no JSON can say (NaN, a hole in an array) becomes null.
 *
 * @throws TypeError when the value is no object or holds what is no JSON; RangeError when it is nested without end.
 */
export function detach(value: unknown): Detached {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("not an object");
  const seen = { numbered: false };
  const command = copyObject(value as JsonObject, seen);
  // an object's keys come back in the order that they went in, except those that look like places of an array
  return { command, text: seen.numbered ? sortedJson(command) : JSON.stringify(command) };
}

const place = /^\d+$/;

function copyObject(object: JsonObject, seen: { numbered: boolean }): JsonObject {
  const copy: Record<string, Json> = {};
  for (const key of Object.keys(object).sort()) {
    const member = object[key];
    if (member === undefined) continue;
    if (place.test(key)) seen.numbered = true;
    if (key === "__proto__")
      Object.defineProperty(copy, key, { value: copyValue(member, seen), enumerable: true, configurable: true, writable: true });
    else copy[key] = copyValue(member, seen);
  }
  return copy;
}

function copyValue(value: Json | undefined, seen: { numbered: boolean }): Json {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value + 0 : null; // -0 is written as 0
    case "undefined":
      return null;
    case "object":
      if (value === null) return null;
      return Array.isArray(value) ? value.map((item) => copyValue(item, seen)) : copyObject(value as JsonObject, seen);
    default:
      throw new TypeError(`a ${typeof value} is no JSON`);
  }
}
