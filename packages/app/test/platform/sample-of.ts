import * as z from "zod";

interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly additionalProperties?: Schema | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly default?: unknown;
}

/** The smallest body that a request schema may take, as far as its JSON Schema tells. */
export function sampleOf(schema: z.ZodType): unknown {
  return sample(schema, false);
}

/** A body with every member that a request schema knows, each another than its default. */
export function wholeSampleOf(schema: z.ZodType): unknown {
  return sample(schema, true);
}

function sample(schema: z.ZodType, whole: boolean): unknown {
  const json = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Schema;
  return build(json, whole, json.$defs ?? {});
}

const formats: Readonly<Record<string, string>> = {
  uuid: "00000000-0000-7000-8000-000000000000",
  email: "sample@example.org",
  uri: "https://example.org/",
  "date-time": "2090-01-01T00:00:00Z",
};

function build(given: Schema, whole: boolean, named: NonNullable<Schema["$defs"]>): unknown {
  const schema = (given.$ref === undefined ? undefined : named[given.$ref.replace("#/$defs/", "")]) ?? given;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return whole ? schema.enum.findLast((one) => one !== schema.default) : schema.enum[0];
  if (schema.anyOf?.[0] !== undefined) return build(schema.anyOf[0], whole, named);
  switch (schema.type) {
    case "object": {
      const names = whole ? Object.keys(schema.properties ?? {}) : (schema.required ?? []);
      const { additionalProperties: others } = schema;
      const entries = names.map((name) => [name, build(schema.properties?.[name] ?? {}, whole, named)]);
      const other = whole && typeof others === "object" && names.length === 0 ? [["sample", build(others, whole, named)]] : [];
      return Object.fromEntries([...entries, ...other]);
    }
    case "array":
      return Array.from({ length: Math.max(schema.minItems ?? 0, whole ? 1 : 0) }, () => build(schema.items ?? {}, whole, named));
    case "integer":
    case "number":
      return numberOf(schema, whole);
    case "boolean":
      return whole ? schema.default !== true : true;
    case "string":
      return formats[schema.format ?? ""] ?? "c2FtcGxl".padEnd(schema.minLength ?? 0, "AAAA");
    default:
      return "c2FtcGxl";
  }
}

function numberOf({ minimum = 1, maximum = Number.POSITIVE_INFINITY, default: usual }: Schema, whole: boolean): number {
  const least = Math.max(minimum, 1);
  if (!whole || least !== usual) return least;
  return least + 1 <= maximum ? least + 1 : minimum;
}
