import type { Ceremony } from "@seneschal/core/keys";
import { collection } from "../../ground/index.ts";

export const ceremonies = collection<Ceremony>("ceremonies", {
  by_org: { key: (ceremony) => [ceremony.org_id, ceremony.created_at] },
  /** For the sweep that expires what was left open. */
  open_until: { key: (ceremony) => (ceremony.status === "pending" ? [ceremony.expires_at] : undefined) },
});

/** A submitted share, sealed by the vault for the life of its ceremony and no longer. */
interface HeldShare {
  readonly ceremony_id: string;
  readonly index: number;
  readonly submitted_by: string;
  readonly sealed: string;
}

export const heldShares = collection<HeldShare>("ceremony_shares", {
  by_ceremony: { key: (share) => [share.ceremony_id, share.index] },
});

export const heldShareId = (ceremony: string, index: number): string => `${ceremony}/${index}`;
