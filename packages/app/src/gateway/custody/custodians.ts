import type { Handlers, Principal } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  confirmCustodian,
  enrollCustodian,
  type Holder,
  invalidField,
  notFound,
  refusal,
  revokeCustodian,
  shareCard,
} from "@seneschal/core/keys";
import { type CustodianCard, cardFingerprint, readCard } from "@seneschal/crypto/custody";
import { isCoded } from "@seneschal/kernel";
import { findOwn, type GatewayUnit, listed, type Reader } from "../ground/index.ts";
import { activeHolders, holderCalling, personCalling, personNamed, personOf } from "../people/index.ts";
import { custodians, type StoredCustodian } from "./collections.ts";
import { holdsOffice } from "./office.ts";
import type { CustodyServices } from "./services.ts";

type Routes = Pick<
  GatewayContract,
  "enrollCustodian" | "listCustodians" | "getCustodian" | "confirmCustodian" | "shareCustodianCard" | "revokeCustodian"
>;

function custodianView(custodian: StoredCustodian) {
  const confirmations = custodian.confirmations.map(({ emails: _, ...confirmation }) => confirmation);
  return Object.assign({ partners: [] }, custodian, { confirmations });
}

const find = (read: Reader, id: string, org: string) => findOwn(read, custodians, id, org, "custodian");

/** Whom the caller sees: who holds the organisation's key is nobody's business who has no part in it. */
async function visible(read: Reader, principal: Principal): Promise<{ readonly all: boolean; readonly own: string }> {
  const holder = await holderCalling(read, principal);
  const own = holder === undefined ? undefined : await enrolledAs(read, principal.org, holder.identity_id);
  return { all: holdsOffice(principal) || own?.status === "active", own: holder?.identity_id ?? principal.id };
}

/** A custodian whom the caller sees: to whoever does not it is as one that there is not. Throws `NOT_FOUND`. */
async function findSeen(read: Reader, id: string, principal: Principal): Promise<StoredCustodian> {
  const custodian = await find(read, id, principal.org);
  const { all, own } = await visible(read, principal);
  if (!all && custodian.identity_id !== own) throw notFound("custodian");
  return custodian;
}

/** The caller, who must be somebody who can hold a share. */
export async function requireHolder(read: Reader, principal: Principal): Promise<Holder> {
  const holder = await holderCalling(read, principal);
  if (holder === undefined) {
    throw refusal("FORBIDDEN", "a custodian is a registered, active admin or user of the organisation");
  }
  return holder;
}

/** The card of a body, which must be the caller's own. */
function ownCard({ crypto }: CustodyServices, value: unknown, { org }: Principal, holder: Holder): CustodianCard {
  let card: CustodianCard;
  try {
    card = readCard(crypto, value);
  } catch (error) {
    if (!isCoded(error, "custody_invalid")) throw error;
    throw invalidField("card", error.details["reason"] === "proof" ? "a proof of possession does not hold" : "is malformed");
  }
  if (card.org_id !== org) throw invalidField("card.org_id", "is not the caller's organisation");
  if (card.custodian_id !== holder.identity_id) throw invalidField("card.custodian_id", "is not the caller's identity");
  return card;
}

/** Enrolments by their ids, and which of them do not count now: not confirmed, revoked, or of somebody who is not registered and active. */
export async function activeCustodians(
  read: Reader,
  org: string,
  ids: readonly string[],
): Promise<{ readonly found: ReadonlyMap<string, StoredCustodian>; readonly gone: ReadonlySet<string> }> {
  const found = await Promise.all([...new Set(ids)].map((id) => find(read, id, org)));
  const active = new Set(await activeHolders(read, org, found));
  const gone = found.filter(({ status, identity_id }) => status !== "active" || !active.has(identity_id));
  return { found: new Map(found.map((custodian) => [custodian.id, custodian])), gone: new Set(gone.map(({ id }) => id)) };
}

/** What is refused because of custodians who have left. */
export function custodiansLeft(gone: Iterable<string>): Error {
  return refusal(
    "STATE_CONFLICT",
    "the keys of a custodian do not count any more, or their holder is no active identity: end the ceremony and begin another without them",
    { custodians: [...gone] },
  );
}

/** Throws `STATE_CONFLICT` unless every one of these enrolments counts now. */
export async function requireActiveCustodians(unit: GatewayUnit, ids: readonly string[]): Promise<void> {
  const { gone } = await activeCustodians(unit, unit.call.principal.org, ids);
  if (gone.size > 0) throw custodiansLeft(gone);
}

/** The enrolment of a person, unless it was revoked. */
export async function enrolledAs(read: Reader, org: string, identity: string): Promise<StoredCustodian | undefined> {
  const [custodian] = await read.list(custodians, "by_identity", [org, identity], { limit: 1 });
  return custodian;
}

/** The card of a person who lets this organisation have it, whose keys count and who is registered and active. */
export async function sharedCard(
  read: Reader,
  org: string,
  partner: string,
  identity: string,
): Promise<CustodianCard | undefined> {
  const enrolled = await enrolledAs(read, org, identity);
  if (enrolled?.status !== "active" || enrolled.partners?.includes(partner) !== true) return undefined;
  return (await activeHolders(read, org, [enrolled])).includes(identity) ? enrolled.card : undefined;
}

export const custodianHandlers: Handlers<Routes, CustodyServices> = {
  async enrollCustodian(services, { principal, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const holder = await requireHolder(unit, principal);
      const card = ownCard(services, body.card, principal, holder);
      const { identity_id, identity_type, name } = holder;
      const fingerprint = cardFingerprint(services.crypto, card);
      const id = services.newId(now);
      const enrolled = enrollCustodian({ id, org_id: principal.org, identity_id, identity_type, name, fingerprint }, now);
      const custodian: StoredCustodian = { ...enrolled, card };
      unit.insert(custodians, id, custodian);
      unit.record({ type: "custodian.enroll", metadata: { custodian_id: id, identity_id, fingerprint } });
      return custodianView(custodian);
    });
  },

  /** Who administers, and custodians whose keys count, list all; anybody else their own. */
  async listCustodians({ read }, { principal, query }) {
    const { all, own } = await visible(read, principal);
    const page = all
      ? await read.page(custodians, "by_org", [principal.org], query)
      : await read.page(custodians, "by_identity", [principal.org, own], query);
    return listed("custodians", page, custodianView);
  },

  async getCustodian({ read }, { principal, params }) {
    return custodianView(await findSeen(read, params.id, principal));
  },

  async confirmCustodian(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const custodian = await find(unit, params.id, principal.org);
      const { identity_id } = await requireHolder(unit, principal);
      const before = await Promise.all(
        custodian.confirmations.map(({ identity_id: id, emails }) =>
          personOf(unit, principal.org, { id, emails, accounts: "named" }),
        ),
      );
      const confirmed = confirmCustodian(
        custodian,
        {
          by: await personCalling(unit, principal),
          holder: await personNamed(unit, principal.org, custodian.identity_id),
          before,
          fingerprint: body.fingerprint,
        },
        now,
      );
      const stored: StoredCustodian = { ...confirmed, card: custodian.card };
      unit.put(custodians, custodian.id, stored);
      unit.record({
        type: "custodian.confirm",
        metadata: { custodian_id: custodian.id, fingerprint: custodian.fingerprint, by: identity_id, status: stored.status },
      });
      return custodianView(stored);
    });
  },

  async shareCustodianCard(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const custodian = await findSeen(unit, params.id, principal);
      const { identity_id } = await requireHolder(unit, principal);
      const shared = shareCard(custodian, { by: identity_id, partners: body.partners }, now);
      const stored: StoredCustodian = { ...shared, card: custodian.card };
      unit.put(custodians, custodian.id, stored);
      const partners = [...(shared.partners ?? [])];
      unit.record({ type: "custodian.share", metadata: { custodian_id: custodian.id, identity_id, partners } });
      return custodianView(stored);
    });
  },

  async revokeCustodian(services, { principal, params, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const custodian = await findSeen(unit, params.id, principal);
      const office = principal.roles.some((role) => role === "super_admin" || role === "security_admin");
      const holder = await holderCalling(unit, principal);
      if (!office && holder?.identity_id !== custodian.identity_id) {
        throw refusal("FORBIDDEN", "the keys are another custodian's");
      }
      const stored: StoredCustodian = { ...revokeCustodian(custodian, principal.id, now), card: custodian.card };
      unit.put(custodians, custodian.id, stored);
      unit.record({
        type: "custodian.revoke",
        metadata: { custodian_id: custodian.id, identity_id: custodian.identity_id, fingerprint: custodian.fingerprint },
      });
      return custodianView(stored);
    });
  },
};
