import type { CustodyCeremony } from "@seneschal/core/keys";
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
  /** Those that made the shares of a key, by its versions. */
  by_crk: {
    key: (ceremony) =>
      ceremony.crk_id === null || ceremony.crk_version === null ? undefined : [ceremony.crk_id, ceremony.crk_version],
  },
  open_until: { key: (ceremony) => (ceremony.status === "open" ? [ceremony.expires_at] : undefined) },
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
