import { collection } from "../store/collection.ts";

/** A certificate authority: the instance's root, or an organisation's intermediate. Its private key is sealed by the vault. */
export interface Authority {
  readonly id: string;
  /** PEM. */
  readonly certificate: string;
  readonly sealed_key: string;
  readonly created_at: string;
}

export const authorities = collection<Authority>("authorities");

/** The root's id. Organisation ids hold no slash. */
export const rootId = "/root";
