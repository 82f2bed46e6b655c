import { parseDocument, Scalar, stringify } from "yaml";
import { BuiltinError, EvaluationError } from "../errors.ts";
import { toJson } from "../value/json.ts";
import { allocate, allocateText, charge, tick } from "../value/meter.ts";
import { Decimal, fromBigInt, numberText, parseNumber, toDouble } from "../value/number.ts";
import { compareStrings, RegoObject, type Value } from "../value/value.ts";
import { type Builtin, define } from "./builtin.ts";
import { parses } from "./encoding.ts";

const MAX_ALIASES = 100;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what YAML refuses
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/** Reads one YAML 1.1 document as Go's reader does for JSON: `yes` is true, keys become strings. Throws {@link BuiltinError}. */
export function readYaml(text: string): Value {
  charge(text.length);
  allocate(text.length >> 2);
  if (text.length > 1_000_000) throw new EvaluationError("eval_limit_error", "YAML text is too long");
  let depth = 0;
  for (const c of text) {
    if (c === "[" || c === "{") depth++;
    if (depth > 10_000) throw new BuiltinError("yaml: nested too deeply");
  }
  if (CONTROL.test(text)) throw new BuiltinError("yaml: control characters are not allowed");
  let parsed: unknown;
  try {
    const document = parseDocument(text, {
      version: "1.1",
      merge: true,
      // the last of equal keys wins, as in Go
      uniqueKeys: false,
      intAsBigInt: true,
      customTags: (tags) =>
        tags.filter(
          (tag) =>
            typeof tag === "string" ||
            !(/timestamp|omap|pairs|:set$/.test(tag.tag) || ("format" in tag && tag.format === "TIME")),
        ),
    });
    const [error] = document.errors;
    if (error !== undefined) throw new BuiltinError(`yaml: ${error.message.split("\n")[0]}`);
    parsed = document.toJS({ mapAsMap: true, maxAliasCount: MAX_ALIASES });
  } catch (error) {
    if (error instanceof BuiltinError || error instanceof EvaluationError) throw error;
    throw new BuiltinError(`yaml: ${error instanceof Error ? error.message.split("\n")[0] : "unreadable"}`);
  }
  return regoValue(parsed, 0);
}

function regoValue(x: unknown, depth: number): Value {
  tick();
  if (depth > 1_000) throw new BuiltinError("yaml: nested too deeply");
  if (x === null || x === undefined) return null;
  if (typeof x === "bigint") return fromBigInt(x);
  if (typeof x === "number") {
    if (!Number.isFinite(x)) throw new BuiltinError("json: unsupported value");
    return Number.isInteger(x) && !Number.isSafeInteger(x) ? (parseNumber(String(x)) ?? x) : x;
  }
  if (typeof x === "string" || typeof x === "boolean") return x;
  if (Array.isArray(x)) return x.map((item) => regoValue(item, depth + 1));
  if (x instanceof Map) {
    const out = new RegoObject();
    for (const [key, value] of x) {
      if (typeof key === "object" && key !== null) throw new BuiltinError("yaml: unsupported map key");
      out.set(typeof key === "string" ? key : String(key), regoValue(value, depth + 1));
    }
    return out;
  }
  return String(x);
}

/** Writes YAML in go-yaml's style: sorted keys, sequences at their parent's indent. */
function writeYaml(json: unknown): string {
  const text = stringify(arranged(json), {
    version: "1.1",
    indentSeq: false,
    lineWidth: 0,
    blockQuote: "literal",
    singleQuote: null,
    customTags: (tags) => tags.filter((tag) => typeof tag === "string" || !/:(omap|pairs|set)$/.test(tag.tag)),
    aliasDuplicateObjects: false,
  });
  // a text of several lines by itself is indented too
  return typeof json === "string" && text.startsWith("|") ? text.replace(/\n(?=[^\n])/g, "\n  ") : text;
}

function arranged(x: unknown): unknown {
  if (typeof x === "string") return styled(x, false);
  // beyond 64 bits go-yaml has a float
  if (typeof x === "bigint") return BigInt.asIntN(64, x) === x ? x : Number(x);
  if (typeof x !== "object" || x === null) return x;
  if (x instanceof Decimal) return Number(numberText(x)) || toDouble(x);
  if (Array.isArray(x)) return x.map(arranged);
  return new Map(
    Object.entries(x)
      .sort(([a], [b]) => naturally(a, b))
      .map(([key, value]) => [styled(key, true), arranged(value)]),
  );
}

/** A string in the quotes that go-yaml gives it (`yaml_emitter_analyze_scalar`); the writer decides where that has none to say. */
function styled(text: string, isKey: boolean): Scalar | string {
  const special = /[^\n\x20-\x7e\u00a0-\ud7ff\ud800-\udfff\ue000-\ufefe\uff00-\ufffd]/.test(text) || / \n/.test(text);
  const lines = text.includes("\n");
  if (special || (lines && (isKey || / $/.test(text)))) return quotedBy("QUOTE_DOUBLE", text);
  const indicators = /^(---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:-](\s|$))/.test(text) || /:(\s|$)|\s#/.test(text) || /^ | $/.test(text);
  return indicators && !lines ? quotedBy("QUOTE_SINGLE", text) : text;
}

function quotedBy(type: "QUOTE_SINGLE" | "QUOTE_DOUBLE", text: string): Scalar {
  const scalar = new Scalar(text);
  scalar.type = type;
  return scalar;
}

/** go-yaml's order of keys: runs of digits by number. */
function naturally(a: string, b: string): number {
  const left = a.match(/\d+|\D/g) ?? [];
  const right = b.match(/\d+|\D/g) ?? [];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [x, y] = [left[i] as string, right[i] as string];
    if (x === y) continue;
    const numeric = /\d/.test(x) && /\d/.test(y);
    if (numeric && BigInt(x) !== BigInt(y)) return BigInt(x) < BigInt(y) ? -1 : 1;
    const letters = [/\p{L}/u.test(x), /\p{L}/u.test(y)];
    if (letters[0] !== letters[1]) return letters[0] ? 1 : -1;
    return compareStrings(x, y);
  }
  return left.length - right.length;
}

export const yamlBuiltins: readonly Builtin[] = [
  define("yaml.marshal", "any -> string", ([x]) => {
    const text = writeYaml(toJson(x as Value, true));
    allocateText(text.length);
    return text;
  }),
  define("yaml.unmarshal", "string -> any", ([s]) => readYaml(s as string)),
  define("yaml.is_valid", "any -> boolean", ([s]) => typeof s === "string" && parses(() => readYaml(s))),
];
