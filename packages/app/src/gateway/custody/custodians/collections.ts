import type { EnrolledCustodian } from "@seneschal/core/keys";
import type { CustodianCard } from "@seneschal/crypto/custody";
import { collection } from "../../ground/index.ts";

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
