import { parseCertificates, type SubjectAltName } from "@seneschal/crypto/x509";
import type { PublicKeys, Reader } from "../../ground/index.ts";
import type { StoredFederation } from "../collections.ts";
import { findFederation } from "./find.ts";

/** The public keys that an organisation's federation certificate vouches for, 32 bytes each. */
export interface CertifiedKeys extends PublicKeys {
  /** The customer root key. */
  readonly crk: Uint8Array;
}

const SCHEME = "seneschal:organization-keys:v1:";

/** The keys as a name of the certificate: what a partner pins out of band then needs no further exchange, also without a network. */
export function keysName({ crk, signing, exchange }: CertifiedKeys): SubjectAltName {
  return { kind: "uri", value: SCHEME + Buffer.concat([crk, signing, exchange]).toString("base64url") };
}

/** The keys that the first certificate of a PEM bundle vouches for; `undefined` when it names none. */
export function certifiedKeys(pem: string): CertifiedKeys | undefined {
  const [leaf] = parseCertificates(pem);
  const names = leaf?.extensions.subjectAltNames ?? [];
  const text = names.find(({ kind, value }) => kind === "uri" && value.startsWith(SCHEME))?.value;
  const bytes = new Uint8Array(Buffer.from(text?.slice(SCHEME.length) ?? "", "base64url"));
  if (bytes.length !== 96) return undefined;
  return { crk: bytes.slice(0, 32), signing: bytes.slice(32, 64), exchange: bytes.slice(64) };
}

/** The keys of a partner, as pinned when the federation was established. */
export function keysOfPartner(federation: Pick<StoredFederation, "partner_cert">): CertifiedKeys | undefined {
  return certifiedKeys(federation.partner_cert);
}

/** The keys of an organisation with which another one is actively federated. */
export async function federatedKeys(read: Reader, partner: string, org: string): Promise<CertifiedKeys | undefined> {
  const federation = await findFederation(read, partner, org);
  return federation?.status === "active" ? keysOfPartner(federation) : undefined;
}
