import type {
  Ceremony,
  CustodyCeremony,
  EnrolledCustodian,
  GenerationCeremony,
  Recovery,
  SigningSession as Session,
  Timestamp,
} from "@seneschal/core/keys";
import type { CustodianCard, DealtEntry, DealtStanding, TranscriptEntry, TranscriptStanding } from "@seneschal/crypto/custody";
import type { RoundCommitment, SignatureShare, SigningRound } from "@seneschal/crypto/threshold";
import type { JsonObject } from "@seneschal/kernel";
import { type AnyCollection, collection } from "../ground/index.ts";
import { type SealedShare, submittedShares } from "./submitted-shares.ts";

export const ceremonies = collection<Ceremony>("ceremonies", {
  by_org: { key: (ceremony) => [ceremony.org_id, ceremony.created_at] },
  /** For the sweep that expires what was left open. */
  open_until: { key: (ceremony) => (ceremony.status === "pending" ? [ceremony.expires_at] : undefined) },
});

export const ceremonyShares = collection<SealedShare & { readonly ceremony_id: string }>("ceremony_shares", {
  by_ceremony: { key: (share) => [share.ceremony_id, share.index] },
});

export const sharesOfCeremony = submittedShares("ceremony", ceremonyShares, (ceremony_id) => ({ ceremony_id }));

/** An enrolment with the card that was shown. */
export type StoredCustodian = EnrolledCustodian & { readonly card: CustodianCard };

export const custodians = collection<StoredCustodian>("custodians", {
  by_org: { key: (custodian) => [custodian.org_id, custodian.created_at] },
  /** One person has one pair of keys at a time. */
  by_identity: {
    key: (custodian) => (custodian.status === "revoked" ? undefined : [custodian.org_id, custodian.identity_id]),
    unique: "this person has enrolled keys: they are revoked before others are enrolled",
  },
  /** A pair of keys is enrolled once, and never again when it was revoked. */
  by_fingerprint: { key: (custodian) => [custodian.org_id, custodian.fingerprint], unique: "these keys were enrolled before" },
});

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

export const generationCeremonies = collection<GenerationCeremony>("generation_ceremonies", {
  by_org: { key: (ceremony) => [ceremony.org_id, ceremony.created_at] },
  open_until: {
    key: (ceremony) => (ceremony.status === "pending" || ceremony.status === "seeded" ? [ceremony.expires_at] : undefined),
  },
});

/** A custodian's derived key, sealed by the vault until the ceremony ends. */
interface HeldKey {
  readonly ceremony_id: string;
  readonly index: number;
  readonly custodian_id: string;
  readonly sealed: string;
}

export const heldKeys = collection<HeldKey>("generation_keys");

export const heldKeyId = (ceremony: string, index: number): string => `${ceremony}/${index}`;

/** A share that only its custodian's password opens. */
export interface EncryptedShare {
  readonly crk_id: string;
  readonly org_id: string;
  readonly index: number;
  readonly custodian_name: string;
  readonly custodian_id: string;
  readonly encrypted_data: string;
  readonly salt: string;
  readonly kdf_time: number;
  readonly kdf_memory: number;
  readonly kdf_threads: number;
}

export const encryptedShares = collection<EncryptedShare>("encrypted_shares", {
  by_crk: { key: (share) => [share.crk_id, share.index] },
});

export const encryptedShareId = (crk: string, index: number): string => `${crk}/${index}`;

export const recoveries = collection<Recovery>("recoveries", {
  by_org: { key: (recovery) => [recovery.org_id, recovery.created_at] },
  /** One at a time for an admin. */
  open: {
    key: (recovery) => (isOpen(recovery) ? [recovery.org_id, recovery.admin_id] : undefined),
    unique: "a recovery of that admin is open already",
  },
  open_until: { key: (recovery) => (isOpen(recovery) ? [recovery.expires_at] : undefined) },
});

/** Undecided, as it is stored. */
function isOpen({ status }: Recovery): boolean {
  return status === "pending" || status === "shares_collected";
}

export const recoveryShares = collection<SealedShare & { readonly recovery_id: string }>("recovery_shares");

export const sharesOfRecovery = submittedShares("recovery", recoveryShares, (recovery_id) => ({ recovery_id }));

/** One FROST signing round, of which the server holds the public half only. */
export interface SigningSession extends Session<RoundCommitment, SignatureShare> {
  readonly round: SigningRound;
  /** Of an operation, what its body's hash is of, where the starter gave it. */
  readonly body?: JsonObject;
}

export const signingSessions = collection<SigningSession>("signing_sessions", {
  by_org: { key: (session) => [session.org_id, session.created_at] },
});

/** All that the floor stores. */
export const custodyCollections: readonly AnyCollection[] = [
  ceremonies,
  custodians,
  custodyCeremonies,
  custodyEntries,
  custodyParts,
  dealtEntries,
  dealtTranscripts,
  encryptedShares,
  generationCeremonies,
  heldKeys,
  ceremonyShares,
  recoveries,
  recoveryShares,
  signingSessions,
];
