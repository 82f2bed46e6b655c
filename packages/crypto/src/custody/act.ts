import type { CrkPublicJson } from "../threshold/crk.ts";
import { type CustodianCard, isCard } from "./custodian-card.ts";
import { byType, bytesOf, type Check, listOf, members, only, seconds, wholeNumber } from "./shape.ts";

/** Opens a ceremony: who sits where, who witnesses, who started it. Seat i is `seats[i - 1]`. */
export type StartAct = {
  readonly type: "start";
  readonly seats: readonly CustodianCard[];
  readonly witness: CustodianCard;
  readonly starter: CustodianCard;
  readonly expires_at: number;
} & (
  | { readonly kind: "generate"; readonly threshold: number }
  /** New shares of a key that exists, among the same number of seats. */
  | { readonly kind: "refresh"; readonly crk: CrkPublicJson }
  /**
   * Shares of a key that exists for other people, another threshold or another count: seat i, up to `total_shares`, is given the share of
   * index i. `deals` says for each seat with which share of the key it deals, 0 for none.
   */
  | {
      readonly kind: "reshare";
      readonly crk: CrkPublicJson;
      readonly threshold: number;
      readonly total_shares: number;
      readonly deals: readonly number[];
    }
  /** The share of `index`, given back to seat 1 by others, who deal with theirs. */
  | { readonly kind: "repair"; readonly crk: CrkPublicJson; readonly index: number; readonly deals: readonly number[] }
);

/**
 * A custodian takes its seat and says where packages of this ceremony go: base64 X25519 public keys, made for this ceremony only. In a
 * reshare and a repair one for each seat that seals to it, so that a complaint opens what that one seat has sealed.
 */
export interface JoinAct {
  readonly type: "join";
  readonly transport_key?: string;
  readonly transport_keys?: readonly string[];
}

/**
 * The seat's polynomial: base64 points, constant term first, and in `generate` the proof of knowledge of the constant term. In `repair`
 * what the seat deals to each who helps, itself too, times the base point.
 */
export interface CommitmentAct {
  readonly type: "commitment";
  readonly commitments: readonly string[];
  readonly proof?: string;
}

/** What is dealt to the other seats, in their order, each sealed to its receiver's transport key. */
export interface PackagesAct {
  readonly type: "packages";
  readonly sealed: readonly string[];
}

/** In `repair`: the sum of what was dealt to this seat, sealed to the one whose share is repaired. So it has accepted, too. */
export interface ContributionAct {
  readonly type: "contribution";
  readonly sealed: string;
}

/** "The package of seat `against` does not hold", with what lets anybody see it: the secret of the own transport key. */
export interface ComplaintAct {
  readonly type: "complaint";
  readonly against: number;
  readonly transport_secret: string;
}

/** Every package to this seat opened and holds. */
export interface AcceptedAct {
  readonly type: "accepted";
}

/** A person confirms, as custodian or as witness, one transcript hash and the key that it made. */
export interface ConfirmationAct {
  readonly type: "confirmation" | "witness";
  readonly transcript: string;
  readonly public_key: string;
}

/** The starter ends an open ceremony. */
export interface EndAct {
  readonly type: "end";
}

/** What an entry of a transcript does. */
export type Act =
  | StartAct
  | JoinAct
  | CommitmentAct
  | PackagesAct
  | ContributionAct
  | ComplaintAct
  | AcceptedAct
  | ConfirmationAct
  | EndAct;

const seatNumber = wholeNumber(1, 255);
/** Ephemeral key, scalar and tag. */
const PACKAGE_BYTES = 32 + 32 + 16;
const points = listOf(bytesOf(32), 2, 255);
const seating = { type: only("start"), seats: listOf(isCard, 2, 255), witness: isCard, starter: isCard, expires_at: seconds };
/** The public half of a key. Says nothing of whether its parts fit each other. */
export const isCrk: Check = members({
  set_id: bytesOf(16),
  epoch: wholeNumber(1, 2 ** 32 - 2),
  threshold: wholeNumber(2, 255),
  total_shares: wholeNumber(2, 255),
  public_key: bytesOf(32),
  commitments: points,
  verifying_shares: points,
});
const deals = listOf(wholeNumber(0, 255), 2, 255);
const confirmed = { transcript: bytesOf(32), public_key: bytesOf(32) };

/** Exactly the members of a custodian's confirmation. */
export const isConfirmation: Check = members({ type: only("confirmation"), ...confirmed });

const SHAPES: Readonly<Record<string, readonly Check[]>> = {
  start: [
    members({ ...seating, kind: only("generate"), threshold: wholeNumber(2, 255) }),
    members({ ...seating, kind: only("refresh"), crk: isCrk }),
    members({
      ...seating,
      kind: only("reshare"),
      crk: isCrk,
      deals,
      threshold: wholeNumber(2, 255),
      total_shares: wholeNumber(2, 255),
    }),
    members({ ...seating, kind: only("repair"), crk: isCrk, index: seatNumber, deals }),
  ],
  join: [
    members({ type: only("join"), transport_key: bytesOf(32) }),
    members({ type: only("join"), transport_keys: listOf(bytesOf(32), 1, 254) }),
  ],
  commitment: [
    members({ type: only("commitment"), commitments: points, proof: bytesOf(64) }),
    members({ type: only("commitment"), commitments: points }),
  ],
  packages: [members({ type: only("packages"), sealed: listOf(bytesOf(PACKAGE_BYTES), 1, 254) })],
  contribution: [members({ type: only("contribution"), sealed: bytesOf(PACKAGE_BYTES) })],
  complaint: [members({ type: only("complaint"), against: seatNumber, transport_secret: bytesOf(32) })],
  accepted: [members({ type: only("accepted") })],
  confirmation: [isConfirmation],
  witness: [members({ type: only("witness"), ...confirmed })],
  end: [members({ type: only("end") })],
};

/** Exactly the members of one of the acts, each of its size. Says nothing of who acts, or when. */
export const isAct: Check = byType(SHAPES);
