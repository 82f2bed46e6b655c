import { type Federation, milliseconds, timestamp } from "@seneschal/core/keys";
import {
  createRequest,
  decodePrivateKey,
  encodePrivateKey,
  localSigner,
  newPrivateKey,
  type PrivateKey,
  parseCertificates,
  publicKeyOf,
  requestPem,
  type SubjectAltName,
} from "@seneschal/crypto/x509";
import { bytes, currentCrk, type GatewayUnit, kekName, type PublicKeys, type Reader } from "../../ground/index.ts";
import { type FederationIdentity, federationIdentities } from "../collections.ts";
import type { PartnerServices } from "../services.ts";
import { keyBinding } from "./channel.ts";
import { findFederation } from "./find.ts";

/** The public keys that an organisation's federation certificate vouches for, 32 bytes each. */
export interface CertifiedKeys extends PublicKeys {
  /** The customer root key. */
  readonly crk: Uint8Array;
}

const SCHEME = "seneschal:organization-keys:v1:";

/** The keys as a name of the certificate: what a partner pins out of band then needs no further exchange, also without a network. */
function keysName({ crk, signing, exchange }: CertifiedKeys): SubjectAltName {
  return { kind: "uri", value: SCHEME + Buffer.concat([crk, signing, exchange]).toString("base64url") };
}

/** The keys that the first certificate of a PEM bundle vouches for; `undefined` when it names none. */
function certifiedKeys(pem: string): CertifiedKeys | undefined {
  const [leaf] = parseCertificates(pem);
  const names = leaf?.extensions.subjectAltNames ?? [];
  const text = names.find(({ kind, value }) => kind === "uri" && value.startsWith(SCHEME))?.value;
  const bytes = new Uint8Array(Buffer.from(text?.slice(SCHEME.length) ?? "", "base64url"));
  if (bytes.length !== 96) return undefined;
  return { crk: bytes.slice(0, 32), signing: bytes.slice(32, 64), exchange: bytes.slice(64) };
}

/** The keys of a partner, as pinned when the federation was established. */
export function keysOfPartner(federation: Pick<Federation, "partner_cert">): CertifiedKeys | undefined {
  return certifiedKeys(federation.partner_cert);
}

/** The keys of an organisation with which another one is actively federated. */
export async function federatedKeys(read: Reader, partner: string, org: string): Promise<CertifiedKeys | undefined> {
  const federation = await findFederation(read, partner, org);
  return federation?.status === "active" ? keysOfPartner(federation) : undefined;
}

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
