import { checkArgument } from "@seneschal/kernel";
import type * as z from "zod";

/** One setting of a configuration schema. */
export interface Leaf {
  /** `["auth", "jwt", "clock_skew"]` */
  readonly path: readonly string[];
  /** How a setting is written as text, in the environment or as a flag. */
  readonly kind: "text" | "number" | "boolean" | "list" | "json";
  readonly secret: boolean;
}

/** Every setting of a schema of nested objects, in order of declaration. */
export function leaves(schema: z.core.$ZodType, path: readonly string[] = [], secret = false): readonly Leaf[] {
  checkArgument("schema", schema, "object");
  const hidden = secret || isSecret(schema);
  const inner = wrapped(schema);
  if (inner !== undefined) return leaves(inner, path, hidden);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "object":
      return Object.entries(def.shape).flatMap(([key, child]) => leaves(child, [...path, key], hidden));
    case "array": {
      const { type } = (def.element as z.core.$ZodTypes)._zod.def;
      return [{ path, kind: type === "string" || type === "enum" ? "list" : "json", secret: hidden }];
    }
    case "number":
      return [{ path, kind: "number", secret: hidden }];
    case "boolean":
      return [{ path, kind: "boolean", secret: hidden }];
    case "union":
      // Of one kind or another: every member of each has its name.
      if ("discriminator" in def) {
        const members = def.options.flatMap((option) => leaves(option, path, hidden));
        return [...new Map(members.map((leaf) => [leaf.path.join("."), leaf])).values()];
      }
      return [{ path, kind: "json", secret: hidden }];
    case "record":
    case "tuple":
      return [{ path, kind: "json", secret: hidden }];
    default:
      return [{ path, kind: "text", secret: hidden }];
  }
}

/** What a setting is read by, where its schema only says how it may be left out, or what becomes of it. */
export function wrapped(schema: z.core.$ZodType): z.core.$ZodType | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "readonly":
    case "nonoptional":
      return def.innerType;
    case "pipe":
      return def.in;
    default:
      return undefined;
  }
}

function isSecret(schema: z.core.$ZodType): boolean {
  return (schema as z.ZodType).meta?.()?.["secret"] === true;
}
