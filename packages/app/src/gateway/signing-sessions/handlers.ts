import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { isCoded } from "@seneschal/core";
import { isPast, notFound, refusal, timestamp } from "@seneschal/core/keys";
import { acceptsCommitment, aggregateSignature, crkFromJson, newSigningRound } from "@seneschal/crypto/threshold";
import { base64, bytes } from "../bytes.ts";
import { crks, type StoredCrk } from "../crk/collections.ts";
import { requireCrk } from "../crk/current.ts";
import type { GatewayServices } from "../services.ts";
import type { Reader } from "../store/reader.ts";
import { type SigningSession, signingSessions } from "./collections.ts";

type Routes = Pick<
  GatewayContract,
  "startSigningSession" | "getSigningSession" | "commitToSigningSession" | "signInSigningSession" | "aggregateSigningSession"
>;

const open = (session: SigningSession): boolean => session.status === "committing" || session.status === "signing";

function view(session: SigningSession, crk: StoredCrk, now: number) {
  const { parts, commitments, cheaters, ...rest } = session;
  return {
    ...rest,
    status: open(session) && isPast(session.expires_at, now) ? ("expired" as const) : session.status,
    commitments: [...commitments],
    signed_indexes: parts.map((part) => part.index),
    cheaters: [...cheaters],
    crk: { ...crk.material, commitments: [...crk.material.commitments], verifying_shares: [...crk.material.verifying_shares] },
  };
}

async function find(read: Reader, id: string, org: string): Promise<{ session: SigningSession; crk: StoredCrk }> {
  const session = await read.get(signingSessions, id);
  const crk = session === undefined ? undefined : await read.get(crks, session.crk_id);
  if (session === undefined || crk === undefined || session.org_id !== org) throw notFound("signing session");
  return { session, crk };
}

/** Throws `STATE_CONFLICT` unless the session is in this round, in time, and the key was not rotated meanwhile. */
function requireRound(session: SigningSession, crk: StoredCrk, status: SigningSession["status"], now: number): void {
  const over = open(session) && isPast(session.expires_at, now);
  if (over || session.status !== status || crk.version !== session.crk_version || crk.status === "revoked") {
    throw refusal("STATE_CONFLICT", `the signing session is not ${status}`, { status: over ? "expired" : session.status });
  }
}

export const signingSessionHandlers: Handlers<Routes, GatewayServices> = {
  async startSigningSession(services, { principal, body, now, requestId }) {
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
        round: newSigningRound(crkFromJson(crk.material), id, bytes(body.data)),
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
    const { session, crk } = await find(read, params.id, principal.org);
    return view(session, crk, now);
  },

  async commitToSigningSession(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const { session, crk } = await find(unit, params.id, principal.org);
      requireRound(session, crk, "committing", now);
      const { index } = body;
      if (session.commitments.some((known) => known.index === index)) {
        throw refusal("CONFLICT", `custodian ${index} has committed already`, { index });
      }
      const commitment = { index, hiding: base64(bytes(body.hiding)), binding: base64(bytes(body.binding)) };
      if (!acceptsCommitment(crkFromJson(crk.material), session.commitments, commitment)) {
        throw refusal("SHARE_INVALID", `the commitment of custodian ${index} is not valid`, { indexes: [index] });
      }
      const commitments = [...session.commitments, commitment];
      const full = commitments.length === session.threshold;
      const next: SigningSession = {
        ...session,
        commitments,
        status: full ? "signing" : "committing",
        updated_at: timestamp(now),
      };
      unit.put(signingSessions, session.id, next);
      unit.record({ type: "crk.ceremony", metadata: { session_id: session.id, operation: "sign", event: "commit", index } });
      return view(next, crk, now);
    });
  },

  async signInSigningSession(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const { session, crk } = await find(unit, params.id, principal.org);
      requireRound(session, crk, "signing", now);
      const { index } = body;
      if (!session.commitments.some((known) => known.index === index)) {
        throw refusal("SHARE_INVALID", `custodian ${index} did not commit to this round`, { indexes: [index] });
      }
      if (session.parts.some((part) => part.index === index)) {
        throw refusal("CONFLICT", `custodian ${index} has signed already`, { index });
      }
      const next: SigningSession = {
        ...session,
        parts: [...session.parts, { index, share: base64(bytes(body.share)) }],
        updated_at: timestamp(now),
      };
      unit.put(signingSessions, session.id, next);
      unit.record({ type: "crk.ceremony", metadata: { session_id: session.id, operation: "sign", event: "signed", index } });
      return view(next, crk, now);
    });
  },

  /** Wrong parts end the session: their nonces are spent. The senders are named in the record, the audit log and the error. */
  async aggregateSigningSession(services, { principal, params, now, requestId }) {
    const outcome = await services.transact({ principal, now, requestId }, async (unit) => {
      const { session, crk } = await find(unit, params.id, principal.org);
      requireRound(session, crk, "signing", now);
      if (session.parts.length < session.threshold) {
        throw refusal("CRK_THRESHOLD_NOT_MET", "not every committed custodian has signed", {
          required: session.threshold,
          collected: session.parts.length,
        });
      }
      const finish = (changes: Partial<SigningSession>): SigningSession => {
        const next = { ...session, ...changes, updated_at: timestamp(now) };
        unit.put(signingSessions, session.id, next);
        return next;
      };
      try {
        const signature = aggregateSignature(crkFromJson(crk.material), session.round, session.commitments, session.parts);
        unit.record({ type: "crk.sign", metadata: { session_id: session.id, indexes: session.parts.map((part) => part.index) } });
        return { session: finish({ status: "completed", signature: base64(signature) }), crk };
      } catch (error) {
        if (!isCoded(error, "cheating")) throw error;
        const cheaters = error.details["indexes"] as number[];
        unit.record({ type: "crk.sign", result: "error", metadata: { session_id: session.id, cheaters } });
        return { session: finish({ status: "failed", cheaters }), crk };
      }
    });
    if (outcome.session.status === "failed") {
      throw refusal("SHARE_INVALID", "signature shares were wrong", { indexes: outcome.session.cheaters });
    }
    return view(outcome.session, outcome.crk, now);
  },
};
