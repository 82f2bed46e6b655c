export type {
  AcceptedAct,
  Act,
  CommitmentAct,
  ComplaintAct,
  ConfirmationAct,
  ContributionAct,
  EndAct,
  JoinAct,
  PackagesAct,
  StartAct,
} from "./act.ts";
export { type Admission, type AdmissionOptions, admitEntry, type EntryRefusal } from "./admit-entry.ts";
export { type Awaited, awaitedIn } from "./awaited.ts";
export { type CardStatement, type ExpectedCard, readCardStatement, stateCard } from "./card-statement.ts";
export {
  type CeremonyOutcome,
  type CeremonyStep,
  ceremonyStep,
  confirmationOf,
  takeSeat,
  type WitnessOutcome,
  witnessStep,
} from "./ceremony-client.ts";
export { CeremonyState } from "./ceremony-state.ts";
export { type CustodianCard, cardFingerprint, custodianCard, readCard } from "./custodian-card.ts";
export { CustodianKeys } from "./custodian-keys.ts";
export { thresholdOf } from "./dealing.ts";
export {
  admitDealtEntry,
  type DealtAct,
  type DealtEntry,
  type DealtKind,
  type DealtRefusal,
  type DealtReport,
  type DealtSeat,
  type DealtStanding,
  type DealtStart,
  dealtEntry,
  isDealtTranscript,
  verifyDealtTranscript,
} from "./dealt-transcript.ts";
export { entryHash, signEntry, type TranscriptEntry } from "./entry.ts";
export { type AnsweredSeal, type KeyFileRefusal, openKeyFile, readKeyFile, sealKeyFile } from "./key-file.ts";
export {
  type DeviceSeal,
  type KeyFileSeal,
  type PassphraseSeal,
  type PrfSeal,
  prfSeal,
  type TokenSeal,
  tokenSeal,
} from "./key-file-seal.ts";
export { receiversOf, shareAfter, shareBefore } from "./parts.ts";
export { seatsFlaw } from "./seats-flaw.ts";
export { encodeTranscript, type TranscriptReport, verifyTranscript } from "./transcript.ts";
export type { Blame, BlameReason, TranscriptView } from "./transcript-view.ts";
export {
  type EntryOutcome,
  type KeptTranscript,
  standingOf,
  type TranscriptStanding,
  type TranscriptWork,
} from "./transcript-work.ts";
