import { isOrganizationId, limits } from "@seneschal/core/keys";
import { utf8Encode } from "@seneschal/kernel";
import * as z from "zod";
import { base64Bytes, base64Text } from "../base64-text.ts";
import { limitParam, offsetParam, timeParam } from "../query.ts";

/** RFC 3339 in a reply: UTC with milliseconds. */
export const timestamp = z.string().meta({ format: "date-time" });

/** RFC 3339 in a request; any offset is accepted, UTC with milliseconds comes out. */
export const moment = z.iso
  .datetime({ offset: true, message: "expected an RFC 3339 time" })
  .transform((text) => new Date(text).toISOString());

/** Base64 text of `min` to `max` bytes; padding may be left out. */
export function base64(min = 0, max = 1 << 20): z.ZodString {
  const longest = Math.ceil((max * 4) / 3) + 4;
  return z
    .string()
    .max(longest)
    .superRefine((text, context) => {
      const bytes = base64Bytes(text);
      if (bytes === undefined) context.addIssue({ code: "custom", message: "expected base64" });
      else if (bytes < min || bytes > max)
        context.addIssue({ code: "custom", message: `expected base64 of ${min} to ${max} bytes` });
    })
    .meta({ pattern: base64Text, minLength: Math.ceil((min * 4) / 3), maxLength: longest }) as z.ZodString;
}

/** Bytes in an answer, by how they are written; what they are where the name does not say it. */
export const inBase64 = (what?: string) => z.string().meta({ description: what === undefined ? "base64" : `${what}, base64` });
export const inHex = (what?: string) => z.string().meta({ description: what === undefined ? "hex" : `${what}, hex` });

/** A signature over the canonical message of the operation. */
export const signature = base64(1, 1024).meta({ description: "Ed25519 signature by the organisation's CRK, base64" });

/** The freshness of a signature made without a prepared signing request. Seconds since the epoch. */
export const signatureParams = z.strictObject({
  nonce: z.string().min(22).max(128).meta({ description: "text as it is" }),
  iat: z.int().min(0),
  exp: z.int().min(0),
});

/** What every signed body may carry. */
export const signed = { signature: signature.optional(), signature_params: signatureParams.optional() };

export const organizationId = z
  .string()
  .refine(isOrganizationId, "expected 1 to 128 printable characters without /")
  .meta({ pattern: "^[^\\x00-\\x1f\\x7f-\\x9f/]{1,128}$" });

/** A reference to something by its UUID in a body. A malformed one is a 400, unlike in a path. */
export const reference = z.uuid("expected a UUID");

/** An identity of any kind: a record's UUID, or the subject of a token. */
export const identityId = z
  .string()
  .min(1)
  .refine((id) => utf8Encode(id).length <= 256, "expected at most 256 bytes")
  .meta({ maxLength: 256 });

/** An address of a mailbox; lengths by RFC 5321 section 4.5.3.1. */
export const email = z
  .email()
  .max(254)
  .refine((address) => address.lastIndexOf("@") <= 64, "expected at most 64 characters before the @");

/** Not only white space. */
const visible = { pattern: "\\S" };

/** A text without the white space around it, which must leave something. */
export const trimmed = (max: number) => z.string().trim().min(1).max(max).meta(visible);

export const name = trimmed(limits.name);
export const text = z.string().max(limits.text);

/** `{ id }` in a path; one that is no UUID cannot exist and is a 404. */
export const idParam = z.strictObject({ id: z.uuid() });

const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration such as `720h`: a number and s, m, h or d. Milliseconds come out. */
export const durationText = z
  .string()
  .regex(/^(0|[1-9][0-9]{0,8})[smhd]$/, "expected a duration such as 90s, 15m, 720h or 30d")
  .transform((text) => Number(text.slice(0, -1)) * (units[text.slice(-1)] ?? Number.NaN));

/** `limit` and `offset`. */
export function page(fallback: number = limits.page.auditDefault): z.ZodObject<{
  limit: ReturnType<typeof limitParam>;
  offset: ReturnType<typeof offsetParam>;
}> {
  return z.strictObject({ limit: limitParam(fallback), offset: offsetParam() });
}

/** `since` and `until` of a query, milliseconds. */
export const period = { since: timeParam().optional(), until: timeParam().optional() };

interface Period {
  readonly since?: number | string | undefined;
  readonly until?: number | string | undefined;
}

/** Refinement for objects with {@link period}. */
export const inOrder: [(value: Period) => boolean, { path: PropertyKey[]; message: string }] = [
  ({ since, until }) => since === undefined || until === undefined || since <= until,
  { path: ["since"], message: "must not be after until" },
];

/** `{ <plural>: [...], count, total }`: `count` here, `total` matching. */
export function listOf<Name extends string, Item extends z.ZodType>(plural: Name, item: Item) {
  const shape = { [plural]: z.array(item), count: z.int(), total: z.int() } as {
    [K in Name]: z.ZodArray<Item>;
  } & { count: z.ZodInt; total: z.ZodInt };
  return z.object(shape);
}

/**
 * Lets a request use other names for some fields: `{ alias: field }`. Naming a field twice is refused. What comes out has
 * the schema's own names; documents and clients know only these, beside a word on the alias.
 */
export function aliased<S extends z.ZodObject>(schema: S, aliases: Readonly<Record<string, string>>) {
  const told: Record<string, z.ZodType> = {};
  for (const [alias, field] of Object.entries(aliases)) {
    const type = (schema.shape as Record<string, z.ZodType>)[field];
    if (type === undefined) throw new TypeError(`${alias} stands for ${field}, which is no field`);
    const description = [type.meta()?.description, `Also taken as \`${alias}\``].filter((text) => text !== undefined).join(". ");
    told[field] = type.meta({ ...type.meta(), description });
  }
  const renamed = z.preprocess((value, context) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    const out: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      const field = Object.hasOwn(aliases, key) ? aliases[key] : undefined;
      if (field !== undefined && Object.hasOwn(value, field)) {
        context.addIssue({ code: "custom", path: [key], message: `the same as ${field}: send one of them` });
      }
      out[field ?? key] = item;
    }
    return out;
  }, schema.extend(told));
  return renamed as unknown as z.ZodType<z.output<S>, z.input<S>>;
}
