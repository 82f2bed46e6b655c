import { isDeepStrictEqual } from "node:util";
import { canonicalJson, parseStrictJson } from "@seneschal/crypto";
import { isCoded } from "@seneschal/kernel";
import { readJson, toJson } from "@seneschal/rego";
import { decodeJson } from "../../packages/contract/src/decode-json.ts";
import { decodeEntry } from "../../packages/kernel/src/log/entry.ts";
import { type FuzzTarget, law, orRefused, textOf } from "../target.ts";

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Strict JSON, the canonical form, request bodies, log entries and the policy engine's reader beside JSON.parse. */
export const target: FuzzTarget = {
  words: [
    '{"a":',
    "[",
    "]",
    "}",
    ",",
    '"',
    "\\u0000",
    "\\ud800",
    "1e400",
    "-0",
    "9007199254740993",
    "null",
    "true",
    '"__proto__":',
    "\ufeff",
  ],
  run(bytes) {
    const text = textOf(bytes);
    const plain = parsed(text);
    const strict = orRefused(() => ({ value: parseStrictJson(text) }));
    if (strict !== undefined) {
      law(plain !== undefined, "what is strict JSON is JSON");
      law(isDeepStrictEqual(strict.value, plain?.value), "strict JSON means what JSON.parse says");
      const canonical = orRefused(() => canonicalJson(strict.value as never));
      if (canonical !== undefined) {
        law(canonicalJson(parseStrictJson(canonical) as never) === canonical, "the canonical form is canonical");
      }
    }
    const body = orRefused(() => ({ value: decodeJson(bytes) }));
    if (body !== undefined) law(plain !== undefined || text.startsWith("\ufeff"), "what a body may be is JSON");
    const entry = orRefused(() => decodeEntry(text));
    if (entry !== undefined) law(Array.isArray(entry.commands), "an entry has commands");
    try {
      toJson(readJson(text));
      law(plain !== undefined, "the engine reads no more than JSON.parse");
    } catch (error) {
      if (!(error instanceof SyntaxError) && !(error instanceof Error && error.name === "EvaluationError") && !isCoded(error))
        throw error;
    }
  },
};
