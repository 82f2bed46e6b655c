import type { CertificateExtensions } from "@seneschal/crypto/x509";
import { type InstanceAuthority, instanceAuthorities } from "./collections.ts";

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
