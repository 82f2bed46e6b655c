export {
  type CrkPublic,
  type CrkPublicJson,
  type CrkWithShares,
  crkFromJson,
  crkSet,
  crkToJson,
  dealCrk,
  importCrk,
} from "./crk.ts";
export { DkgParticipant } from "./dkg.ts";
export { acceptsBroadcast, type DkgBroadcast, type DkgMessage, dkgTranscript, generatedPublic } from "./dkg-public.ts";
export {
  acceptedShares,
  inspectShares,
  type ShareInspection,
  type ShareProblem,
  type ShareProblemKind,
  type ShareSet,
  type SubmittedShare,
} from "./inspect-shares.ts";
export { dealRepair, type RepairSummand, repairShare, sumRepair } from "./repair.ts";
export {
  type Deal,
  dealRefresh,
  dealReshare,
  type ReceivedDeal,
  receiveReshare,
  refreshedPublic,
  refreshShare,
  resharedPublic,
  reshareWithShares,
  seenBy,
} from "./resharing.ts";
export { deriveShareKey, openShare, type SealedShareBinding, sealShare } from "./sealed-share.ts";
export { combineSecret, type SplitRecord, splitSecret, splitSet } from "./shamir.ts";
export { assertThreshold, Share, type ShareHeader, type ShareScheme } from "./share.ts";
export { signWithShares } from "./sign-with-shares.ts";
export {
  acceptsCommitment,
  acceptsSignatureShare,
  aggregateSignature,
  newSigningRound,
  type RoundCommitment,
  type SignatureShare,
  Signer,
  type SigningRound,
} from "./signing-round.ts";
export type { ThresholdWork } from "./threshold-work.ts";
