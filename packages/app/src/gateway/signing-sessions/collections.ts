import type { RoundCommitment, SignatureShare, SigningRound } from "@seneschal/crypto/threshold";
import { collection } from "../store/collection.ts";

/** One FROST signing round, of which the server holds the public half only. */
export interface SigningSession {
  readonly id: string;
  readonly org_id: string;
  readonly crk_id: string;
  readonly crk_version: number;
  readonly status: "committing" | "signing" | "completed" | "failed";
  readonly threshold: number;
  readonly round: SigningRound;
  readonly commitments: readonly RoundCommitment[];
  readonly parts: readonly SignatureShare[];
  readonly signature: string | null;
  readonly cheaters: readonly number[];
  readonly started_by: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly expires_at: string;
}

export const signingSessions = collection<SigningSession>("signing_sessions", {
  by_org: { key: (session) => [session.org_id, session.created_at] },
});
