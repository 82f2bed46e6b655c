import type { Handlers, Principal } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  createSigningSession,
  invalidField,
  notFound,
  refusal,
  signingSessionStatus,
  stepSigningSession,
} from "@seneschal/core/keys";
import { bodyHash, readSigned } from "@seneschal/crypto/signing";
import { newSigningRound } from "@seneschal/crypto/threshold";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import { base64, bytes, crks, type Reader, requireCrk, type StoredCrk } from "../ground/index.ts";
import { activeHolders, asKnownNow, holderCalling } from "../people/index.ts";
import { type SigningSession, signingSessions } from "./collections.ts";
import { holdsOffice } from "./office.ts";
import type { CustodyServices } from "./services.ts";

type Routes = Pick<
  GatewayContract,
  "startSigningSession" | "getSigningSession" | "commitToSigningSession" | "signInSigningSession" | "aggregateSigningSession"
>;

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
    status: signingSessionStatus(session, now),
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

export const signingSessionHandlers: Handlers<Routes, CustodyServices> = {
  async startSigningSession(services, { principal, body, now, requestId }) {
    requireShown(bytes(body.data), body.body);
    return services.transact({ principal, now, requestId }, async (unit) => {
      const crk = await requireCrk(unit, principal.org);
      const id = services.newId(now);
      const facts = { id, org: principal.org, by: principal.id, key: crk };
      const session: SigningSession = {
        ...createSigningSession(facts, now, services.config.lifetimes.ceremony),
        round: newSigningRound({ setId: bytes(crk.material.set_id), epoch: crk.material.epoch }, id, bytes(body.data)),
        ...(body.body === undefined ? {} : { body: body.body }),
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
      const commitment = { index, hiding: base64(bytes(body.hiding)), binding: base64(bytes(body.binding)) };
      const seats = await asKnownNow(unit, principal.org, session.seats ?? []);
      const holder = await holderCalling(unit, principal);
      const next = stepSigningSession(session, { kind: "commit", commitment, holder, seats }, crk, now);
      if (!(await services.threshold.acceptsCommitment(crk.material, session.commitments, commitment, principal.org))) {
        throw refusal("SHARE_INVALID", `the commitment of custodian ${index} is not valid`, { indexes: [index] });
      }
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
      const part = { index, share: base64(bytes(body.share)) };
      const holder = await holderCalling(unit, principal);
      const next = stepSigningSession(session, { kind: "sign", part, holder }, crk, now);
      const metadata = { session_id: session.id, operation: "sign", event: "signed", index };
      if (
        !(await services.threshold.acceptsSignatureShare(crk.material, session.round, session.commitments, part, principal.org))
      ) {
        unit.record({ type: "crk.ceremony", result: "denied", metadata });
        return undefined;
      }
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
      const { seats = [], parts } = session;
      const active = await activeHolders(unit, principal.org, seats);
      const completed = stepSigningSession(session, { kind: "complete", active }, crk, now);
      const signature = await services.threshold.aggregateSignature(
        crk.material,
        session.round,
        session.commitments,
        parts,
        principal.org,
      );
      const next: SigningSession = { ...completed, signature: base64(signature) };
      unit.put(signingSessions, session.id, next);
      unit.record({ type: "crk.sign", metadata: { session_id: session.id, indexes: parts.map(({ index }) => index) } });
      return view(next, crk, now);
    });
  },
};
