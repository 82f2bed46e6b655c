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

class Validator {
  readonly violations: Violation[] = [];
  private readonly root: Value;

  constructor(root: Value) {
    this.root = root;
  }

  /** True if the value fits; what does not is noted under its path. */
  check(schema: Value, value: Value, path: readonly string[], depth = 0): boolean {
    tick();
    if (depth > MAX_DEPTH) throw new BuiltinError("schema is nested too deeply");
    const before = this.violations.length;
    const field = path.length === 0 ? "(root)" : path.join(".");
    const fail = (type: string, desc: string, at = field): void => {
      this.violations.push({ type, field: at, desc });
    };
    if (schema === true) return true;
    if (schema === false) {
      fail("false", "False always fails validation");
      return false;
    }
    const ref = member(schema, "$ref");
    if (typeof ref === "string") return this.check(resolve(this.root, ref), value, path, depth + 1);
    const type = member(schema, "type");
    if (type !== undefined) {
      const wanted = (isArray(type) ? type : [type]) as readonly string[];
      const given = jsonType(value);
      if (!wanted.includes(given) && !(given === "integer" && wanted.includes("number"))) {
        fail("invalid_type", `Invalid type. Expected: ${wanted.join("/")}, given: ${given}`);
        return false;
      }
    }
    const options = member(schema, "enum");
    if (options !== undefined && !listOf(options).some((option) => equal(option, value))) {
      fail(
        "enum",
        `${field} must be one of the following: ${listOf(options)
          .map((option) => jsonText(option))
          .join(", ")}`,
      );
    }
    const constant = member(schema, "const");
    if (constant !== undefined && !equal(constant, value)) fail("const", `${field} does not match: ${jsonText(constant)}`);
    this.combined(schema, value, path, depth, fail);
    if (isNumber(value)) this.number(schema, value, fail);
    else if (typeof value === "string") this.text(schema, value, fail);
    else if (isArray(value)) this.array(schema, value, path, depth, fail);
    else if (isObject(value)) this.object(schema, value, path, depth, fail);
    return this.violations.length === before;
  }

  private silently(schema: Value, value: Value, path: readonly string[], depth: number): boolean {
    const before = this.violations.length;
    const fits = this.check(schema, value, path, depth + 1);
    this.violations.length = before;
    return fits;
  }

  private combined(
    schema: Value,
    value: Value,
    path: readonly string[],
    depth: number,
    fail: (type: string, desc: string) => void,
  ): void {
    const any = listOf(member(schema, "anyOf"));
    if (any.length > 0 && !any.some((one) => this.silently(one, value, path, depth))) {
      fail("number_any_of", "Must validate at least one schema (anyOf)");
    }
    const one = listOf(member(schema, "oneOf"));
    if (one.length > 0 && one.filter((option) => this.silently(option, value, path, depth)).length !== 1) {
      fail("number_one_of", "Must validate one and only one schema (oneOf)");
    }
    const all = listOf(member(schema, "allOf"));
    if (all.filter((option) => this.check(option, value, path, depth + 1)).length < all.length) {
      fail("number_all_of", "Must validate all the schemas (allOf)");
    }
    const not = member(schema, "not");
    if (not !== undefined && this.silently(not, value, path, depth)) fail("number_not", "Must not validate the schema (not)");
    const condition = member(schema, "if");
    if (condition === undefined) return;
    const holds = this.silently(condition, value, path, depth);
    const then = member(schema, holds ? "then" : "else");
    if (then !== undefined && !this.check(then, value, path, depth + 1)) {
      fail(
        holds ? "condition_then" : "condition_else",
        `Must validate "${holds ? "then" : "else"}" as "if" was ${holds ? "" : "not "}valid`,
      );
    }
  }

  private number(schema: Value, value: Num, fail: (type: string, desc: string) => void): void {
    const bound = (name: string): Num | undefined => {
      const found = member(schema, name);
      return found !== undefined && isNumber(found) ? found : undefined;
    };
    const multiple = bound("multipleOf");
    if (multiple !== undefined) {
      const whole = toBigInt(value) !== undefined && toBigInt(multiple) !== undefined;
      if (whole ? remainder(value, multiple) !== 0 : !isInteger(divide(value, multiple))) {
        fail("multiple_of", `Must be a multiple of ${numberText(multiple)}`);
      }
    }
    const [min, max] = [bound("minimum"), bound("maximum")];
    const strict = (name: string): boolean => member(schema, name) === true;
    const above = bound("exclusiveMinimum") ?? (strict("exclusiveMinimum") ? min : undefined);
    const below = bound("exclusiveMaximum") ?? (strict("exclusiveMaximum") ? max : undefined);
    if (min !== undefined && compareNumbers(value, min) < 0)
      fail("number_gte", `Must be greater than or equal to ${numberText(min)}`);
    if (max !== undefined && compareNumbers(value, max) > 0)
      fail("number_lte", `Must be less than or equal to ${numberText(max)}`);
    if (above !== undefined && compareNumbers(value, above) <= 0) fail("number_gt", `Must be greater than ${numberText(above)}`);
    if (below !== undefined && compareNumbers(value, below) >= 0) fail("number_lt", `Must be less than ${numberText(below)}`);
  }

  private text(schema: Value, value: string, fail: (type: string, desc: string) => void): void {
    const [min, max, pattern, format] = ["minLength", "maxLength", "pattern", "format"].map((name) => member(schema, name));
    const length = codePoints(value);
    if (typeof min === "number" && length < min) fail("string_gte", `String length must be greater than or equal to ${min}`);
    if (typeof max === "number" && length > max) fail("string_lte", `String length must be less than or equal to ${max}`);
    if (typeof pattern === "string" && !regexMatches(pattern, value)) fail("pattern", `Does not match pattern '${pattern}'`);
    if (typeof format === "string" && !hasFormat(format, value)) fail("format", `Does not match format '${format}'`);
  }

  private array(
    schema: Value,
    value: readonly Value[],
    path: readonly string[],
    depth: number,
    fail: (type: string, desc: string) => void,
  ): void {
    const items = member(schema, "items");
    const extra = member(schema, "additionalItems");
    value.forEach((item, i) => {
      const one = items === undefined ? undefined : isArray(items) ? (items[i] ?? (extra === false ? undefined : extra)) : items;
      if (one !== undefined) this.check(one, item, [...path, String(i)], depth + 1);
    });
    if (items !== undefined && isArray(items) && extra === false && value.length > items.length) {
      fail("array_no_additional_items", "No additional items allowed on array");
    }
    const [min, max] = [member(schema, "minItems"), member(schema, "maxItems")];
    if (typeof min === "number" && value.length < min) fail("array_min_items", `Array must have at least ${min} items`);
    if (typeof max === "number" && value.length > max) fail("array_max_items", `Array must have at most ${max} items`);
    if (member(schema, "uniqueItems") === true && RegoSet.of(value).size < value.length) {
      const j = value.findIndex((item, at) => value.slice(0, at).some((other) => equal(other, item)));
      const i = value.findIndex((item) => equal(item, value[j] as Value));
      fail("unique", `array items[${i},${j}] must be unique`);
    }
    const contains = member(schema, "contains");
    if (contains !== undefined && !value.some((item, i) => this.silently(contains, item, [...path, String(i)], depth))) {
      fail("contains", "At least one of the items must match");
    }
  }

  private object(
    schema: Value,
    value: AnyObject,
    path: readonly string[],
    depth: number,
    fail: (type: string, desc: string) => void,
  ): void {
    for (const name of listOf(member(schema, "required"))) {
      if (getKey(value, name) === undefined) fail("required", `${String(name)} is required`);
    }
    const size = objectSize(value);
    const [min, max] = [member(schema, "minProperties"), member(schema, "maxProperties")];
    if (typeof min === "number" && size < min) fail("array_min_properties", `Must have at least ${min} properties`);
    if (typeof max === "number" && size > max) fail("array_max_properties", `Must have at most ${max} properties`);
    const properties = member(schema, "properties");
    const patterns = member(schema, "patternProperties");
    const additional = member(schema, "additionalProperties");
    const names = member(schema, "propertyNames");
    for (const key of sortedKeys(value)) {
      const name = String(key);
      const item = getKey(value, key) as Value;
      const own = properties === undefined ? undefined : member(properties, name);
      let known = own !== undefined;
      if (own !== undefined) this.check(own, item, [...path, name], depth + 1);
      if (patterns !== undefined && isObject(patterns)) {
        for (const pattern of sortedKeys(patterns)) {
          if (!regexMatches(String(pattern), name)) continue;
          known = true;
          this.check(getKey(patterns, pattern) as Value, item, [...path, name], depth + 1);
        }
      }
      if (names !== undefined && !this.silently(names, name, path, depth)) {
        fail("invalid_property_name", `Property name of "${name}" does not match`);
      }
      if (known || additional === undefined) continue;
      if (additional === false) fail("additional_property_not_allowed", `Additional property ${name} is not allowed`);
      else this.check(additional, item, [...path, name], depth + 1);
    }
    const dependencies = member(schema, "dependencies");
    if (dependencies === undefined || !isObject(dependencies)) return;
    for (const key of sortedKeys(dependencies)) {
      if (getKey(value, key) === undefined) continue;
      const needs = getKey(dependencies, key) as Value;
      if (!isArray(needs)) this.check(needs, value, path, depth + 1);
      else
        for (const need of needs)
          if (getKey(value, need) === undefined) fail("missing_dependency", `Has a dependency on ${String(need)}`);
    }
  }
}

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => parses("2006-01-02", text),
  time: (text) => /^\d\d:\d\d:\d\d/.test(text),
  "date-time": (text) =>
    parses("2006-01-02T15:04:05Z07:00", text) || parses("2006-01-02", text) || parses("15:04:05Z07:00", text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  hostname: (text) =>
    text.length < 256 &&
    /^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\.?$/.test(text),
  ipv4: (text) => /^((25[0-5]|2[0-4]\d|1?\d?\d)(\.(?!$)|$)){4}$/.test(text),
  ipv6: (text) => text.includes(":") && /^[0-9a-fA-F:.]+$/.test(text),
  uri: (text) => /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\\]*$/.test(text),
  "uri-reference": (text) => !/[\s\\]/.test(text),
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
};

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
    const validator = new Validator(wanted);
    const fits = validator.check(wanted, load(document as Value), []);
    const errors = validator.violations.map(({ type, field, desc }) =>
      RegoObject.of(Object.entries({ error: `${field}: ${desc}`, type, field, desc })),
    );
    return [fits, errors];
  }),
];
