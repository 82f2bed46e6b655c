import { checkArgument } from "../argument.ts";
import { BuiltinError } from "../errors.ts";
import { type TypeName, typeName, type Value } from "../value/value.ts";

/** A type of the declarations: what OPA's capability document says of an operand. */
export type Type =
  | { readonly kind: "any"; readonly of: readonly Type[] }
  | { readonly kind: "null" | "boolean" | "number" | "string" }
  | { readonly kind: "array"; readonly items: readonly Type[]; readonly rest: Type | undefined }
  | { readonly kind: "set"; readonly of: Type }
  | {
      readonly kind: "object";
      readonly fields: readonly { readonly key: string; readonly value: Type }[];
      readonly rest: { readonly key: Type; readonly value: Type } | undefined;
    };

/** What a builtin may see of its evaluation. */
export interface CallContext {
  /** Nanoseconds since the Unix epoch, the same for the whole evaluation. */
  readonly now: bigint;
  /** Random bytes, the same for the same `key` within one evaluation. */
  random(key: string, length: number): Uint8Array;
  /** A place for what a builtin keeps during one evaluation. */
  readonly cache: Map<string, unknown>;
  readonly trace: ((message: string) => void) | undefined;
  readonly print: ((message: string) => void) | undefined;
  readonly testCase: ((keys: Value) => void) | undefined;
}

/** A builtin function. `run` throws {@link BuiltinError} or returns undefined where it has no answer. */
export interface Builtin {
  readonly name: string;
  readonly args: readonly Type[];
  readonly result: Type;
  /** Accepted runtime types of each operand; undefined accepts all. */
  readonly accepts: readonly (ReadonlySet<TypeName> | undefined)[];
  readonly run: (args: readonly Value[], context: CallContext) => Value | undefined;
}

/** The builtins that a policy may call, by name. */
export type BuiltinTable = ReadonlyMap<string, Builtin>;

const ANY: Type = { kind: "any", of: [] };

/**
 * Reads a type: `string`, `[string]` (array), `<string>` (set), `{string: any}`, `number|string`, `[string, number]`
 * (fixed), `{}` (any object).
 */
function readType(text: string): Type {
  let at = 0;
  const space = (): void => {
    while (text[at] === " ") at++;
  };
  const one = (): Type => {
    space();
    const c = text[at];
    if (c === "(") {
      at++;
      const inner = union();
      at++;
      return inner;
    }
    if (c === "[") {
      at++;
      const items: Type[] = [];
      for (space(); text[at] !== "]"; space()) {
        items.push(union());
        space();
        if (text[at] === ",") at++;
      }
      at++;
      return items.length === 1 ? { kind: "array", items: [], rest: items[0] } : { kind: "array", items, rest: undefined };
    }
    if (c === "<") {
      at++;
      const of = union();
      at++;
      return { kind: "set", of };
    }
    if (c === "{") {
      at++;
      space();
      if (text[at] === "}") {
        at++;
        return { kind: "object", fields: [], rest: { key: ANY, value: ANY } };
      }
      const key = union();
      space();
      at++;
      const value = union();
      space();
      at++;
      return { kind: "object", fields: [], rest: { key, value } };
    }
    const word = /[a-z]+/y;
    word.lastIndex = at;
    const name = word.exec(text)?.[0] ?? "";
    at += name.length;
    switch (name) {
      case "any":
        return ANY;
      case "null":
      case "boolean":
      case "number":
      case "string":
        return { kind: name };
      default:
        throw new TypeError(`no type at ${at} of ${text}`);
    }
  };
  const union = (): Type => {
    const first = one();
    space();
    if (text[at] !== "|") return first;
    const of = [first];
    while (text[at] === "|") {
      at++;
      of.push(one());
      space();
    }
    return { kind: "any", of };
  };
  return union();
}

function acceptedBy(type: Type): ReadonlySet<TypeName> | undefined {
  if (type.kind !== "any") return new Set([type.kind]);
  if (type.of.length === 0) return undefined;
  const names = new Set<TypeName>();
  for (const part of type.of) {
    const accepted = acceptedBy(part);
    if (accepted === undefined) return undefined;
    for (const name of accepted) names.add(name);
  }
  return names;
}

/** Declares a builtin: `define("count", "string|[any]|{}|<any> -> number", ([x]) => ...)`. */
export function define(name: string, signature: string, run: Builtin["run"]): Builtin {
  checkArgument("name", name, "string");
  checkArgument("signature", signature, "string");
  checkArgument("run", run, "function");
  const arrow = signature.lastIndexOf("->");
  const args = splitArguments(signature.slice(0, arrow)).map(readType);
  return { name, args, result: readType(signature.slice(arrow + 2).trim()), accepts: args.map(acceptedBy), run };
}

function splitArguments(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if ("([{<".includes(c)) depth++;
    else if (")]}>".includes(c)) depth--;
    else if (c === "," && depth === 0) {
      parts.push(text.slice(from, i).trim());
      from = i + 1;
    }
  }
  const last = text.slice(from).trim();
  return last === "" && parts.length === 0 ? [] : [...parts, last];
}

/** The error for an operand of the wrong type, in OPA's words. */
export function operandError(position: number, got: Value, ...expected: readonly string[]): BuiltinError {
  const want = expected.length === 1 ? expected[0] : `one of {${expected.join(", ")}}`;
  return new BuiltinError(`operand ${position} must be ${want} but got ${typeName(got)}`, "eval_type_error");
}

/** Checks operands against the declaration; throws {@link BuiltinError}. */
export function checkOperands(builtin: Builtin, args: readonly Value[]): void {
  const { accepts } = builtin;
  for (let i = 0; i < accepts.length; i++) {
    const accepted = accepts[i];
    if (accepted === undefined) continue;
    const name = typeName(args[i] as Value);
    if (!accepted.has(name)) throw operandError(i + 1, args[i] as Value, ...accepted);
  }
}
