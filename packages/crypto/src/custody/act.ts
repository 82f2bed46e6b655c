import type { CrkPublicJson } from "../threshold/crk.ts";
import { type CustodianCard, isCard } from "./custodian-card.ts";
import { bytesOf, type Check, listOf, members, only, seconds, wholeNumber } from "./shape.ts";

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
);

/** A custodian takes its seat and says where packages of this ceremony go: base64 X25519 public key, made for this ceremony only. */
export interface JoinAct {
  readonly type: "join";
  readonly transport_key: string;
}

/** The seat's polynomial: base64 points, constant term first, and in `generate` the proof of knowledge of the constant term. */
export interface CommitmentAct {
  readonly type: "commitment";
  readonly commitments: readonly string[];
  readonly proof?: string;
}

/** The polynomial's values for the other seats, in their order, each sealed to its receiver's transport key. */
export interface PackagesAct {
  readonly type: "packages";
  readonly sealed: readonly string[];
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
export type Act = StartAct | JoinAct | CommitmentAct | PackagesAct | ComplaintAct | AcceptedAct | ConfirmationAct | EndAct;

const seatNumber = wholeNumber(1, 255);
/** Ephemeral key, scalar and tag. */
const PACKAGE_BYTES = 32 + 32 + 16;
const points = listOf(bytesOf(32), 2, 255);
const seating = { type: only("start"), seats: listOf(isCard, 2, 255), witness: isCard, starter: isCard, expires_at: seconds };
const confirmed = { transcript: bytesOf(32), public_key: bytesOf(32) };

const SHAPES: Readonly<Record<string, readonly Check[]>> = {
  start: [
    members({ ...seating, kind: only("generate"), threshold: wholeNumber(2, 255) }),
    members({
      ...{ ...seating, kind: only("refresh") },
      crk: members({
        ...{
          set_id: bytesOf(16),
          epoch: wholeNumber(1, 2 ** 32 - 2),
          threshold: wholeNumber(2, 255),
          total_shares: wholeNumber(2, 255),
        },
        ...{ public_key: bytesOf(32), commitments: points, verifying_shares: points },
      }),
    }),
  ],
  join: [members({ type: only("join"), transport_key: bytesOf(32) })],
  commitment: [
    members({ type: only("commitment"), commitments: points, proof: bytesOf(64) }),
    members({ type: only("commitment"), commitments: points }),
  ],
  packages: [members({ type: only("packages"), sealed: listOf(bytesOf(PACKAGE_BYTES), 1, 254) })],
  complaint: [members({ type: only("complaint"), against: seatNumber, transport_secret: bytesOf(32) })],
  accepted: [members({ type: only("accepted") })],
  confirmation: [members({ type: only("confirmation"), ...confirmed })],
  witness: [members({ type: only("witness"), ...confirmed })],
  end: [members({ type: only("end") })],
};

/** Exactly the members of one of the acts, each of its size. Says nothing of who acts, or when. */
export const isAct: Check = (value) => {
  const type: unknown = typeof value === "object" && value !== null ? (value as { type?: unknown }).type : undefined;
  return typeof type === "string" && Object.hasOwn(SHAPES, type) && SHAPES[type]?.some((check) => check(value)) === true;
};
