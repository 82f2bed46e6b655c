import { type Ceremony, ceremonyStatus } from "@seneschal/core/keys";

/** A ceremony as callers see it at `now`. */
export function ceremonyView(ceremony: Ceremony, now: number) {
  return {
    ...ceremony,
    status: ceremonyStatus(ceremony, now),
    seats: [...(ceremony.seats ?? [])],
    custodians: [...(ceremony.custodians ?? [])],
    shares_collected: ceremony.submitted_indexes.length,
    submitted_indexes: [...ceremony.submitted_indexes],
    // Who completes it names the witness, who signs nothing: in a custody ceremony it does.
    witness_confirmed: false,
  };
}
