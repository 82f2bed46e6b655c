import type { GenerationCeremony } from "@seneschal/core/keys";
import { collection } from "../../ground/index.ts";

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
