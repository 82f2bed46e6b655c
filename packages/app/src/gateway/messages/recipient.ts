import { notFound } from "@seneschal/core/keys";
import { identityKinds } from "../auth/identity-kinds.ts";
import type { Reader } from "../store/reader.ts";

/**
 * Throws `NOT_FOUND` unless the identity may have mail in the organisation: one with a record there, or the subject of
 * tokens of which nothing is recorded. What is recorded elsewhere is nobody here.
 */
export async function requireRecipient(read: Reader, org: string, id: string): Promise<void> {
  for (const [kind, { find }] of Object.entries(identityKinds) as [string, NonNullable<(typeof identityKinds)[string]>][]) {
    const known = await find(read, id);
    if (known !== undefined && (known.org !== org || kind === "partner")) throw notFound("recipient");
  }
}
