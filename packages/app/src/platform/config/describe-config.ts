import { checkArgument } from "@seneschal/kernel";
import type * as z from "zod";
import { leaves, wrapped } from "./leaves.ts";

/**
 * What is in force by dotted path, `null` where nothing is set; secrets and what lies inside of them are masked, also in lists and in settings
 * by name, and so are user, query and fragment of whatever is a URL, and the path of one that its schema marks.
 */
export function describeConfig(schema: z.ZodObject, config: unknown): Readonly<Record<string, unknown>> {
  checkArgument("schema", schema, "object");
  const shown = withoutUrlSecrets(masked(schema, config));
  return Object.fromEntries(
    leaves(schema).map(({ path, secret }) => {
      const value = path.reduce<unknown>((tree, key) => (tree as Record<string, unknown> | undefined)?.[key], shown);
      return [path.join("."), value === undefined ? null : secret ? MASK : value];
    }),
  );
}

const MASK = "********";

/** A value in which no URL tells what may be a secret in it, wherever it stands. */
function withoutUrlSecrets(value: unknown): unknown {
  if (typeof value === "string") return shownUrl(value);
  if (Array.isArray(value)) return value.map(withoutUrlSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutUrlSecrets(item)]));
}

function shownUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (`${url.username}${url.password}${url.search}${url.hash}` === "") return text;
  if (`${url.username}${url.password}` !== "") [url.username, url.password] = [MASK, ""];
  if (url.search !== "") url.search = MASK;
  if (url.hash !== "") url.hash = MASK;
  return url.href;
}

function withoutPath(text: string): string {
  if (!URL.canParse(text)) return MASK;
  const url = new URL(text);
  if (url.pathname.length > 1) url.pathname = MASK;
  return url.href;
}

/** A value with a mask in the place of each secret that its schema marks. */
function masked(schema: z.core.$ZodType, value: unknown): unknown {
  if (value === undefined || value === null) return value;
  const marks = (schema as z.ZodType).meta?.();
  if (marks?.["secret"] === true) return MASK;
  if (marks?.["capability"] === true && typeof value === "string") return withoutPath(value);
  const inner = wrapped(schema);
  if (inner !== undefined) return masked(inner, value);
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const each = (of: (key: string) => z.core.$ZodType | undefined): unknown =>
    Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        const child = of(key);
        return [key, child === undefined ? MASK : masked(child, item)];
      }),
    );
  switch (def.type) {
    case "object":
      return each((key) => def.shape[key]);
    case "union": {
      const kinds = def.options.flatMap((option) => {
        const { def: own } = (option as z.core.$ZodTypes)._zod;
        return own.type === "object" ? [own.shape] : [];
      });
      if (kinds.length === 0 || typeof value !== "object") return value;
      return each((key) => kinds.find((shape) => key in shape)?.[key]);
    }
    case "record":
      return each(() => def.valueType);
    case "array":
      return (value as readonly unknown[]).map((item) => masked(def.element, item));
    default:
      return value;
  }
}
