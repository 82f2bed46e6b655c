import { collection } from "../../../platform/collection.ts";

/** A certificate authority: one of the instance's own, or an organisation's. Its private key is sealed by the vault. */
export interface Authority {
  readonly id: string;
  /** PEM. */
  readonly certificate: string;
  /** PEM: a certificate of the same name and key that another CA signed, then those up to that one's root. */
  readonly cross_signed?: string;
  readonly sealed_key: string;
  readonly created_at: string;
}

export const authorities = collection<Authority>("authorities");

/** The instance's own authorities. Organisation ids hold no slash. */
export const instanceAuthorities = {
  /** The root above the organisations' CAs: what servers verify clients against. */
  clients: "/root",
  /** The CA of server certificates: what clients verify servers against. It certifies no CA, and no client. */
  servers: "/servers",
} as const;

/** Which of the instance's own authorities. */
export type InstanceAuthority = keyof typeof instanceAuthorities;
