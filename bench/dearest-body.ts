import * as z from "zod";

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly maximum?: number;
  readonly minimum?: number;
  readonly maxLength?: number;
}

const formats: Readonly<Record<string, string>> = {
  uuid: "00000000-0000-7000-8000-000000000000",
  email: "sample@example.org",
  uri: "https://example.org/",
  "date-time": "2090-01-01T00:00:00Z",
  date: "2090-01-01",
};

/** A body of about so many bytes that a schema takes, as far as its JSON Schema tells: every field, the longest arrays and texts, the largest numbers. */
export function dearestBody(schema: z.ZodType, bytes: number): unknown {
  const whole = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;
  return build(whole, bytes, whole, 0);
}

function build(schema: Schema, bytes: number, whole: Schema, depth: number): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum.at(-1);
  if (schema.$ref !== undefined) {
    const name = schema.$ref.split("/").at(-1) ?? "";
    return depth > 20 ? null : build(schema.$ref === "#" ? whole : (whole.$defs?.[name] ?? {}), bytes, whole, depth + 1);
  }
  const options = schema.anyOf ?? schema.oneOf;
  // The last of several shapes is the richest, but for null.
  if (options !== undefined) return build(options.filter(({ type }) => type !== "null").at(-1) ?? {}, bytes, whole, depth + 1);
  switch (schema.type) {
    case "object": {
      const fields = Object.entries(schema.properties ?? {});
      const each = Math.floor(bytes / Math.max(1, fields.length)) - 16;
      if (fields.length > 0)
        return Object.fromEntries(fields.map(([name, field]) => [name, build(field, each, whole, depth + 1)]));
      const values = typeof schema.additionalProperties === "object" ? schema.additionalProperties : { type: "integer" };
      const count = Math.max(1, Math.min(10_000, Math.floor(bytes / 64)));
      return Object.fromEntries(Array.from({ length: count }, (_, i) => [`key_${i}`, build(values, 32, whole, depth + 1)]));
    }
    case "array": {
      const items = schema.items ?? { type: "integer" };
      const size = Math.max(1, JSON.stringify(build(items, 1, whole, depth + 1) ?? null).length);
      const count = Math.max(schema.minItems ?? 0, Math.min(schema.maxItems ?? 1_000_000, Math.floor(bytes / (size + 1))));
      return Array.from({ length: Math.max(0, count) }, () =>
        build(items, Math.floor(bytes / Math.max(1, count)), whole, depth + 1),
      );
    }
    case "integer":
    case "number":
      return Math.min(schema.maximum ?? 1000, Number.MAX_SAFE_INTEGER);
    case "boolean":
      return true;
    case "string": {
      const fixed = formats[schema.format ?? ""];
      if (fixed !== undefined) return fixed;
      const length = Math.max(1, Math.min(schema.maxLength ?? 1 << 20, bytes));
      return "A".repeat(schema.pattern === undefined ? length - (length % 4) || 1 : Math.min(length, 32));
    }
    default:
      return "A";
  }
}
