import { milliseconds, timestamp } from "@seneschal/core/keys";
import {
  createRequest,
  decodePrivateKey,
  encodePrivateKey,
  localSigner,
  newPrivateKey,
  type PrivateKey,
  publicKeyOf,
  requestPem,
} from "@seneschal/crypto/x509";
import { bytes, currentCrk, type GatewayUnit, kekName } from "../../ground/index.ts";
import { type FederationIdentity, federationIdentities } from "../collections.ts";
import type { PartnerServices } from "../services.ts";
import { type CertifiedKeys, certifiedKeys, keysName } from "./certified-keys.ts";
import { keyBinding } from "./key.ts";

/** A certificate that ends sooner is replaced when the organisation asks again. */
const RENEW_BEFORE = 30 * 86_400_000;

/** The common name of an organisation's federation key. */
export const federationName = (org: string): string => `federation.${org}`;

/**
 * The organisation's federation key; made on first use, and kept: certificates that partners signed for it stay good. Its own
 * certificate, which vouches for the organisation's other public keys, is replaced when it nears its end. The vault key of the organisation must exist.
 */
export async function ensureIdentity(services: PartnerServices, unit: GatewayUnit, org: string): Promise<FederationIdentity> {
  const { vault, crypto, random, pki, config } = services;
  const { now } = unit.call;
  const known = await unit.get(federationIdentities, org);
  const keys = await vouchedKeys(services, unit, org);
  // What partners pin for our server stands beside what they pin for our signatures.
  const server = await pki.trustAnchor(unit, "servers");
  const fresh = known !== undefined && milliseconds(known.expires_at) - now > RENEW_BEFORE && known.certificate.endsWith(server);
  if (fresh && vouchesFor(known, keys)) return known;

  const key: PrivateKey =
    known === undefined
      ? newPrivateKey(crypto, "p256", random)
      : decodePrivateKey(await vault.decrypt(kekName(org), known.sealed_key, keyBinding(org)));
  const name = federationName(org);
  const subject = [
    { type: "O", value: org },
    { type: "CN", value: name },
  ];
  const record = await pki.issueForKey(
    unit,
    {
      org,
      commonName: name,
      subject: { type: "server", id: name },
      ttl: config.federation.certificate_ttl,
      ...(keys === undefined ? {} : { altNames: [keysName(keys)] }),
    },
    publicKeyOf(crypto, key),
  );
  const at = timestamp(now);
  const identity: FederationIdentity = {
    org_id: org,
    csr: known?.csr ?? requestPem(await createRequest(localSigner(crypto, key), { subject })),
    certificate: record.certificate + record.issuing_ca + server,
    serial_number: record.serial_number,
    expires_at: record.expiration,
    sealed_key: known?.sealed_key ?? (await vault.encrypt(kekName(org), encodePrivateKey(crypto, key), keyBinding(org))),
    created_at: known?.created_at ?? at,
    updated_at: at,
  };
  key.secret.fill(0);
  unit.put(federationIdentities, org, identity);
  return identity;
}

/** The organisation's keys that partners shall know by its certificate; none before it has a root key. */
async function vouchedKeys(services: PartnerServices, unit: GatewayUnit, org: string): Promise<CertifiedKeys | undefined> {
  const crk = await currentCrk(unit, org);
  if (crk === undefined) return undefined;
  return { ...(await services.organizationKeys.publicKeys(unit, org)), crk: bytes(crk.public_key) };
}

function vouchesFor({ certificate }: FederationIdentity, keys: CertifiedKeys | undefined): boolean {
  const named = certifiedKeys(certificate);
  if (named === undefined || keys === undefined) return named === keys;
  return keysName(named).value === keysName(keys).value;
}
