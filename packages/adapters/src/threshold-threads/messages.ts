import type { TranscriptEntry } from "@seneschal/crypto/custody";
import type {
  CrkPublic,
  CrkPublicJson,
  RoundCommitment,
  SignatureShare,
  SigningRound,
  SubmittedShare,
} from "@seneschal/crypto/threshold";

interface Total {
  readonly threshold: number;
  readonly total: number;
}

/** What a worker is asked. `random`: what it may draw from; the caller's generator made it. */
export type ThresholdTask =
  | { readonly kind: "deal"; readonly to: Total; readonly random: Uint8Array }
  | {
      readonly kind: "reshare";
      readonly crk: CrkPublicJson;
      readonly shares: readonly SubmittedShare[];
      readonly to: Total;
      readonly random: Uint8Array;
    }
  | {
      readonly kind: "sign";
      readonly crk: CrkPublicJson;
      readonly shares: readonly SubmittedShare[];
      readonly message: Uint8Array;
      readonly random: Uint8Array;
    }
  | { readonly kind: "inspect"; readonly crk: CrkPublicJson; readonly shares: readonly SubmittedShare[] }
  | {
      readonly kind: "accepts_commitment";
      readonly crk: CrkPublicJson;
      readonly present: readonly RoundCommitment[];
      readonly commitment: RoundCommitment;
    }
  | {
      readonly kind: "accepts_share";
      readonly crk: CrkPublicJson;
      readonly round: SigningRound;
      readonly commitments: readonly RoundCommitment[];
      readonly part: SignatureShare;
    }
  | {
      readonly kind: "aggregate";
      readonly crk: CrkPublicJson;
      readonly round: SigningRound;
      readonly commitments: readonly RoundCommitment[];
      readonly parts: readonly SignatureShare[];
    }
  /** `head` is `undefined` before the start; `entries` come along where a worker has said that it does not know it. */
  | {
      readonly kind: "admit_entry";
      readonly head: string | undefined;
      readonly entries: readonly TranscriptEntry[] | undefined;
      readonly entry: unknown;
    };

/** What a worker says to `admit_entry` behind a transcript that it has not read. */
export const UNKNOWN_HEAD = "unknown_head";

/** Key material on its way between threads: the shares as the bytes of their envelopes. */
export interface SentMaterial {
  readonly crk: CrkPublic;
  readonly shares: readonly Uint8Array[];
}

/** What came of it: a value, or a refusal by its code, as classes do not cross from a thread. */
export type ThresholdOutcome =
  | { readonly value: unknown }
  | { readonly code: string; readonly message: string; readonly details: Readonly<Record<string, unknown>> };
