import { CodedError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import type { StoreErrorCode } from "../ports/document-store.ts";
import { takesMoreThan, utf8Length } from "./byte-string.ts";

/** Largest serialised document in bytes. */
export const maxDocumentBytes = 1024 * 1024;

const maxDepth = 200;

/** Matches in a string that is not well-formed, for with this flag a pair is one character. */
const loneSurrogate = /\p{Surrogate}/u;

/** What is wrong with a string as a key or a value, or `undefined`. Every engine must be able to keep it unchanged. */
export function stringProblem(text: string): string | undefined {
  if (text.includes("\0")) return "contains U+0000";
  if (loneSurrogate.test(text)) return "contains a lone surrogate";
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
  const problem = jsonProblem(value, 0);
  if (problem !== undefined) throw invalid(where + problem.path, problem.text);
  const text = JSON.stringify(value);
  if (takesMoreThan(text, maxDocumentBytes))
    throw invalid(where, `takes ${utf8Length(text)} bytes, more than ${maxDocumentBytes}`);
  return text;
}

/** What is wrong with the first value out of the domain, and the way to it. */
interface Problem {
  readonly path: string;
  readonly text: string;
}

/** The way is put together from its end and only where there is one: nearly every value is in the domain. */
function jsonProblem(value: Json, depth: number): Problem | undefined {
  if (depth > maxDepth) return here(`is nested deeper than ${maxDepth}`);
  if (value === null || typeof value === "boolean") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : here("is not a finite number");
  if (typeof value === "string") return here(stringProblem(value));
  if (Array.isArray(value)) {
    // By number, not forEach: a hole must be refused, not skipped.
    for (let i = 0; i < value.length; i += 1) {
      const problem = jsonProblem(value[i] as Json, depth + 1);
      if (problem !== undefined) return { path: `[${i}]${problem.path}`, text: problem.text };
    }
    return undefined;
  }
  if (typeof value !== "object" || !isPlain(value))
    return here(`is ${value === undefined ? "undefined" : `a ${typeof value}`}, not JSON`);
  for (const key of Object.keys(value)) {
    const name = stringProblem(key);
    if (name !== undefined) return { path: `[${JSON.stringify(key)}]`, text: `has a name that ${name}` };
    const problem = jsonProblem((value as JsonObject)[key] as Json, depth + 1);
    if (problem !== undefined) return { path: `.${key}${problem.path}`, text: problem.text };
  }
  return undefined;
}

function here(text: string | undefined): Problem | undefined {
  return text === undefined ? undefined : { path: "", text };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function invalid(path: string, problem: string): CodedError<StoreErrorCode> {
  return new CodedError("invalid_document", `${path} ${problem}`, { path });
}
