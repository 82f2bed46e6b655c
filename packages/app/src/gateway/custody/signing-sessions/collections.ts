import type { SigningSession as Session } from "@seneschal/core/keys";
import type { RoundCommitment, SignatureShare, SigningRound } from "@seneschal/crypto/threshold";
import type { JsonObject } from "@seneschal/kernel";
import { collection } from "../../ground/index.ts";

/** One FROST signing round, of which the server holds the public half only. */
export interface SigningSession extends Session<RoundCommitment, SignatureShare> {
  readonly round: SigningRound;
  /** Of an operation, what its body's hash is of, where the starter gave it. */
  readonly body?: JsonObject;
}

export const signingSessions = collection<SigningSession>("signing_sessions", {
  by_org: { key: (session) => [session.org_id, session.created_at] },
});
