import { CodedError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import type { StoreErrorCode } from "../ports/document-store.ts";
import { utf8Length } from "./byte-string.ts";

/** Largest serialised document in bytes. */
export const maxDocumentBytes = 1024 * 1024;

const maxDepth = 200;

/** What is wrong with a string as a key or a value, or `undefined`. Every engine must be able to keep it unchanged. */
export function stringProblem(text: string): string | undefined {
  if (text.includes("\0")) return "contains U+0000";
  if (!isWellFormed(text)) return "contains a lone surrogate";
  return undefined;
}

/**
 * Checks that a value is JSON in the store's domain and serialises it at once, so that what the caller does to it later
 * changes nothing. -0 becomes 0.
 *
 * @throws CodedError `invalid_document` with `details.path` of the first value out of the domain, or when the text is
 *   larger than {@link maxDocumentBytes}.
 */
export function serialiseDocument(value: JsonObject, where: string): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(where, "is not an object");
  checkJson(value, where, 0);
  const text = JSON.stringify(value);
  const bytes = utf8Length(text);
  if (bytes > maxDocumentBytes) throw invalid(where, `takes ${bytes} bytes, more than ${maxDocumentBytes}`);
  return text;
}

function checkJson(value: Json, path: string, depth: number): void {
  if (depth > maxDepth) throw invalid(path, `is nested deeper than ${maxDepth}`);
  if (value === null || typeof value === "boolean") return;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw invalid(path, "is not a finite number");
  } else if (typeof value === "string") {
    const problem = stringProblem(value);
    if (problem !== undefined) throw invalid(path, problem);
  } else if (Array.isArray(value)) {
    // By number, not forEach: a hole must be refused, not skipped.
    for (let i = 0; i < value.length; i += 1) checkJson(value[i] as Json, `${path}[${i}]`, depth + 1);
  } else if (typeof value === "object" && isPlain(value)) {
    for (const [key, member] of Object.entries(value as JsonObject)) {
      const problem = stringProblem(key);
      if (problem !== undefined) throw invalid(`${path}[${JSON.stringify(key)}]`, `has a name that ${problem}`);
      checkJson(member, `${path}.${key}`, depth + 1);
    }
  } else {
    throw invalid(path, `is ${value === undefined ? "undefined" : `a ${typeof value}`}, not JSON`);
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function isWellFormed(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0xd800 || code > 0xdfff) continue;
    const next = text.charCodeAt(i + 1);
    if (code > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return false;
    i += 1;
  }
  return true;
}

function invalid(path: string, problem: string): CodedError<StoreErrorCode> {
  return new CodedError("invalid_document", `${path} ${problem}`, { path });
}
