import { encodePem } from "@seneschal/crypto/x509";
import type { Vault } from "@seneschal/kernel/ports";
import { kekName, utf8 } from "../../ground/index.ts";
import type { FederationIdentity } from "../collections.ts";

/** What a sealed federation key is bound to. */
export function keyBinding(org: string): Uint8Array {
  return utf8(`seneschal/federation-key/v1\0${org}`);
}

/** PKCS#8 PEM of an organisation's federation key, for the TLS layer. */
export async function federationKey({ vault }: { readonly vault: Vault }, identity: FederationIdentity): Promise<string> {
  const { org_id: org, sealed_key } = identity;
  return encodePem("PRIVATE KEY", await vault.decrypt(kekName(org), sealed_key, keyBinding(org)));
}
