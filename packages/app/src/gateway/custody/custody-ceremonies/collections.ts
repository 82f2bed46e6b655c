import type { CustodyCeremony, Timestamp } from "@seneschal/core/keys";
import type { TranscriptEntry, TranscriptStanding } from "@seneschal/crypto/custody";
import { collection } from "../../ground/index.ts";

/** A ceremony and where its transcript stands. */
export type StoredCustodyCeremony = CustodyCeremony & {
  readonly standing: Omit<TranscriptStanding, "crk" | "entries" | "head" | "status">;
};

export const custodyCeremonies = collection<StoredCustodyCeremony>("custody_ceremonies", {
  by_org: { key: (ceremony) => [ceremony.org_id, ceremony.created_at] },
  /** A name stands for one transcript. */
  by_name: { key: (ceremony) => [ceremony.org_id, ceremony.ceremony], unique: "a ceremony of this name exists" },
  /** Those that made the shares of a key, by its versions. A repair makes none: it gives one back. */
  by_crk: {
    key: ({ kind, crk_id, crk_version }) =>
      kind === "repair" || crk_id === null || crk_version === null ? undefined : [crk_id, crk_version],
  },
  open_until: { key: (ceremony) => (ceremony.status === "open" ? [ceremony.expires_at] : undefined) },
});

/** That somebody takes part in a ceremony, never changed: so that who holds no office finds their own. */
interface CeremonyPart {
  readonly ceremony_id: string;
  readonly org_id: string;
  readonly identity_id: string;
  readonly created_at: Timestamp;
}

export const custodyParts = collection<CeremonyPart>("custody_parts", {
  by_identity: { key: (part) => [part.org_id, part.identity_id, part.created_at] },
  by_ceremony: { key: (part) => [part.ceremony_id] },
});

/** An entry of a transcript, never changed. */
interface StoredEntry {
  readonly ceremony_id: string;
  readonly entry: TranscriptEntry;
}

export const custodyEntries = collection<StoredEntry>("custody_entries", {
  by_ceremony: { key: ({ ceremony_id, entry }) => [ceremony_id, entry.seq] },
});

export const custodyEntryId = (ceremony: string, seq: number): string => `${ceremony}/${seq}`;

export const custodyPartId = (ceremony: string, identity: string): string => `${ceremony}/${identity}`;
