import fc from "fast-check";
import type * as z from "zod";

/** Values as they come in JSON that a schema may take: refinements are not known here, so a value may still be refused. */
export function arbitraryOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const bounds = boundsOf(schema);
  switch (def.type) {
    case "string":
      return strings(schema as z.ZodType, bounds);
    case "number":
      return numbers(bounds);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "literal":
      return fc.constantFrom(...def.values);
    case "enum":
      return fc.constantFrom(...Object.values(def.entries));
    case "array": {
      const { minimum = 0, maximum = minimum + 2 } = bounds;
      return fc.array(arbitraryOf(def.element), { minLength: minimum, maxLength: Math.min(maximum, minimum + 2) });
    }
    case "object":
      return objects(def.shape);
    case "record":
      return fc.dictionary(arbitraryOf(def.keyType) as fc.Arbitrary<string>, arbitraryOf(def.valueType), { maxKeys: 3 });
    case "union":
      return fc.oneof(...def.options.map((option) => arbitraryOf(option)));
    case "nullable":
      return fc.option(arbitraryOf(def.innerType), { nil: null });
    case "optional":
    case "default":
    case "prefault":
    case "readonly":
    case "nonoptional":
      return arbitraryOf(def.innerType);
    case "pipe":
      return arbitraryOf(def.in._zod.def.type === "transform" ? def.out : def.in);
    case "lazy":
      return arbitraryOf(def.getter());
    case "unknown":
    case "any":
      return fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>;
    default:
      throw new TypeError(`no values are known of ${def.type}`);
  }
}

interface Bounds {
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly format?: string | undefined;
  readonly pattern?: RegExp | undefined;
}

/** What a check says of itself, whatever its kind. */
interface Check extends Bounds {
  readonly check?: string;
  readonly value?: number;
  readonly length?: number;
  readonly inclusive?: boolean;
}

/** What the checks of a number, a text or a list say of it. */
function boundsOf(schema: z.core.$ZodType): Bounds {
  const checks = (schema._zod.def.checks ?? []).map((check) => check._zod.def);
  const bounds: { -readonly [K in keyof Bounds]: Bounds[K] } = {};
  for (const { check, value, inclusive, ...said } of [schema._zod.def, ...checks] as unknown as readonly Check[]) {
    if (check === "greater_than") bounds[inclusive === true ? "minimum" : "exclusiveMinimum"] = value;
    if (check === "less_than") bounds.maximum = value;
    if (check === "min_length") bounds.minimum = said.minimum;
    if (check === "max_length") bounds.maximum = said.maximum;
    if (check === "length_equals") bounds.minimum = bounds.maximum = said.length;
    if (check === "number_format" || check === "string_format") bounds.format = said.format;
    if (said.format === "regex") bounds.pattern = said.pattern;
  }
  return bounds;
}

function objects(shape: Readonly<Record<string, z.core.$ZodType>>): fc.Arbitrary<unknown> {
  const fields = Object.fromEntries(Object.entries(shape).map(([name, field]) => [name, arbitraryOf(field)]));
  const required = Object.keys(shape).filter((name) => shape[name]?._zod.optin !== "optional");
  return fc.record(fields, { requiredKeys: required, noNullPrototype: true });
}

function numbers({ minimum = -1e6, exclusiveMinimum, maximum = 1e6, format }: Bounds): fc.Arbitrary<number> {
  const min = exclusiveMinimum ?? minimum;
  if (format === "safeint") {
    const [low, high] = [Math.max(min, -1e6), Math.min(maximum, 1e6)];
    return fc.oneof(fc.integer({ min: low, max: Math.max(low, high) }), fc.constantFrom(Math.max(min, -(2 ** 53) + 1), maximum));
  }
  return fc.double({ min, max: maximum, minExcluded: exclusiveMinimum !== undefined, noNaN: true });
}

function strings(
  schema: z.ZodType,
  { format, pattern, minimum = 0, maximum = Number.POSITIVE_INFINITY }: Bounds,
): fc.Arbitrary<string> {
  switch (format) {
    case "uuid":
      return fc.uuid();
    case "email":
      return fc.constantFrom("a@example.org", "first.last@mail.example.org");
    case "url":
      return fc.webUrl();
    case "datetime":
      return moments;
  }
  const { pattern: told, format: shown, minLength: least = 0, maxLength: most } = (schema.meta() ?? {}) as Told;
  // A time in a reply is shown as one; that it is one is the server's to see to.
  if (shown === "date-time") return moments;
  if (told?.includes("A-Za-z0-9+/")) {
    const bytes = Math.floor((least * 3) / 4);
    const longest = Math.max(bytes, Math.min(bytes + 32, Math.floor((((most ?? 64) - 4) * 3) / 4)));
    return fc.uint8Array({ minLength: bytes, maxLength: longest }).map((array) => btoa(String.fromCharCode(...array)));
  }
  const source = pattern ?? (told === undefined ? undefined : new RegExp(told));
  const maxLength = Math.min(maximum, most ?? maximum, minimum + 40);
  const any = fc.string({ minLength: minimum, maxLength });
  if (source === undefined) return any;
  // Of what a class leaves out, fast-check cannot make every kind of text: any text is tried against it.
  return source.source.includes("[^") ? any.filter((value) => source.test(value)) : fc.stringMatching(source);
}

interface Told {
  readonly pattern?: string;
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

const moments = fc
  .date({ noInvalidDate: true, min: new Date("1970-01-01"), max: new Date("2100-01-01") })
  .map((date) => date.toISOString());
