import type { Route } from "@seneschal/contract";
import { schedulerContract } from "@seneschal/contract/scheduler";
import * as z from "zod";

/** What of a JSON schema says which values a field takes. */
interface Shape {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly additionalProperties?: Shape | false;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly parameter?: Shape;
}

/** One request with one thing wrong in it. */
export interface Attempt {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  /** The field that the answer must name, or whose part it must name. */
  readonly field: string;
}

/** JSON texts of every kind; a field of one kind refuses those of the others. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  null: ["null"],
  boolean: ["true", "false"],
  number: ["5", "0.5", "1e3"],
  string: ['"5"', '""', '"true"', '"NaN"'],
  array: ["[]", "[1]"],
  object: ["{}", '{"a":1}'],
};
const OF_TYPE: Readonly<Record<string, string>> = { integer: "number" };

/** JSON texts that a field of this shape must refuse. */
function badValues(shape: Shape): readonly string[] {
  const shapes = shape.anyOf ?? [shape];
  const kinds = new Set(shapes.map(({ type = "" }) => OF_TYPE[type] ?? type));
  const wrongKind = Object.entries(KINDS).flatMap(([kind, texts]) => (kinds.has(kind) ? [] : texts));
  return [...wrongKind, ...shapes.flatMap(outOfRange)];
}

/** Of the right kind, and yet refused. */
function outOfRange(shape: Shape): readonly string[] {
  const { type, minimum, exclusiveMinimum, maximum, maxItems = 0, minItems = 0, items, additionalProperties } = shape;
  switch (type) {
    case "integer":
    case "number":
      return [
        ...["1e999", "-1e999", "1e300", "-1e300"],
        ...(type === "integer" ? ["1.5"] : []),
        ...(minimum === undefined ? [] : [String(minimum - 1)]),
        ...(exclusiveMinimum === undefined ? [] : [String(exclusiveMinimum)]),
        ...(maximum === undefined ? [] : [String(maximum + 1)]),
      ];
    case "string":
      return badTexts(shape).map((text) => JSON.stringify(text));
    case "array":
      return [
        ...badValues(items ?? {}).map((value) => `[${value}]`),
        JSON.stringify(Array.from({ length: maxItems + 1 }, () => "x")),
        ...(minItems > 0 ? ["[]"] : []),
      ];
    case "object":
      return additionalProperties === false || additionalProperties === undefined || additionalProperties.type === undefined
        ? []
        : badValues(additionalProperties).map((value) => `{"a":${value}}`);
    default:
      return [];
  }
}

/** Texts of the wrong length, with control characters, of another enumeration. */
function badTexts({ enum: words, minLength = 0, maxLength, pattern }: Shape): readonly string[] {
  if (words !== undefined) return ["", "nonsense", ` ${words[0]}`, `${words[0]}\n`, String(words[0]).toUpperCase()];
  const limit = maxLength ?? 128;
  return [
    "x".repeat(limit + 1),
    ...["\u0000", "\u0007", "\u001b[31m", "\u007f", "\ud800"].map((bad) => `a${bad}`),
    ...(minLength > 0 ? [""] : []),
    ...(pattern?.startsWith("^[A-Za-z0-9]") ? ["", "a b", "../x", "ä", "a/b", "a\n", "-a"] : []),
  ];
}

/** Texts that a query parameter of this shape must refuse. */
function badParameters({ parameter, ...shape }: Shape): readonly string[] {
  switch (parameter?.type) {
    case "integer": {
      const { minimum = 0, maximum = 1_000_000_000 } = parameter;
      return ["", "x", "1.5", "1e3", "0x1", " 1", "+1", "NaN", "9".repeat(30), String(minimum - 1), String(maximum + 1)];
    }
    case "boolean":
      return ["", "1", "yes", "TRUE"];
    case "string":
      return ["", "yesterday", "2026-02-30T00:00:00Z", "2026-03-01", "1"];
    default:
      // what no URL can hold is refused before there is a parameter
      return badTexts(shape).filter((text) => !/\0|\p{Surrogate}/u.test(text));
  }
}

const shapesOf = (schema: z.ZodType | undefined): readonly (readonly [string, Shape])[] =>
  schema === undefined
    ? []
    : Object.entries((z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Shape).properties ?? {});

const required = (schema: z.ZodType): readonly string[] =>
  (z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as { readonly required?: readonly string[] }).required ?? [];

/** A good value of every field that some body or query cannot do without. */
const GOOD: Readonly<Record<string, unknown>> = {
  name: "t9",
  tenant: "physics",
  tenant_id: "physics",
  id: "n9",
  user: "ada",
  start: "2026-03-01T00:00:00Z",
  end: "2026-03-02T00:00:00Z",
  advance_seconds: 1,
  backup_id: "b",
  nodes: 1,
  commands: [{ kind: "node.operate", id: "c", by: "root", node: "n0", verb: "drain" }],
};

/** Every attempt that the schemas of one route give. `at` is the id that its path names. */
export function attemptsOf(operation: string, { method, path, params, query, body }: Route, at: string): readonly Attempt[] {
  const good = path.replace(":id", at);
  const base = { operation, method };
  const needed = (schema: z.ZodType, but: string) => required(schema).filter((field) => field !== but);
  const asked = (but: string, more: string): string =>
    [
      ...(query === undefined ? [] : needed(query, but)).map((field) => `${field}=${encodeURIComponent(String(GOOD[field]))}`),
      more,
    ]
      .filter((part) => part !== "")
      .join("&");
  const usual = body === undefined ? {} : { body: text(body, "") };
  function text(schema: z.ZodType, field: string, value?: string): string {
    const rest = needed(schema, field).map((name) => `${JSON.stringify(name)}:${JSON.stringify(GOOD[name])}`);
    return `{${[...rest, ...(value === undefined ? [] : [`${JSON.stringify(field)}:${value}`])].join(",")}}`;
  }
  return [
    ...shapesOf(query).flatMap(([field, shape]) =>
      badParameters(shape).map((value) => ({
        ...base,
        ...usual,
        path: `${good}?${asked(field, `${field}=${encodeURIComponent(value)}`)}`,
        field,
      })),
    ),
    { ...base, ...usual, path: `${good}?${asked("", "colour=red")}`, field: "colour" },
    ...(query === undefined ? [] : required(query)).map((field) => ({ ...base, path: `${good}?${asked(field, "")}`, field })),
    ...(params === undefined
      ? []
      : ["%01", "a%20b", "x".repeat(129), "%C3%A4", "a%0A"].map((id) => ({
          ...base,
          ...usual,
          path: `${path.replace(":id", id)}?${asked("", "")}`,
          field: "id",
        }))),
    ...(body === undefined
      ? []
      : [
          ...shapesOf(body).flatMap(([field, shape]) =>
            badValues(shape).map((value) => ({ ...base, path: good, body: text(body, field, value), field })),
          ),
          ...required(body).map((field) => ({ ...base, path: good, body: text(body, field), field })),
          { ...base, path: good, body: text(body, "colour", '"red"'), field: "colour" },
        ]),
  ];
}

export const guardedRoutes: readonly (readonly [string, Route])[] = Object.entries<Route>(schedulerContract).filter(
  ([, { auth }]) => auth !== "public",
);
