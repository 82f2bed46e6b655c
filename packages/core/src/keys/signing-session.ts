import { checkArgument } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import { type Custodian, type CustodianSeat, type Holder, keepSeats, requireSeated, takeSeat } from "./custody.ts";
import { isPast, type Timestamp, timestamp } from "./time.ts";

export const signingSessionStatuses = ["committing", "signing", "completed", "failed"] as const;
export type SigningSessionStatus = (typeof signingSessionStatuses)[number];

interface Indexed {
  readonly index: number;
}

/** One round of a threshold signature among custodians. Of its cryptography it knows whose each piece is; the pieces are the caller's to verify. */
export interface SigningSession<Commitment extends Indexed = Indexed, Part extends Indexed = Indexed> {
  readonly id: string;
  readonly org_id: string;
  readonly crk_id: string;
  readonly crk_version: number;
  readonly status: SigningSessionStatus;
  readonly threshold: number;
  /** The key's custodians; who committed has taken the seat. Absent in sessions of an earlier release, which cannot go on. */
  readonly seats?: readonly CustodianSeat[];
  readonly commitments: readonly Commitment[];
  /** Each was verified when it arrived. */
  readonly parts: readonly Part[];
  readonly signature: string | null;
  /** Of sessions of an earlier release only: what is wrong is refused at once. */
  readonly cheaters: readonly number[];
  readonly started_by: string;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
  readonly expires_at: Timestamp;
}

/** The key that a session signs with, as it is now. */
export interface SigningKey {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  readonly threshold: number;
  readonly total_shares: number;
  readonly custodians?: readonly Custodian[];
}

/**
 * A session that waits for commitments, for so many milliseconds.
 *
 * @example
 * ```ts
 * import { createSigningSession } from "@seneschal/core/keys";
 * const key = { id: "k1", version: 1, status: "active", threshold: 2, total_shares: 3 };
 * console.log(createSigningSession({ id: "s1", org: "acme", by: "ada", key }, 0, 1000).status); // committing
 * ```
 */
export function createSigningSession(
  facts: { readonly id: string; readonly org: string; readonly by: string; readonly key: SigningKey },
  now: number,
  lifetime: number,
): SigningSession<never, never> {
  checkArgument("facts", facts, "object");
  checkArgument("now", now, "number");
  checkArgument("lifetime", lifetime, "number");
  const { id, org, by, key } = facts;
  const at = timestamp(now);
  return {
    id,
    org_id: org,
    crk_id: key.id,
    crk_version: key.version,
    status: "committing",
    threshold: key.threshold,
    seats: keepSeats(key.custodians ?? []),
    commitments: [],
    parts: [],
    signature: null,
    cheaters: [],
    started_by: by,
    created_at: at,
    updated_at: at,
    expires_at: timestamp(now + lifetime),
  };
}

const isOpen = ({ status }: Pick<SigningSession, "status">): boolean => status === "committing" || status === "signing";

/**
 * The status as it is now: an open session ends with its time.
 *
 * @example
 * ```ts
 * import { createSigningSession, signingSessionStatus } from "@seneschal/core/keys";
 * const key = { id: "k1", version: 1, status: "active", threshold: 2, total_shares: 3 };
 * const session = createSigningSession({ id: "s1", org: "acme", by: "ada", key }, 0, 1000);
 * console.log(signingSessionStatus(session, 999), signingSessionStatus(session, 1000)); // committing expired
 * ```
 */
export function signingSessionStatus(
  session: Pick<SigningSession, "status" | "expires_at">,
  now: number,
): SigningSessionStatus | "expired" {
  checkArgument("session", session, "object");
  checkArgument("now", now, "number");
  return isOpen(session) && isPast(session.expires_at, now) ? "expired" : session.status;
}

export type SigningSessionInput<Commitment extends Indexed, Part extends Indexed> =
  /** `holder`: the caller, `undefined` unless registered and active; `seats`: those of the session as their holders are known now. */
  | {
      readonly kind: "commit";
      readonly commitment: Commitment;
      readonly holder: Holder | undefined;
      readonly seats: readonly CustodianSeat[];
    }
  | { readonly kind: "sign"; readonly part: Part; readonly holder: Holder | undefined }
  /** `active`: the identities among the seats' that are registered and active. */
  | { readonly kind: "complete"; readonly active: readonly string[] };

/**
 * One step of a session with the key as it is now: each index commits once, by who then sits there, and signs once, by the same; when as many as the
 * threshold have committed nobody else does, and what they signed completes it (RFC 9591 section 5). Throws `STATE_CONFLICT` out of turn or time, or
 * when the key has other shares by now; `FORBIDDEN` for another's index; `CONFLICT` for what is done already; `CRK_THRESHOLD_NOT_MET` with
 * the indexes that have not signed. The state is to be kept once the piece is verified; what completes it has no signature until it is given one.
 *
 * @example
 * ```ts
 * import { createSigningSession, type SigningSession, stepSigningSession } from "@seneschal/core/keys";
 * const key = { id: "k1", version: 1, status: "active", threshold: 2, total_shares: 3 };
 * const session: SigningSession = createSigningSession({ id: "s1", org: "acme", by: "ada", key }, 0, 1000);
 * const bob = { identity_id: "bob", identity_type: "user", name: "Bob", emails: ["bob@acme.example"] } as const;
 * const next = stepSigningSession(session, { kind: "commit", commitment: { index: 1 }, holder: bob, seats: [{ ...bob, index: 1, taken_at: null }] }, key, 1);
 * console.log(next.status, next.commitments); // committing [ { index: 1 } ]
 * ```
 */
export function stepSigningSession<
  Commitment extends Indexed,
  Part extends Indexed,
  Session extends SigningSession<Commitment, Part>,
>(
  session: Session & SigningSession<Commitment, Part>,
  input: SigningSessionInput<Commitment, Part>,
  key: SigningKey,
  now: number,
): Session {
  checkArgument("session", session, "object");
  checkArgument("input", input, "object");
  checkArgument("key", key, "object");
  checkArgument("now", now, "number");
  const updated_at = timestamp(now);
  switch (input.kind) {
    case "commit": {
      const { commitment, holder, seats: present } = input;
      const { index } = commitment;
      if (sits(session, index, holder)) {
        const why = "nonces sign once, in the process that drew them; where that has ended, start another session";
        throw refusal("CONFLICT", `custodian ${index} has committed already: ${why}`, { index });
      }
      const seats = takeSeat(present, { index, total: key.total_shares, holder, free: "nobody" }, now);
      requireRound(session, key, "committing", now);
      const commitments = [...session.commitments, commitment];
      const status = commitments.length === session.threshold ? "signing" : "committing";
      return { ...session, seats, commitments, status, updated_at };
    }
    case "sign": {
      const { part, holder } = input;
      const { index } = part;
      requireRound(session, key, "signing", now);
      if (!sits(session, index, holder)) throw refusal("FORBIDDEN", `index ${index} is another custodian's`, { index });
      if (session.parts.some((one) => one.index === index))
        throw refusal("CONFLICT", `custodian ${index} has signed already`, { index });
      return { ...session, parts: [...session.parts, part], updated_at };
    }
    case "complete": {
      requireRound(session, key, "signing", now);
      const indexes = session.parts.map((part) => part.index);
      if (indexes.length < session.threshold) {
        const missing = session.commitments.map(({ index }) => index).filter((index) => !indexes.includes(index));
        throw refusal("CRK_THRESHOLD_NOT_MET", `custodian ${missing.join(", ")} committed and has not signed`, {
          required: session.threshold,
          collected: indexes.length,
          indexes: missing,
        });
      }
      requireSeated(session.seats ?? [], indexes, input.active);
      return { ...session, status: "completed", updated_at };
    }
    default:
      return input satisfies never;
  }
}

/** Whether this person has taken the seat of an index. */
function sits({ seats = [] }: Pick<SigningSession, "seats">, index: number, holder: Holder | undefined): boolean {
  return seats.some((seat) => seat.index === index && seat.taken_at !== null && seat.identity_id === holder?.identity_id);
}

/** Throws `STATE_CONFLICT` unless the session is in this round, in time, and the key was not rotated meanwhile. */
function requireRound(session: SigningSession, key: SigningKey, status: SigningSessionStatus, now: number): void {
  const over = isOpen(session) && (isPast(session.expires_at, now) || session.seats === undefined);
  if (over || session.status !== status || key.version !== session.crk_version || key.status === "revoked") {
    const is = over ? "expired" : session.status;
    const why = is === status ? "the key has other shares by now" : `it is ${is}`;
    throw refusal("STATE_CONFLICT", `the signing session is not ${status}: ${why}`, { status: is });
  }
}
