import { timestamp } from "@seneschal/core/keys";
import type { CryptoProvider, Random, Vault } from "@seneschal/core/ports";
import {
  type Certificate,
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
  parseCertificate,
} from "@seneschal/crypto/x509";
import { utf8 } from "../bytes.ts";
import type { GatewayUnit } from "../call.ts";
import { vaultName } from "../organizations/kek-name.ts";
import { authorities, rootId } from "./collections.ts";

const VAULT_KEY = "gateway-pki";
const YEAR = 365 * 86_400_000;
const HOUR = 3_600_000;

/** What authorities need. */
export interface AuthorityNeeds {
  readonly vault: Vault;
  readonly crypto: CryptoProvider;
  readonly random: Random;
  readonly instance: string;
}

/** The instance's root CA: made on first use. Clients and servers trust it and nothing else. */
export async function rootAuthority(needs: AuthorityNeeds, unit: GatewayUnit): Promise<Issuer> {
  const known = await load(needs, unit, rootId);
  if (known !== undefined) return known;
  const { now } = unit.call;
  return make(needs, unit, rootId, (signer) =>
    createRoot(needs.crypto, signer, {
      serial: newSerial(needs.random),
      subject: [{ type: "CN", value: `Seneschal root of ${needs.instance}` }],
      notBefore: now - 2 * HOUR,
      notAfter: now + 20 * YEAR,
      pathLength: 1,
    }),
  );
}

/** An organisation's CA, signed by the root: made on first use. It issues leaves only. */
export async function organizationAuthority(needs: AuthorityNeeds, unit: GatewayUnit, org: string): Promise<Issuer> {
  const known = await load(needs, unit, org);
  if (known !== undefined) return known;
  const root = await rootAuthority(needs, unit);
  const { now } = unit.call;
  return make(needs, unit, org, (signer) =>
    issueCertificate(needs.crypto, root, {
      serial: newSerial(needs.random),
      subject: [
        { type: "O", value: org },
        { type: "CN", value: `Seneschal CA ${vaultName(org)}` },
      ],
      publicKey: signer.publicKey,
      notBefore: now - HOUR,
      notAfter: now + 10 * YEAR,
      extensions: { ca: { pathLength: 0 }, keyUsage: ["keyCertSign", "cRLSign"] },
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
