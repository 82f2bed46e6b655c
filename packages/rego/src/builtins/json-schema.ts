import { BuiltinError } from "../errors.ts";
import { jsonText } from "../value/format.ts";
import { tick } from "../value/meter.ts";
import { compareNumbers, divide, isInteger, type Num, numberText, remainder, toBigInt } from "../value/number.ts";
import {
  equal,
  getKey,
  isArray,
  isNumber,
  isObject,
  objectSize,
  type PlainObject,
  RegoObject,
  RegoSet,
  sortedKeys,
  type Value,
} from "../value/value.ts";
import { type Builtin, define } from "./builtin.ts";
import { codePoints } from "./collections.ts";
import { unmarshal } from "./encoding.ts";
import { parseTime } from "./go-time.ts";
import { parseAddress } from "./network.ts";
import { regexMatches } from "./regex.ts";

type AnyObject = PlainObject | RegoObject;

const TYPES = ["array", "boolean", "integer", "number", "null", "object", "string"];
const MAX_DEPTH = 200;

interface Violation {
  readonly type: string;
  readonly field: string;
  readonly desc: string;
}

/** A schema or a document: JSON text or an object. */
function load(value: Value): Value {
  if (typeof value === "string") {
    try {
      return unmarshal(value);
    } catch (error) {
      if (error instanceof BuiltinError) throw new BuiltinError("invalid JSON string");
      throw error;
    }
  }
  if (isObject(value)) return value;
  throw new BuiltinError("wrong type, expected string or object");
}

function member(schema: Value, name: string): Value | undefined {
  return isObject(schema) ? getKey(schema, name) : undefined;
}

function listOf(value: Value | undefined): readonly Value[] {
  return value !== undefined && isArray(value) ? value : [];
}

const SCHEMA_MAPS = ["properties", "patternProperties", "definitions", "$defs"];
const SCHEMA_LISTS = ["allOf", "anyOf", "oneOf"];
const SCHEMAS = ["not", "if", "then", "else", "additionalProperties", "additionalItems", "contains", "propertyNames"];

/** Refuses what is no schema of drafts 4 to 7. Throws {@link BuiltinError}. */
function verify(schema: Value, depth = 0): void {
  tick();
  if (depth > MAX_DEPTH) throw new BuiltinError("schema is nested too deeply");
  if (typeof schema === "boolean") return;
  if (!isObject(schema)) throw new BuiltinError(depth === 0 ? "schema is invalid" : "schema must be of type object");
  const must = (name: string, type: string, holds: (value: Value) => boolean): void => {
    const value = member(schema, name);
    if (value !== undefined && !holds(value)) throw new BuiltinError(`${name} must be of type ${type}`);
  };
  const type = member(schema, "type");
  const named = type === undefined ? [] : isArray(type) ? type : [type];
  for (const name of named) {
    if (typeof name !== "string") throw new BuiltinError("type must be of type string/array of strings");
    if (!TYPES.includes(name)) {
      throw new BuiltinError(
        `has a primitive type that is NOT VALID -- given: /${name}/ Expected valid values are:[array boolean integer number null object string]`,
      );
    }
  }
  if (new Set(named).size < named.length) throw new BuiltinError(`${String(named[0])} type is duplicated`);
  for (const name of ["$ref", "$id", "title", "description", "pattern", "format"])
    must(name, "string", (v) => typeof v === "string");
  for (const name of ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]) {
    must(name, "integer", (v) => isNumber(v) && isInteger(v));
    const value = member(schema, name);
    if (value !== undefined && compareNumbers(value as Num, 0) < 0)
      throw new BuiltinError(`${name} must be greater than or equal to 0`);
  }
  for (const name of ["minimum", "maximum", "multipleOf"]) must(name, "number", isNumber);
  const multiple = member(schema, "multipleOf");
  if (multiple !== undefined && compareNumbers(multiple as Num, 0) <= 0)
    throw new BuiltinError("multipleOf must be strictly greater than 0");
  must("uniqueItems", "boolean", (v) => typeof v === "boolean");
  must("required", "array", isArray);
  if (listOf(member(schema, "required")).some((name) => typeof name !== "string"))
    throw new BuiltinError("Invalid type. Expected: string, given: required");
  for (const name of ["maximum", "minimum"]) {
    const exclusive = name === "maximum" ? "exclusiveMaximum" : "exclusiveMinimum";
    if (member(schema, exclusive) === true && member(schema, name) === undefined)
      throw new BuiltinError(`${exclusive} cannot be used without ${name}`);
  }
  must("enum", "array", isArray);
  const pattern = member(schema, "pattern");
  if (typeof pattern === "string") {
    try {
      regexMatches(pattern, "");
    } catch {
      throw new BuiltinError("pattern must be a valid regex");
    }
  }
  for (const name of SCHEMA_MAPS) {
    const map = member(schema, name);
    if (map === undefined) continue;
    if (!isObject(map)) throw new BuiltinError(`${name} must be of type object`);
    for (const key of sortedKeys(map)) verify(getKey(map, key) as Value, depth + 1);
  }
  for (const name of SCHEMA_LISTS) {
    const list = member(schema, name);
    if (list === undefined) continue;
    if (!isArray(list)) throw new BuiltinError(`${name} must be of type array`);
    for (const one of list) verify(one, depth + 1);
  }
  for (const name of SCHEMAS) {
    const one = member(schema, name);
    if (one !== undefined) verify(one, depth + 1);
  }
  const items = member(schema, "items");
  if (items !== undefined) for (const one of isArray(items) ? items : [items]) verify(one, depth + 1);
}

/** The schema at `#/a/b` or an `$id`; throws {@link BuiltinError}. */
function resolve(root: Value, ref: string): Value {
  if (!ref.startsWith("#")) throw new BuiltinError(`remote reference ${ref} is not loaded: the engine does no I/O`);
  let at: Value | undefined = root;
  for (const part of ref
    .slice(1)
    .split("/")
    .filter((p) => p !== "")) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    at = at === undefined ? undefined : isArray(at) ? at[Number(name)] : member(at, name);
  }
  if (at === undefined) throw new BuiltinError(`Object has no key '${ref}'`);
  return at;
}

function jsonType(value: Value): string {
  if (isNumber(value)) return isInteger(value) ? "integer" : "number";
  if (value === null) return "null";
  if (isArray(value) || value instanceof RegoSet) return "array";
  return isObject(value) ? "object" : typeof value;
}

/** What a schema says of a value; `score` tells which of several failed alternatives came closest. */
class Outcome {
  readonly violations: Violation[] = [];
  score = 0;

  get fits(): boolean {
    return this.violations.length === 0;
  }

  add(type: string, path: readonly string[], desc: string): void {
    this.violations.push({ type, field: fieldName(path), desc });
    this.score -= 2;
  }

  merge(other: Outcome): void {
    this.violations.push(...other.violations);
    this.score += other.score;
  }
}

function fieldName(path: readonly string[]): string {
  return path.length === 0 ? "(Root)" : path.join(".");
}

/** The outcome with the best score, the first of equal ones. */
function closest(outcomes: readonly Outcome[]): Outcome | undefined {
  return outcomes.reduce<Outcome | undefined>(
    (best, one) => (best === undefined || one.score > best.score ? one : best),
    undefined,
  );
}

/** Judges in the order of OPA's validator; members of objects, which have no order there, by name. */
class Validator {
  readonly #root: Value;

  constructor(root: Value) {
    this.#root = root;
  }

  validate(schema: Value, value: Value, path: readonly string[], depth = 0): Outcome {
    const out = new Outcome();
    this.#check(schema, value, path, depth, out);
    return out;
  }

  #check(schema: Value, value: Value, path: readonly string[], depth: number, out: Outcome): void {
    tick();
    if (depth > MAX_DEPTH) throw new BuiltinError("schema is nested too deeply");
    if (schema === true) return;
    if (schema === false) {
      out.add("false", path, "False always fails validation");
      return;
    }
    const ref = member(schema, "$ref");
    if (typeof ref === "string") {
      this.#check(resolve(this.#root, ref), value, path, depth + 1, out);
      return;
    }
    const type = member(schema, "type");
    if (type !== undefined) {
      const wanted = (isArray(type) ? type : [type]) as readonly string[];
      const given = jsonType(value);
      if (!wanted.includes(given) && !(given === "integer" && wanted.includes("number"))) {
        const expected = wanted.length > 1 ? `[${wanted.join(",")}]` : wanted.join("");
        out.add("invalid_type", path, `Invalid type. Expected: ${expected}, given: ${given}`);
        return;
      }
    }
    this.#combined(schema, value, path, depth, out);
    if (isNumber(value)) this.#number(schema, value, path, out);
    else if (isArray(value)) this.#array(schema, value, path, depth, out);
    else if (isObject(value)) this.#object(schema, value, path, depth, out);
    this.#common(schema, value, path, out);
    if (typeof value === "string") this.#text(schema, value, path, out);
    const properties = member(schema, "properties");
    if (isObject(value) && properties !== undefined && isObject(properties)) {
      for (const name of sortedKeys(properties)) {
        const item = getKey(value, name);
        if (item !== undefined) this.#check(getKey(properties, name) as Value, item, [...path, String(name)], depth + 1, out);
      }
    }
    out.score++;
  }

  #combined(schema: Value, value: Value, path: readonly string[], depth: number, out: Outcome): void {
    const judge = (one: Value): Outcome => this.validate(one, value, path, depth + 1);
    const any = listOf(member(schema, "anyOf"));
    if (any.length > 0) {
      const failed: Outcome[] = [];
      const holds = any.some((one) => {
        const outcome = judge(one);
        if (!outcome.fits) failed.push(outcome);
        return outcome.fits;
      });
      if (!holds) {
        out.add("number_any_of", path, "Must validate at least one schema (anyOf)");
        out.merge(closest(failed) as Outcome);
      }
    }
    const one = listOf(member(schema, "oneOf"));
    if (one.length > 0) {
      const outcomes = one.map(judge);
      const holding = outcomes.filter(({ fits }) => fits).length;
      if (holding !== 1) out.add("number_one_of", path, "Must validate one and only one schema (oneOf)");
      if (holding === 0) out.merge(closest(outcomes) as Outcome);
    }
    const outcomes = listOf(member(schema, "allOf")).map(judge);
    for (const outcome of outcomes) out.merge(outcome);
    if (outcomes.some(({ fits }) => !fits)) out.add("number_all_of", path, "Must validate all the schemas (allOf)");
    const not = member(schema, "not");
    if (not !== undefined && judge(not).fits) out.add("number_not", path, "Must not validate the schema (not)");
    this.#dependencies(schema, value, path, depth, out);
    const condition = member(schema, "if");
    if (condition !== undefined) {
      const holds = judge(condition).fits;
      const then = member(schema, holds ? "then" : "else");
      const outcome = then === undefined ? undefined : judge(then);
      if (outcome?.fits === false) {
        const [type, branch, was] = holds ? ["condition_then", "then", "valid"] : ["condition_else", "else", "not valid"];
        out.add(type as string, path, `Must validate "${branch}" as "if" was ${was}`);
        out.merge(outcome);
      }
    }
    out.score++;
  }

  #dependencies(schema: Value, value: Value, path: readonly string[], depth: number, out: Outcome): void {
    const dependencies = member(schema, "dependencies");
    if (dependencies === undefined || !isObject(dependencies) || !isObject(value)) return;
    for (const key of sortedKeys(dependencies)) {
      if (getKey(value, key) === undefined) continue;
      const needs = getKey(dependencies, key) as Value;
      if (!isArray(needs)) this.#check(needs, value, path, depth + 1, out);
      else
        for (const need of needs)
          if (getKey(value, need) === undefined) out.add("missing_dependency", path, `Has a dependency on ${String(need)}`);
    }
  }

  #common(schema: Value, value: Value, path: readonly string[], out: Outcome): void {
    const constant = member(schema, "const");
    const field = fieldName(path);
    if (constant !== undefined && !equal(constant, value))
      out.add("const", path, `${field} does not match: ${jsonText(constant)}`);
    const options = listOf(member(schema, "enum"));
    if (options.length > 0 && !options.some((option) => equal(option, value))) {
      const allowed = options.map((option) => jsonText(option)).join(", ");
      out.add("enum", path, `${field} must be one of the following: ${allowed}`);
    }
    const format = member(schema, "format");
    if (typeof format === "string" && typeof value === "string" && !hasFormat(format, value))
      out.add("format", path, `Does not match format '${format}'`);
    out.score++;
  }

  #number(schema: Value, value: Num, path: readonly string[], out: Outcome): void {
    const bound = (name: string): Num | undefined => {
      const found = member(schema, name);
      return found !== undefined && isNumber(found) ? found : undefined;
    };
    const multiple = bound("multipleOf");
    if (multiple !== undefined) {
      const whole = toBigInt(value) !== undefined && toBigInt(multiple) !== undefined;
      if (whole ? remainder(value, multiple) !== 0 : !isInteger(divide(value, multiple))) {
        out.add("multiple_of", path, `Must be a multiple of ${numberText(multiple)}`);
      }
    }
    // `true` makes the bound beside it exclusive
    const limit = (side: "Maximum" | "Minimum"): readonly [Num | undefined, Num | undefined] => {
      const inclusive = bound(side.toLowerCase());
      return member(schema, `exclusive${side}`) === true ? [undefined, inclusive] : [inclusive, bound(`exclusive${side}`)];
    };
    const [max, below] = limit("Maximum");
    const [min, above] = limit("Minimum");
    if (max !== undefined && compareNumbers(value, max) > 0)
      out.add("number_lte", path, `Must be less than or equal to ${numberText(max)}`);
    if (below !== undefined && compareNumbers(value, below) >= 0)
      out.add("number_lt", path, `Must be less than ${numberText(below)}`);
    if (min !== undefined && compareNumbers(value, min) < 0)
      out.add("number_gte", path, `Must be greater than or equal to ${numberText(min)}`);
    if (above !== undefined && compareNumbers(value, above) <= 0)
      out.add("number_gt", path, `Must be greater than ${numberText(above)}`);
    out.score++;
  }

  #text(schema: Value, value: string, path: readonly string[], out: Outcome): void {
    const [min, max, pattern] = ["minLength", "maxLength", "pattern"].map((name) => member(schema, name));
    const length = codePoints(value);
    if (typeof min === "number" && length < min)
      out.add("string_gte", path, `String length must be greater than or equal to ${min}`);
    if (typeof max === "number" && length > max)
      out.add("string_lte", path, `String length must be less than or equal to ${max}`);
    if (typeof pattern === "string" && !regexMatches(pattern, value))
      out.add("pattern", path, `Does not match pattern '${pattern}'`);
    out.score++;
  }

  #array(schema: Value, value: readonly Value[], path: readonly string[], depth: number, out: Outcome): void {
    const items = member(schema, "items");
    const extra = member(schema, "additionalItems");
    const listed = items !== undefined && isArray(items) && items.length > 0 ? items : undefined;
    for (const [i, item] of value.entries()) {
      const one =
        items === undefined || isArray(items) ? (listed?.[i] ?? (extra === false ? undefined : listed && extra)) : items;
      if (one !== undefined) out.merge(this.validate(one, item, [...path, String(i)], depth + 1));
    }
    if (listed !== undefined && extra === false && value.length > listed.length)
      out.add("array_no_additional_items", path, "No additional items allowed on array");
    const [min, max] = [member(schema, "minItems"), member(schema, "maxItems")];
    if (typeof min === "number" && value.length < min) out.add("array_min_items", path, `Array must have at least ${min} items`);
    if (typeof max === "number" && value.length > max) out.add("array_max_items", path, `Array must have at most ${max} items`);
    if (member(schema, "uniqueItems") === true) {
      const last = new RegoObject();
      for (const [j, item] of value.entries()) {
        const i = last.get(item);
        if (i !== undefined) out.add("unique", path, `array items[${String(i)},${j}] must be unique`);
        last.set(item, j);
      }
    }
    const contains = member(schema, "contains");
    if (contains !== undefined) {
      const failed: Outcome[] = [];
      const holds = value.some((item, i) => {
        const outcome = this.validate(contains, item, [...path, String(i)], depth + 1);
        if (!outcome.fits) failed.push(outcome);
        return outcome.fits;
      });
      if (!holds) {
        out.add("contains", path, "At least one of the items must match");
        const best = closest(failed);
        if (best !== undefined) out.merge(best);
      }
    }
    out.score++;
  }

  #object(schema: Value, value: AnyObject, path: readonly string[], depth: number, out: Outcome): void {
    const size = objectSize(value);
    const [min, max] = [member(schema, "minProperties"), member(schema, "maxProperties")];
    if (typeof min === "number" && size < min) out.add("array_min_properties", path, `Must have at least ${min} properties`);
    if (typeof max === "number" && size > max) out.add("array_max_properties", path, `Must have at most ${max} properties`);
    for (const name of listOf(member(schema, "required"))) {
      if (getKey(value, name) === undefined) out.add("required", path, `${String(name)} is required`);
      else out.score++;
    }
    const properties = member(schema, "properties");
    const patterns = member(schema, "patternProperties");
    const additional = member(schema, "additionalProperties");
    for (const key of sortedKeys(value)) {
      const name = String(key);
      const item = getKey(value, key) as Value;
      let known = properties !== undefined && member(properties, name) !== undefined;
      const matching =
        patterns !== undefined && isObject(patterns)
          ? sortedKeys(patterns).filter((pattern) => regexMatches(String(pattern), name))
          : [];
      for (const pattern of matching) {
        out.merge(this.validate(getKey(patterns as AnyObject, pattern) as Value, item, [...path, name], depth + 1));
      }
      if (matching.length > 0) {
        known = true;
        out.score++;
      }
      if (known || additional === undefined) continue;
      if (additional === false) out.add("additional_property_not_allowed", path, `Additional property ${name} is not allowed`);
      else out.merge(this.validate(additional, item, [...path, name], depth + 1));
    }
    const names = member(schema, "propertyNames");
    for (const key of names === undefined ? [] : sortedKeys(value)) {
      const outcome = this.validate(names as Value, key, path, depth + 1);
      if (outcome.fits) continue;
      out.add("invalid_property_name", path, `Property name of "${String(key)}" does not match`);
      out.merge(outcome);
    }
    out.score++;
  }
}

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => parses("2006-01-02", text),
  time: (text) => parses("15:04:05Z07:00", text) || parses("15:04:05", text),
  "date-time": (text) =>
    ["15:04:05", "15:04:05Z07:00", "2006-01-02", "2006-01-02T15:04:05Z07:00"].some((layout) => parses(layout, text)),
  email,
  "idn-email": email,
  hostname: (text) =>
    text.length < 256 &&
    /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/.test(text),
  ipv4: (text) => text.includes(".") && parseAddress(text) !== undefined,
  ipv6: (text) => text.includes(":") && parseAddress(text) !== undefined,
  uri,
  "uri-reference": uriReference,
  iri: uri,
  "iri-reference": uriReference,
  uuid: (text) => /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text),
  regex: (text) => {
    try {
      regexMatches(text, "");
      return true;
    } catch {
      return false;
    }
  },
  "json-pointer": (text) => /^(\/([^~/]|~[01])*)*$/.test(text),
  "relative-json-pointer": (text) => /^(0|[1-9]\d*)(#|(\/([^~/]|~[01])*)*)$/.test(text),
};

function email(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text);
}

function uri(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\\]*$/.test(text);
}

function uriReference(text: string): boolean {
  return !/[\s\\]/.test(text);
}

function parses(layout: string, text: string): boolean {
  try {
    parseTime(layout, text);
    return true;
  } catch {
    return false;
  }
}

function hasFormat(format: string, text: string): boolean {
  return !Object.hasOwn(FORMATS, format) || (FORMATS[format] as (text: string) => boolean)(text);
}

/** JSON Schema, drafts 4 to 7, in the words of OPA's validator. References stay within the schema. */
export const schemaBuiltins: readonly Builtin[] = [
  {
    ...define("json.verify_schema", "string|{any: any} -> [boolean, any]", ([schema]) => {
      try {
        verify(load(schema as Value));
        return [true, null];
      } catch (error) {
        if (error instanceof BuiltinError) return [false, `jsonschema: ${error.message}`];
        throw error;
      }
    }),
    // what is no schema is an answer, not an error
    accepts: [undefined],
  },
  define("json.match_schema", "string|{any: any}, string|{any: any} -> [boolean, any]", ([document, schema]) => {
    const wanted = load(schema as Value);
    verify(wanted);
    const { fits, violations } = new Validator(wanted).validate(wanted, load(document as Value), []);
    const errors = violations.map(({ type, field, desc }) =>
      RegoObject.of(Object.entries({ error: `${field}: ${desc}`, type, field, desc })),
    );
    return [fits, errors];
  }),
];
