import { checkArgument } from "@seneschal/kernel";
import * as z from "zod";
import { schemasWithin } from "./schema-parts.ts";

/** What is made from a marked schema (`.min`, `.meta`) inherits the mark. */
const secrets = z.registry<{ readonly secret: true }>();

/**
 * Marks a field of a reply that is shown once: a share, a private key, a token. A reply with such a field is kept nowhere, not
 * even sealed: a repeat with the same `Idempotency-Key` is told so (`reply_not_kept`).
 *
 * @example
 * ```ts
 * import { secret, secretFields } from "@seneschal/contract";
 * import * as z from "zod";
 * const reply = z.object({ id: z.uuid(), token: secret(z.string()) });
 * console.log(secretFields(reply)); // [ 'reply.token' ]
 * ```
 */
export function secret<S extends z.ZodType>(schema: S): S {
  secrets.add(schema, { secret: true });
  return schema;
}

/** Whether a schema was marked by {@link secret}. */
function isSecret(schema: z.core.$ZodType): boolean {
  return secrets.get(schema) !== undefined;
}

/** Of each reply, once: a reply that was made is not marked any more, and its schemas are some hundreds. */
const fields = new WeakMap<z.core.$ZodType, readonly string[]>();

/** Paths of the fields of a reply that are shown once. */
export function secretFields(reply: z.core.$ZodType | undefined): readonly string[] {
  if (reply === undefined) return [];
  checkArgument("reply", reply, "object");
  const known = fields.get(reply);
  if (known !== undefined) return known;
  const found = [...schemasWithin(reply, "reply")].flatMap(([schema, path]) => (isSecret(schema) ? [path] : []));
  fields.set(reply, found);
  return found;
}
