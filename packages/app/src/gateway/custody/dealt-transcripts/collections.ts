import type { DealtEntry, DealtStanding } from "@seneschal/crypto/custody";
import { collection } from "../../ground/index.ts";

/** Where the transcript of a ceremony stands in which the gateway deals; the id is the ceremony's. */
export interface DealtTranscript {
  readonly id: string;
  readonly org_id: string;
  readonly crk_id: string | null;
  readonly crk_version: number | null;
  readonly standing: DealtStanding;
}

export const dealtTranscripts = collection<DealtTranscript>("dealt_transcripts", {
  by_org: { key: ({ org_id, id }) => [org_id, id] },
  by_crk: {
    key: ({ crk_id, crk_version }) => (crk_id === null || crk_version === null ? undefined : [crk_id, crk_version]),
  },
});

/** An entry of one, never changed. */
export const dealtEntries = collection<{ readonly ceremony_id: string; readonly entry: DealtEntry }>("dealt_entries", {
  by_ceremony: { key: ({ ceremony_id, entry }) => [ceremony_id, entry.seq] },
});

export const dealtEntryId = (ceremony: string, seq: number): string => `${ceremony}/${seq}`;
