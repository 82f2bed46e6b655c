import { gatewayContract } from "@seneschal/contract/gateway";
import { refusal, stepFederation } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import type { Call, GatewayUnit } from "../../ground/index.ts";
import { revokeCertificate } from "../../people/index.ts";
import { federations, type StoredFederation } from "../collections.ts";
import type { PartnerServices } from "../services.ts";
import { certificatesOf, pemBase64 } from "./pem.ts";
import { signForPartner } from "./sign-for-partner.ts";

/** A new certificate for the partner's key. The old one stays good until the partner has the new one. */
export async function renewForPartner(
  services: PartnerServices,
  unit: GatewayUnit,
  federation: StoredFederation,
): Promise<{ readonly renewed: StoredFederation; readonly replaced: readonly string[] }> {
  const { now } = unit.call;
  if (federation.status !== "active" || federation.certificate === null) {
    throw refusal("STATE_CONFLICT", "there is no certificate of the partner to renew", { status: federation.status });
  }
  const { publicKey } = certificatesOf("certificate", federation.certificate)[0];
  const signed = await signForPartner(services, unit, federation, publicKey);
  const { state, effects } = stepFederation(federation, { kind: "renew", signed }, now);
  const renewed: StoredFederation = { ...federation, ...state };
  unit.put(federations, renewed.id, renewed);
  const replaced = effects.flatMap((effect) => (effect.kind === "revoke_certificate" ? [effect.serial] : []));
  return { renewed, replaced };
}

/**
 * Brings a new certificate to the partner over the channel and, once it was taken, revokes the ones that it replaces. False
 * when the partner did not take it: the old one stays good, and the new one can be carried by hand.
 */
export async function bringRenewal(
  services: PartnerServices,
  call: Call,
  renewed: StoredFederation,
  replaced: readonly string[],
): Promise<boolean> {
  if (!renewed.outbound_ready || renewed.certificate === null) return false;
  try {
    await services.channels.demand(services.read, renewed, {
      route: gatewayContract.peerCertificate,
      body: { certificate: pemBase64(renewed.certificate) },
    });
  } catch (error) {
    if (!isCoded(error, "FEDERATION_FAILED")) throw error;
    services.log.warn({ federation: renewed.id, reason: error.message }, "the partner did not take its new certificate");
    return false;
  }
  await services.transact(call, async (unit) => {
    for (const serial of replaced) await revokeCertificate(unit, serial);
  });
  return true;
}
