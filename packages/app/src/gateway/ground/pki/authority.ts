import { timestamp } from "@seneschal/core/keys";
import {
  type Certificate,
  type CertificateExtensions,
  certificatePem,
  createRoot,
  decodePrivateKey,
  encodePrivateKey,
  type Issuer,
  issueCertificate,
  localSigner,
  newPrivateKey,
  newSerial,
  type PrivateKey,
  type PublicKey,
  parseCertificate,
  parseCertificates,
} from "@seneschal/crypto/x509";
import type { CryptoProvider, Random, Vault } from "@seneschal/kernel/ports";
import { utf8 } from "../../../platform/bytes.ts";
import type { GatewayUnit } from "../call.ts";
import { vaultName } from "../organization-keys.ts";
import { authorities, type InstanceAuthority, instanceAuthorities } from "./collections.ts";

/** Where what an authority revoked can be asked, as it goes into the certificates that it issues. */
export type RevocationAddresses = (authority: string) => Pick<CertificateExtensions, "crlUrls" | "ocspUrls">;

const ids = Object.entries(instanceAuthorities) as readonly [InstanceAuthority, string][];

/** Addresses below the instance's public one; without it certificates name none. */
export function revocationAddresses(publicUrl: string | undefined): RevocationAddresses {
  if (publicUrl === undefined) return () => ({});
  const base = `${publicUrl.replace(/\/+$/, "")}/api/v1`;
  return (authority) => {
    const [own] = ids.find(([, id]) => id === authority) ?? [];
    const org = encodeURIComponent(authority);
    if (own === undefined) return { crlUrls: [`${base}/crl/${org}`], ocspUrls: [`${base}/ocsp/${org}`] };
    const crlUrls = [`${base}/pki/${own}/crl`];
    return own === "servers" ? { crlUrls, ocspUrls: [`${base}/pki/servers/ocsp`] } : { crlUrls };
  };
}

const VAULT_KEY = "gateway-pki";
const YEAR = 365 * 86_400_000;
const HOUR = 3_600_000;

const LOCAL_NAMES = [
  { kind: "dns", value: "localhost" },
  { kind: "ip", value: "127.0.0.0/8" },
  { kind: "ip", value: "::1/128" },
] as const;

/** What authorities need. */
export interface AuthorityNeeds {
  readonly vault: Vault;
  readonly crypto: CryptoProvider;
  readonly random: Random;
  readonly instance: string;
  readonly addresses: RevocationAddresses;
}

/** The root above the organisations' CAs, made on first use: servers verify clients against it and nothing else. */
function clientRoot(needs: AuthorityNeeds, unit: GatewayUnit): Promise<Issuer> {
  return selfSigned(needs, unit, instanceAuthorities.clients, `Seneschal root of ${needs.instance}`, 1);
}

/**
 * The CA of server certificates, made on first use: clients verify servers against it and nothing else, so that no
 * organisation's CA can name a server. Stores of 0.1 have only the root for clients, which then signed servers too.
 */
function serverAuthority(needs: AuthorityNeeds, unit: GatewayUnit): Promise<Issuer> {
  return selfSigned(needs, unit, instanceAuthorities.servers, `Seneschal server CA of ${needs.instance}`, 0);
}

/** One of the instance's own authorities. */
export function instanceAuthority(needs: AuthorityNeeds, unit: GatewayUnit, authority: InstanceAuthority): Promise<Issuer> {
  return (authority === "clients" ? clientRoot : serverAuthority)(needs, unit);
}

/**
 * An organisation's CA, signed by the root for clients: made on first use. It issues leaves only, for clients only, and never
 * under a name of the machine that it runs on.
 */
export async function organizationAuthority(needs: AuthorityNeeds, unit: GatewayUnit, org: string): Promise<Issuer> {
  const known = await load(needs, unit, org);
  if (known !== undefined) return known;
  const root = await clientRoot(needs, unit);
  return make(needs, unit, org, (signer) => certifyOrganization(needs, root, { org, key: signer.publicKey, now: unit.call.now }));
}

/** What the root for clients says of an organisation's CA. */
export function certifyOrganization(
  { crypto, random, addresses }: AuthorityNeeds,
  root: Issuer,
  { org, key, now }: { readonly org: string; readonly key: PublicKey; readonly now: number },
): Promise<Certificate> {
  return issueCertificate(crypto, root, {
    serial: newSerial(random),
    subject: [
      { type: "O", value: org },
      { type: "CN", value: `Seneschal CA ${vaultName(org)}` },
    ],
    publicKey: key,
    notBefore: now - HOUR,
    notAfter: now + 10 * YEAR,
    extensions: {
      ca: { pathLength: 0 },
      keyUsage: ["keyCertSign", "cRLSign"],
      extendedKeyUsage: ["clientAuth"],
      nameConstraints: { excluded: LOCAL_NAMES },
      ...addresses(instanceAuthorities.clients),
    },
  });
}

/**
 * What is presented behind what one of the instance's own authorities signed: its own certificate or, while every one of them holds, the certificate that
 * another CA gave it and those up to that one's root.
 */
export async function presentedChain(
  needs: AuthorityNeeds,
  unit: GatewayUnit,
  authority: InstanceAuthority,
): Promise<readonly Certificate[]> {
  const stored = await unit.get(authorities, instanceAuthorities[authority]);
  if (stored === undefined) return [(await instanceAuthority(needs, unit, authority)).certificate];
  const crossed = stored.cross_signed === undefined ? [] : parseCertificates(stored.cross_signed);
  const { now } = unit.call;
  const holds = crossed.length > 0 && crossed.every(({ notBefore, notAfter }) => notBefore <= now && now < notAfter);
  return holds ? crossed : [parseCertificate(stored.certificate)];
}

async function selfSigned(
  needs: AuthorityNeeds,
  unit: GatewayUnit,
  id: string,
  name: string,
  pathLength: number,
): Promise<Issuer> {
  const known = await load(needs, unit, id);
  if (known !== undefined) return known;
  const { now } = unit.call;
  return make(needs, unit, id, (signer) =>
    createRoot(needs.crypto, signer, {
      serial: newSerial(needs.random),
      subject: [{ type: "CN", value: name }],
      notBefore: now - 2 * HOUR,
      notAfter: now + 20 * YEAR,
      pathLength,
    }),
  );
}

const aad = (id: string): Uint8Array => utf8(`seneschal/authority/v1\0${id}`);

async function load({ vault, crypto }: AuthorityNeeds, unit: GatewayUnit, id: string): Promise<Issuer | undefined> {
  const stored = await unit.get(authorities, id);
  if (stored === undefined) return undefined;
  const der = await vault.decrypt(VAULT_KEY, stored.sealed_key, aad(id));
  return { certificate: parseCertificate(stored.certificate), signer: localSigner(crypto, decodePrivateKey(der)) };
}

async function make(
  { vault, crypto, random }: AuthorityNeeds,
  unit: GatewayUnit,
  id: string,
  certify: (signer: ReturnType<typeof localSigner>) => Promise<Certificate>,
): Promise<Issuer> {
  if ((await vault.keyInfo(VAULT_KEY)) === undefined) await vault.createKey(VAULT_KEY);
  const key: PrivateKey = newPrivateKey(crypto, "p256", random);
  const signer = localSigner(crypto, key);
  const certificate = await certify(signer);
  unit.insert(authorities, id, {
    id,
    certificate: certificatePem(certificate),
    sealed_key: await vault.encrypt(VAULT_KEY, encodePrivateKey(crypto, key), aad(id)),
    created_at: timestamp(unit.call.now),
  });
  return { certificate, signer };
}
