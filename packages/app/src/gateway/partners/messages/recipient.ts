import { notFound } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { identityKinds } from "../../people/index.ts";

/** Throws `NOT_FOUND` unless the organisation has an identity of that id, of whatever kind. A partner's federation is none. */
export async function requireRecipient(read: Reader, org: string, id: string): Promise<void> {
  for (const finder of Object.values(identityKinds)) {
    const known = await finder?.find(read, id);
    if (known?.org === org && known.removed !== true) return;
  }
  throw notFound("recipient");
}
