import type { Mfa } from "@seneschal/core/keys";
import { collection } from "../../ground/index.ts";

/** An admin's second factor. */
export interface StoredMfa extends Mfa {
  readonly admin_id: string;
  readonly org_id: string;
  /** The TOTP secret, sealed by the vault under the organisation's key. */
  readonly sealed_secret: string;
  /** SHA-256 of the recovery codes that are left, hex. */
  readonly recovery_hashes: readonly string[];
}

export const mfaFactors = collection<StoredMfa>("admin_mfa");
