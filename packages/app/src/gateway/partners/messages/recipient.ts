import { notFound } from "@seneschal/core/keys";
import type { Reader } from "../../ground/store/reader.ts";
import { identityKinds } from "../../people/identities/kinds.ts";

/** Throws `NOT_FOUND` unless the organisation has an identity of that id, of whatever kind. A partner's federation is none. */
export async function requireRecipient(read: Reader, org: string, id: string): Promise<void> {
  for (const [kind, finder] of Object.entries(identityKinds)) {
    if (kind === "partner") continue;
    const known = await finder?.find(read, id);
    if (known?.org === org && known.removed !== true) return;
  }
  throw notFound("recipient");
}
