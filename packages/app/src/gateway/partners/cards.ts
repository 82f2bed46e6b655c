import type { Handlers } from "@seneschal/contract";
import { type GatewayContract, gatewayContract } from "@seneschal/contract/gateway";
import { notFound, refusal, seeCard } from "@seneschal/core/keys";
import { type CardStatement, cardFingerprint, readCardStatement, stateCard } from "@seneschal/crypto/custody";
import { isCoded } from "@seneschal/kernel";
import { requireHolder, sharedCard } from "../custody/index.ts";
import { base64, type Call, type GatewayUnit, isLocal } from "../ground/index.ts";
import { type SeenCards, seenCards, seenCardsId } from "./collections.ts";
import { federationOfCaller, findFederation, requireActive } from "./federation/find.ts";
import { keysOfPartner } from "./federation/identity.ts";
import { judged } from "./federation/judged.ts";
import type { PartnerServices } from "./services.ts";

type Routes = Pick<GatewayContract, "partnerCard" | "peerCard">;

/** A statement of the card of a person of ours who has agreed that the partner gets it. Throws `NOT_FOUND` for anybody else. */
async function statementFor(
  services: PartnerServices,
  unit: GatewayUnit,
  { org, partner, identity }: { readonly org: string; readonly partner: string; readonly identity: string },
): Promise<CardStatement> {
  const card = await sharedCard(unit, org, partner, identity);
  if (card === undefined) throw notFound("card");
  const at = Math.floor(unit.call.now / 1000);
  return stateCard(card, { forOrg: partner, at }, (message) => services.organizationKeys.sign(unit, org, message));
}

interface Stated {
  readonly statement: CardStatement;
  /** Under which it was verified: of the pinned certificate, or this instance's own for an organisation that lives here. */
  readonly signingKey: Uint8Array;
}

/** An organisation of this instance says it here. */
function fromHere(services: PartnerServices, call: Call, partner: string, identity: string): Promise<Stated> {
  const org = call.principal.org;
  return services.transact(call, async (unit) => {
    const { signing } = await services.organizationKeys.publicKeys(unit, partner);
    return { statement: await statementFor(services, unit, { org: partner, partner: org, identity }), signingKey: signing };
  });
}

/** A partner's gateway is asked. What it answers is held against the key of its pinned certificate, and told of when it does not hold. */
async function fromPartner(services: PartnerServices, call: Call, partner: string, identity: string): Promise<Stated> {
  const { org } = call.principal;
  // An organisation that one has no part with is as unknown as its people.
  if ((await findFederation(services.read, partner, org)) === undefined) throw notFound("card");
  const federation = await requireActive(services.read, partner, org);
  const signingKey = keysOfPartner(federation)?.signing;
  const body = { identity_id: identity };
  const answer = await services.channels.call(services.read, federation, { route: gatewayContract.peerCard, body });
  if (answer.status === 404) throw notFound("card");
  try {
    if (answer.body === undefined || signingKey === undefined) throw refusal("FEDERATION_FAILED", "the partner gave no card");
    const at = Math.floor(call.now / 1000);
    const expected = { signingKey, org: partner, forOrg: org, identity, at };
    return { statement: readCardStatement(services.crypto, answer.body.statement, expected), signingKey };
  } catch (error) {
    const reason = isCoded(error, "custody_invalid") ? String(error.details["reason"]) : (answer.code ?? "unreadable");
    await services.refusals.note(services, federation, "card", reason, { identity_id: identity });
    throw refusal("FEDERATION_FAILED", `the partner's statement of the card does not hold: ${reason}`, { reason });
  }
}

export const cardHandlers: Handlers<Routes, PartnerServices> = {
  async partnerCard(services, { principal, params, now, requestId }) {
    const { org_id: partner, identity_id: identity } = params;
    const { org } = principal;
    const call = { principal, now, requestId };
    await requireHolder(services.read, principal);
    const own = partner === org || (await isLocal(services.read, partner));
    const { statement, signingKey } = await (own ? fromHere : fromPartner)(services, call, partner, identity);
    const fingerprint = cardFingerprint(services.crypto, statement.card);
    const other = await services.transact(call, async (unit) => {
      const id = seenCardsId(org, partner, identity);
      const before = await unit.get(seenCards, id);
      const known = before?.seen ?? [];
      const sight = seeCard(known, { fingerprint, statement }, now);
      if (sight.keep === undefined) return sight.other;
      const doc: SeenCards = { org_id: org, partner_org_id: partner, identity_id: identity, seen: sight.keep };
      if (before === undefined) unit.insert(seenCards, id, doc);
      else unit.put(seenCards, id, doc);
      unit.record({
        type: "federation.card",
        ...(sight.result && { result: sight.result }),
        metadata: { partner_org_id: partner, identity_id: identity, fingerprint, known: known.map((one) => one.fingerprint) },
      });
      return sight.other;
    });
    return { fingerprint, statement, signing_key: base64(signingKey), other };
  },

  peerCard: (services, { principal, body, now, requestId }) =>
    judged(services, { principal, now, requestId }, "card", {}, (call) =>
      services.transact(call, async (unit) => {
        const { org_id: org, partner_org_id: partner } = await federationOfCaller(unit, principal);
        return { statement: await statementFor(services, unit, { org, partner, identity: body.identity_id }) };
      }),
    ),
};
