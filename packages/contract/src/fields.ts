import { checkArgument } from "@seneschal/kernel";
import * as z from "zod";
import { base64Text } from "./base64-text.ts";
import type { JsonSchema } from "./json-schema.ts";

/** One field of a request as a command line or a form may show it. */
export interface Field {
  readonly name: string;
  /** `base64`: text that stands for bytes. `list`: of texts. `json`: anything deeper. `any`: the schema alone knows. */
  readonly kind: "text" | "base64" | "number" | "boolean" | "list" | "json" | "any";
  readonly required: boolean;
  readonly description: string;
}

/**
 * The top-level fields of a request's schema, by name; none for a schema that is no object. What has alternatives shows the
 * fields of all of them, required where every one requires it.
 *
 * @example
 * ```ts
 * import { fieldsOf } from "@seneschal/contract";
 * import * as z from "zod";
 * const fields = fieldsOf(z.strictObject({ name: z.string(), limit: z.int().optional() }));
 * console.log(fields.map(({ name, kind, required }) => `${name} ${kind} ${required}`)); // [ 'name text true', 'limit number false' ]
 * ```
 */
export function fieldsOf(schema: z.ZodType | undefined): readonly Field[] {
  if (schema === undefined) return [];
  checkArgument("schema", schema, "object");
  const root = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema;
  const fields = new Map<string, Field>();
  for (const { properties = {}, required = [] } of objectsOf(root, root)) {
    for (const [name, property] of Object.entries(properties)) {
      const known = fields.get(name);
      const { kind, choices } = shapeOf(resolved(property, root), root);
      const description = [property.description, choices].filter((text) => text !== undefined).join("; ");
      fields.set(name, {
        name,
        kind: known === undefined || known.kind === kind ? kind : "json",
        required: required.includes(name) && known?.required !== false,
        description: known?.description || description,
      });
    }
  }
  return [...fields.values()];
}

function resolved(schema: JsonSchema, { $defs = {} }: JsonSchema): JsonSchema {
  const name = schema.$ref?.replace("#/$defs/", "");
  return name === undefined ? schema : ($defs[name] ?? {});
}

function objectsOf(schema: JsonSchema, root: JsonSchema): readonly JsonSchema[] {
  const here = resolved(schema, root);
  const inner = [...(here.anyOf ?? []), ...(here.oneOf ?? []), ...(here.allOf ?? [])].flatMap((one) => objectsOf(one, root));
  return here.properties === undefined ? inner : [here, ...inner];
}

function shapeOf(schema: JsonSchema, root: JsonSchema): { readonly kind: Field["kind"]; readonly choices?: string } {
  if (schema.enum !== undefined) return { kind: "text", choices: schema.enum.join(", ") };
  switch (schema.type) {
    case "string":
      return { kind: schema.pattern === base64Text ? "base64" : "text" };
    case "integer":
    case "number":
      return { kind: "number" };
    case "boolean":
      return { kind: "boolean" };
    case "array":
      return { kind: resolved(schema.items ?? {}, root).type === "string" ? "list" : "json" };
    default: {
      // Something or null is that something.
      const some = (schema.anyOf ?? []).map((one) => resolved(one, root)).filter(({ type }) => type !== "null");
      const [only, ...more] = some;
      if (only === undefined) return { kind: schema.type === undefined ? "any" : "json" };
      if (more.length === 0) return shapeOf(only, root);
      const kinds = some.map((one) => shapeOf(one, root).kind);
      // A list of texts, of which one may stand alone.
      return { kind: kinds.every((kind) => kind === "list" || kind === "text") && kinds.includes("list") ? "list" : "json" };
    }
  }
}
