import type { Handlers, Principal } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  type Holder,
  invalidField,
  isPast,
  keepSeats,
  notFound,
  refusal,
  requireSeated,
  takeSeat,
  timestamp,
} from "@seneschal/core/keys";
import { bodyHash, readSigned } from "@seneschal/crypto/signing";
import { newSigningRound } from "@seneschal/crypto/threshold";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import { base64, bytes, crks, type GatewayUnit, type Reader, requireCrk, type StoredCrk } from "../../ground/index.ts";
import { activeHolders, asKnownNow, holderCalling } from "../../people/index.ts";
import { holdsOffice } from "../office.ts";
import type { CustodyServices } from "../services.ts";
import { type SigningSession, signingSessions } from "./collections.ts";

type Routes = Pick<
  GatewayContract,
  "startSigningSession" | "getSigningSession" | "commitToSigningSession" | "signInSigningSession" | "aggregateSigningSession"
>;

const open = (session: SigningSession): boolean => session.status === "committing" || session.status === "signing";

/** What the bytes of a session mean. Sessions of an earlier release may have some that begin like a document and are none. */
function meaning({ round, body }: SigningSession) {
  try {
    const document = readSigned(bytes(round.message));
    return document === undefined ? null : { ...document, body: body ?? null };
  } catch (error) {
    if (isCoded(error, "not_canonical")) return null;
    throw error;
  }
}

/** Throws `VALIDATION_ERROR` for what nobody should sign: bytes that begin like a document and are none, or whose body is another. */
function requireShown(data: Uint8Array, body: JsonObject | undefined): void {
  let document: ReturnType<typeof readSigned>;
  try {
    document = readSigned(data);
  } catch (error) {
    if (!isCoded(error, "not_canonical")) throw error;
    throw invalidField("data", "begins like a signed document and is not the canonical form of one");
  }
  if (body === undefined) return;
  if (document?.payload["body_sha256"] !== bodyHash(body)) throw invalidField("body", "is not what data is signed of");
}

function view(session: SigningSession, crk: StoredCrk, now: number) {
  const { parts, commitments, cheaters, body: _, seats = [], ...rest } = session;
  return {
    ...rest,
    signs: meaning(session),
    status: open(session) && isPast(session.expires_at, now) ? ("expired" as const) : session.status,
    seats: [...seats],
    commitments: [...commitments],
    signed_indexes: parts.map((part) => part.index),
    cheaters: [...cheaters],
    crk: { ...crk.material, commitments: [...crk.material.commitments], verifying_shares: [...crk.material.verifying_shares] },
  };
}

/** A session that the caller may see: what is to be signed is for its custodians and for who administers. */
async function find(read: Reader, id: string, principal: Principal): Promise<{ session: SigningSession; crk: StoredCrk }> {
  const session = await read.get(signingSessions, id);
  const crk = session === undefined ? undefined : await read.get(crks, session.crk_id);
  if (session === undefined || crk === undefined || session.org_id !== principal.org) throw notFound("signing session");
  const seated = session.seats?.some((seat) => seat.identity_id === principal.id) === true;
  if (!seated && !holdsOffice(principal)) throw notFound("signing session");
  return { session, crk };
}

/** Whether this person has taken the seat of an index. */
function sits({ seats = [] }: SigningSession, index: number, holder: Holder | undefined): boolean {
  return seats.some((seat) => seat.index === index && seat.taken_at !== null && seat.identity_id === holder?.identity_id);
}

/** Throws `FORBIDDEN` unless the caller is who sits there, and registered and active still. */
async function requireSitting(unit: GatewayUnit, session: SigningSession, index: number): Promise<void> {
  if (!sits(session, index, await holderCalling(unit, unit.call.principal))) {
    throw refusal("FORBIDDEN", `index ${index} is another custodian's`, { index });
  }
}

/** Throws `STATE_CONFLICT` unless the session is in this round, in time, and the key was not rotated meanwhile. */
function requireRound(session: SigningSession, crk: StoredCrk, status: SigningSession["status"], now: number): void {
  const over = open(session) && (isPast(session.expires_at, now) || session.seats === undefined);
  if (over || session.status !== status || crk.version !== session.crk_version || crk.status === "revoked") {
    const is = over ? "expired" : session.status;
    const why = is === status ? "the key has other shares by now" : `it is ${is}`;
    throw refusal("STATE_CONFLICT", `the signing session is not ${status}: ${why}`, { status: is });
  }
}

export const signingSessionHandlers: Handlers<Routes, CustodyServices> = {
  async startSigningSession(services, { principal, body, now, requestId }) {
    requireShown(bytes(body.data), body.body);
    return services.transact({ principal, now, requestId }, async (unit) => {
      const crk = await requireCrk(unit, principal.org);
      const id = services.newId(now);
      const at = timestamp(now);
      const session: SigningSession = {
        id,
        org_id: principal.org,
        crk_id: crk.id,
        crk_version: crk.version,
        status: "committing",
        threshold: crk.threshold,
        round: newSigningRound({ setId: bytes(crk.material.set_id), epoch: crk.material.epoch }, id, bytes(body.data)),
        ...(body.body === undefined ? {} : { body: body.body }),
        seats: keepSeats(crk.custodians ?? []),
        commitments: [],
        parts: [],
        signature: null,
        cheaters: [],
        started_by: principal.id,
        created_at: at,
        updated_at: at,
        expires_at: timestamp(now + services.config.lifetimes.ceremony),
      };
      unit.insert(signingSessions, id, session);
      unit.record({ type: "crk.ceremony", metadata: { session_id: id, operation: "sign", event: "started" } });
      return view(session, crk, now);
    });
  },

  async getSigningSession({ read }, { principal, params, now }) {
    const { session, crk } = await find(read, params.id, principal);
    return view(session, crk, now);
  },

  async commitToSigningSession(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const { session, crk } = await find(unit, params.id, principal);
      const { index } = body;
      const { total_shares: total } = crk;
      const present = await asKnownNow(unit, principal.org, session.seats ?? []);
      const holder = await holderCalling(unit, principal);
      if (sits(session, index, holder)) {
        const why = "nonces sign once, in the process that drew them; where that has ended, start another session";
        throw refusal("CONFLICT", `custodian ${index} has committed already: ${why}`, { index });
      }
      const seats = takeSeat(present, { index, total, holder, free: "nobody" }, now);
      requireRound(session, crk, "committing", now);
      const commitment = { index, hiding: base64(bytes(body.hiding)), binding: base64(bytes(body.binding)) };
      if (!(await services.threshold.acceptsCommitment(crk.material, session.commitments, commitment, principal.org))) {
        throw refusal("SHARE_INVALID", `the commitment of custodian ${index} is not valid`, { indexes: [index] });
      }
      const commitments = [...session.commitments, commitment];
      const full = commitments.length === session.threshold;
      const next: SigningSession = {
        ...session,
        seats,
        commitments,
        status: full ? "signing" : "committing",
        updated_at: timestamp(now),
      };
      unit.put(signingSessions, session.id, next);
      unit.record({ type: "crk.ceremony", metadata: { session_id: session.id, operation: "sign", event: "commit", index } });
      return view(next, crk, now);
    });
  },

  /** A wrong share is refused and recorded under the name of who sent it; the session goes on (RFC 9591 section 5.4). */
  async signInSigningSession(services, { principal, params, body, now, requestId }) {
    const outcome = await services.transact({ principal, now, requestId }, async (unit) => {
      const { session, crk } = await find(unit, params.id, principal);
      const { index } = body;
      requireRound(session, crk, "signing", now);
      await requireSitting(unit, session, index);
      if (session.parts.some((part) => part.index === index)) {
        throw refusal("CONFLICT", `custodian ${index} has signed already`, { index });
      }
      const part = { index, share: base64(bytes(body.share)) };
      const metadata = { session_id: session.id, operation: "sign", event: "signed", index };
      if (
        !(await services.threshold.acceptsSignatureShare(crk.material, session.round, session.commitments, part, principal.org))
      ) {
        unit.record({ type: "crk.ceremony", result: "denied", metadata });
        return undefined;
      }
      const next: SigningSession = { ...session, parts: [...session.parts, part], updated_at: timestamp(now) };
      unit.put(signingSessions, session.id, next);
      unit.record({ type: "crk.ceremony", metadata });
      return view(next, crk, now);
    });
    // Thrown behind the commit: that it was sent is recorded.
    if (outcome === undefined) {
      throw refusal("SHARE_INVALID", `the signature share of custodian ${body.index} is not valid`, { indexes: [body.index] });
    }
    return outcome;
  },

  async aggregateSigningSession(services, { principal, params, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const { session, crk } = await find(unit, params.id, principal);
      requireRound(session, crk, "signing", now);
      if (session.parts.length < session.threshold) {
        const signed = new Set(session.parts.map((part) => part.index));
        const missing = session.commitments.map(({ index }) => index).filter((index) => !signed.has(index));
        throw refusal("CRK_THRESHOLD_NOT_MET", `custodian ${missing.join(", ")} committed and has not signed`, {
          required: session.threshold,
          collected: session.parts.length,
          indexes: missing,
        });
      }
      const { seats = [], parts } = session;
      const indexes = parts.map((part) => part.index);
      requireSeated(seats, indexes, await activeHolders(unit, principal.org, seats));
      const signature = await services.threshold.aggregateSignature(
        crk.material,
        session.round,
        session.commitments,
        parts,
        principal.org,
      );
      const next: SigningSession = {
        ...session,
        status: "completed",
        signature: base64(signature),
        updated_at: timestamp(now),
      };
      unit.put(signingSessions, session.id, next);
      unit.record({ type: "crk.sign", metadata: { session_id: session.id, indexes } });
      return view(next, crk, now);
    });
  },
};
