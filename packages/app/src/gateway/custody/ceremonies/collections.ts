import type { Ceremony } from "@seneschal/core/keys";
import { collection } from "../../ground/index.ts";
import { type SealedShare, submittedShares } from "../submitted-shares.ts";

export const ceremonies = collection<Ceremony>("ceremonies", {
  by_org: { key: (ceremony) => [ceremony.org_id, ceremony.created_at] },
  /** For the sweep that expires what was left open. */
  open_until: { key: (ceremony) => (ceremony.status === "pending" ? [ceremony.expires_at] : undefined) },
});

export const ceremonyShares = collection<SealedShare & { readonly ceremony_id: string }>("ceremony_shares", {
  by_ceremony: { key: (share) => [share.ceremony_id, share.index] },
});

export const sharesOfCeremony = submittedShares("ceremony", ceremonyShares, (ceremony_id) => ({ ceremony_id }));
