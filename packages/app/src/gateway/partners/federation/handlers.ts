import type { Handlers } from "@seneschal/contract";
import { type GatewayContract, gatewayContract } from "@seneschal/contract/gateway";
import {
  establishFederation,
  type Federation,
  invalidField,
  refusal,
  requireAddress,
  requireEstablishable,
  timestamp,
} from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { claimOf, type EntityReading, every, isLocal, listed, ownOrganization } from "../../ground/index.ts";
import { federationIdentities, federations } from "../collections.ts";
import { standingOf } from "../replication/followers.ts";
import { offerWaiting } from "../replication/offer.ts";
import type { PartnerServices } from "../services.ts";
import { witnessesOf } from "../witnesses.ts";
import { endFederation, takeInCertificate } from "./agreement.ts";
import { useOf } from "./budgets.ts";
import {
  bringRenewal,
  certificatesOf,
  partnerKey,
  pemBase64,
  pinnedBundle,
  renewForPartner,
  signForPartner,
} from "./certificates.ts";
import { findFederation, requireFederation } from "./find.ts";
import { checkPartner, type PartnerHealth } from "./health.ts";
import { ensureIdentity } from "./identity.ts";

/** A federation as callers see it: the certificate that we signed for the partner, ready to be handed over. */
export function federationView(federation: Federation) {
  const { certificate, outbound_certificate, outbound_expires_at } = federation;
  const ends = outbound_certificate === null ? null : (outbound_expires_at ?? endOf(outbound_certificate));
  return { ...federation, outbound_expires_at: ends, certificate: certificate === null ? null : pemBase64(certificate) };
}

/** When the first certificate of a bundle ends. */
function endOf(pem: string): string {
  return timestamp(certificatesOf("certificate", pem)[0].notAfter);
}

type Routes = Pick<
  GatewayContract,
  | "initFederation"
  | "establishFederation"
  | "listFederations"
  | "federationHealth"
  | "getFederation"
  | "revokeFederation"
  | "renewFederationCertificate"
  | "importFederationCertificate"
>;

/** A tag stands for the federation, not for what waits on either side. */
export const federationReading: EntityReading<never> = {
  tagged: (detail: object) => {
    const waiting = new Set(["use", "outbox", "follows", "witnessed_by", "witness_of"]);
    return Object.fromEntries(Object.entries(detail).filter(([name]) => !waiting.has(name)));
  },
};

export const federationHandlers: Handlers<Routes, PartnerServices> = {
  async initFederation(services, { principal, body, now, requestId, request }) {
    const org = ownOrganization(principal, body.org_id);
    await services.organizationKeys.ensureKek(org);
    return services.transact({ principal, now, requestId }, async (unit) => {
      await services.signatures.require(unit, claimOf("federation.init", "", body, request));
      const { csr, certificate, serial_number, expires_at } = await ensureIdentity(services, unit, org);
      const [issuing = ""] = await services.pki.chain(unit, org);
      unit.record({ type: "federation.init", metadata: { serial_number } });
      return {
        org_id: org,
        csr: pemBase64(csr),
        certificate: pemBase64(certificate),
        public_key: pemBase64(issuing),
        serial_number,
        expires_at,
      };
    });
  },

  async establishFederation(services, { principal, body, now, requestId, request }) {
    const { partner_org_id: partner, partner_url, partner_cert, partner_csr } = body;
    if (partner === principal.org) throw invalidField("partner_org_id", "is the caller's own organisation");
    const url = new URL(partner_url);
    const guarded = services.targets.federation.refusal(url);
    requireAddress(url, { field: "partner_url", protocols: ["https:"], path: true, guarded });
    const { pem } = pinnedBundle(services.crypto, partner_cert, partner, now);
    const key = partner_csr === undefined ? undefined : partnerKey(services.crypto, partner_csr, partner);
    await services.organizationKeys.ensureKek(principal.org);
    return services.transact({ principal, now, requestId }, async (unit) => {
      if (await isLocal(unit, partner)) throw refusal("CONFLICT", "an organisation of that id lives on this instance");
      await services.signatures.require(unit, claimOf("federation.establish", partner, body, request));
      const waiting = requireEstablishable(await findFederation(unit, partner, principal.org), key !== undefined);
      const id = waiting?.id ?? services.newId(now);
      const signed = key && (await signForPartner(services, unit, { id, org_id: principal.org, partner_org_id: partner }, key));
      const given = { id, org: principal.org, partner_org_id: partner, partner_url, partner_cert: pem };
      const federation = establishFederation({ ...given, waiting, ...(signed && { signed }) }, now);
      if (waiting === undefined) unit.insert(federations, id, federation);
      else unit.put(federations, id, federation);
      unit.record({
        type: "federation.create",
        metadata: { federation_id: id, partner_org_id: partner, serial_number: federation.serial_number },
      });
      await offerWaiting(services, unit, federation);
      return federationView(federation);
    });
  },

  listFederations: async ({ read }, { principal, query }) =>
    listed("federations", await read.page(federations, "by_org", [principal.org], query), federationView),

  async federationHealth(services, { principal, now }) {
    const checks: Promise<readonly [string, PartnerHealth]>[] = [];
    for await (const federation of every(services, federations, "active", [principal.org])) {
      checks.push(checkPartner(services, federation, now).then((health) => [federation.partner_org_id, health]));
    }
    return { results: Object.fromEntries(await Promise.all(checks)) };
  },

  async getFederation({ read, config }, { principal, params }) {
    const federation = await requireFederation(read, params.partner_id, principal.org);
    const [use, standing, witnesses] = await Promise.all([
      useOf(read, federation),
      standingOf({ read }, federation),
      witnessesOf(read, federation),
    ]);
    return { ...federationView(federation), ...standing, ...witnesses, use: { ...use, budgets: config.federation.budgets } };
  },

  async revokeFederation(services, { principal, params, body, now, requestId, request }) {
    const call = { principal, now, requestId };
    const before = await services.transact(call, async (unit) => {
      const federation = await requireFederation(unit, params.partner_id, principal.org);
      await services.signatures.require(unit, claimOf("federation.revoke", federation.partner_org_id, body, request));
      await endFederation(services, unit, federation, { revokeCertificates: body.revoke_certs });
      return federation;
    });
    if (!body.notify_partner) return;
    // It stands whatever the partner answers. The channel's own certificate is the partner's to revoke.
    const notice = { route: gatewayContract.peerRevocation, body: {} };
    await services.channels.demand(services.read, before, notice).catch((error: unknown) => {
      if (!isCoded(error)) throw error;
      services.log.warn({ federation: before.id, reason: error.message }, "the partner was not told of the revocation");
    });
  },

  async renewFederationCertificate(services, { principal, params, body, now, requestId, request }) {
    const call = { principal, now, requestId };
    const { renewed, replaced } = await services.transact(call, async (unit) => {
      const federation = await requireFederation(unit, params.partner_id, principal.org);
      await services.signatures.require(unit, claimOf("federation.renew-cert", federation.partner_org_id, body, request));
      const renewal = await renewForPartner(services, unit, federation);
      unit.record({
        type: "federation.cert.renew",
        metadata: { federation_id: federation.id, serial_number: renewal.renewed.serial_number },
      });
      return renewal;
    });
    const delivered = await bringRenewal(services, call, renewed, replaced);
    return {
      partner_id: renewed.partner_org_id,
      certificate: pemBase64(renewed.certificate ?? ""),
      serial_number: renewed.serial_number ?? "",
      expires_at: renewed.certificate_expires_at ?? "",
      delivered,
    };
  },

  async importFederationCertificate(services, { principal, body, now, requestId, request }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const federation = await requireFederation(unit, body.partner_org_id, principal.org);
      await services.signatures.require(unit, claimOf("federation.import", federation.partner_org_id, body, request));
      if ((await unit.get(federationIdentities, principal.org)) === undefined) {
        throw refusal("STATE_CONFLICT", "the organisation has no federation key yet");
      }
      const { id } = await takeInCertificate(services, unit, federation, body.certificate);
      unit.record({ type: "federation.cert.import", metadata: { federation_id: id, partner_org_id: body.partner_org_id } });
    });
  },
};
