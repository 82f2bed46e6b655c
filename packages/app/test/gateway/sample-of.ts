import * as z from "zod";

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
  readonly minLength?: number;
  readonly default?: unknown;
}

/** The smallest body that a request schema may take, as far as its JSON Schema tells. */
export function sampleOf(schema: z.ZodType): unknown {
  return build(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema);
}

/** A body with every member that a request schema knows, each another than its default. */
export function wholeSampleOf(schema: z.ZodType): unknown {
  return build(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema, true);
}

const formats: Readonly<Record<string, string>> = {
  uuid: "00000000-0000-7000-8000-000000000000",
  email: "sample@example.org",
  uri: "https://example.org/",
  "date-time": "2090-01-01T00:00:00Z",
};

function build(schema: Schema, whole = false): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return whole ? schema.enum.findLast((one) => one !== schema.default) : schema.enum[0];
  if (schema.anyOf?.[0] !== undefined) return build(schema.anyOf[0], whole);
  switch (schema.type) {
    case "object": {
      const names = whole ? Object.keys(schema.properties ?? {}) : (schema.required ?? []);
      return Object.fromEntries(names.map((name) => [name, build(schema.properties?.[name] ?? {}, whole)]));
    }
    case "array":
      return Array.from({ length: schema.minItems ?? 0 }, () => build(schema.items ?? {}, whole));
    case "integer":
    case "number":
      return Math.max(schema.minimum ?? 1, 1);
    case "boolean":
      return whole ? schema.default !== true : true;
    case "string":
      return formats[schema.format ?? ""] ?? "c2FtcGxl".padEnd(schema.minLength ?? 0, "AAAA");
    default:
      return "c2FtcGxl";
  }
}
