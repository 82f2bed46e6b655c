import type { CustodianSeat } from "@seneschal/core/keys";
import type { RoundCommitment, SignatureShare, SigningRound } from "@seneschal/crypto/threshold";
import type { JsonObject } from "@seneschal/kernel";
import { collection } from "../../ground/index.ts";

/** One FROST signing round, of which the server holds the public half only. */
export interface SigningSession {
  readonly id: string;
  readonly org_id: string;
  readonly crk_id: string;
  readonly crk_version: number;
  readonly status: "committing" | "signing" | "completed" | "failed";
  readonly threshold: number;
  readonly round: SigningRound;
  /** Of an operation, what its body's hash is of, where the starter gave it. */
  readonly body?: JsonObject;
  /** The key's custodians; who committed has taken the seat. Absent in sessions of an earlier release, which cannot go on. */
  readonly seats?: readonly CustodianSeat[];
  readonly commitments: readonly RoundCommitment[];
  /** Each was verified when it arrived. */
  readonly parts: readonly SignatureShare[];
  readonly signature: string | null;
  /** Of sessions of an earlier release only: what is wrong is refused at once. */
  readonly cheaters: readonly number[];
  readonly started_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly expires_at: string;
}

export const signingSessions = collection<SigningSession>("signing_sessions", {
  by_org: { key: (session) => [session.org_id, session.created_at] },
});
