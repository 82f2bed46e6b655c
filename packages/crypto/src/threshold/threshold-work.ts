import type { CrkPublicJson, CrkWithShares } from "./crk.ts";
import type { ShareProblem, SubmittedShare } from "./inspect-shares.ts";
import type { RoundCommitment, SignatureShare, SigningRound } from "./signing-round.ts";

/**
 * What a service does with root keys and shares, done apart from the thread that serves: with many custodians each takes seconds. All data is plain; `owner` is whose budget the
 * work is charged to. Each does what the function of its name does and throws its codes; besides `service_unavailable`, when the owner has too much under way or the work takes too long.
 */
export interface ThresholdWork {
  dealCrk(to: { readonly threshold: number; readonly total: number }, owner: string): Promise<CrkWithShares>;
  reshareWithShares(
    crk: CrkPublicJson,
    shares: readonly SubmittedShare[],
    to: { readonly threshold: number; readonly total: number },
    owner: string,
  ): Promise<CrkWithShares>;
  signWithShares(crk: CrkPublicJson, shares: readonly SubmittedShare[], message: Uint8Array, owner: string): Promise<Uint8Array>;
  inspectShares(crk: CrkPublicJson, shares: readonly SubmittedShare[], owner: string): Promise<readonly ShareProblem[]>;
  acceptsCommitment(
    crk: CrkPublicJson,
    present: readonly RoundCommitment[],
    commitment: RoundCommitment,
    owner: string,
  ): Promise<boolean>;
  acceptsSignatureShare(
    crk: CrkPublicJson,
    round: SigningRound,
    commitments: readonly RoundCommitment[],
    part: SignatureShare,
    owner: string,
  ): Promise<boolean>;
  aggregateSignature(
    crk: CrkPublicJson,
    round: SigningRound,
    commitments: readonly RoundCommitment[],
    parts: readonly SignatureShare[],
    owner: string,
  ): Promise<Uint8Array>;
}
