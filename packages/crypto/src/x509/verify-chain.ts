import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { bytesEqual } from "../bytes.ts";
import { type Certificate, isSignedBy } from "./certificate.ts";
import { keyIdsFit, type Purpose } from "./extensions.ts";
import { namesArePermitted } from "./name-constraints.ts";
import { OID } from "./oids.ts";

/** Why a certificate is not accepted. `serial` names the certificate in question. */
export type ChainRefusal =
  | "untrusted"
  | "signature_invalid"
  | "expired"
  | "not_yet_valid"
  | "revoked"
  | "wrong_purpose"
  | "not_a_ca"
  | "path_too_long"
  | "critical_extension"
  /** A CA where an end entity was expected. */
  | "not_an_end_entity"
  /** A name that a CA above may not certify, or constraints where none may stand. */
  | "name_not_permitted";

export type ChainDecision =
  /** From the leaf to the trusted root. */
  | { readonly valid: true; readonly chain: readonly Certificate[] }
  | { readonly valid: false; readonly reason: ChainRefusal; readonly serial: string };

export interface ChainOptions {
  readonly intermediates?: readonly Certificate[];
  readonly roots: readonly Certificate[];
  /** Milliseconds. */
  readonly now: number;
  readonly purpose?: Purpose;
  /** Asked for every certificate but the root. Throw to fail closed when revocation data is missing or stale. */
  readonly isRevoked?: (certificate: Certificate) => boolean;
}

const MAX_DEPTH = 8;
/** A peer may send many intermediates that all sign each other: the search ends here, not when it is done. */
const MAX_SIGNATURES = 50;

/**
 * Builds and judges a chain from an end entity to one of the roots (RFC 5280 section 6, without policies; name constraints hold
 * whatever their critical flag; a critical extension that is not understood refuses the chain). Purposes of CAs limit what is
 * below them, as browsers and OpenSSL read them. The answer is a value; when no chain holds, the reason of
 * the one that came furthest.
 */
export function verifyChain(provider: CryptoProvider, leaf: Certificate, options: ChainOptions): ChainDecision {
  checkOptions("options", options, {
    intermediates: "array?",
    roots: "array",
    now: "number",
    purpose: ["clientAuth", "ocspSigning", "serverAuth", undefined],
    isRevoked: "function?",
  });
  checkArgument("provider", provider, "object");
  checkArgument("leaf", leaf, "object");
  let signatures = 0;
  let best: { readonly depth: number; readonly decision: ChainDecision } = { depth: -1, decision: refusal("untrusted", leaf) };
  const fail = (depth: number, reason: ChainRefusal, certificate: Certificate): void => {
    if (depth > best.depth) best = { depth, decision: refusal(reason, certificate) };
  };

  const climb = (path: readonly Certificate[]): readonly Certificate[] | undefined => {
    const child = path[path.length - 1] ?? leaf;
    const depth = path.length;
    const problem = judge(child, path, options);
    if (problem !== undefined) {
      fail(depth, problem, child);
      return undefined;
    }
    const anchor = options.roots.find((root) => bytesEqual(root.der, child.der));
    if (anchor !== undefined) {
      if (namesArePermitted(path)) return path;
      fail(depth, "name_not_permitted", leaf);
      return undefined;
    }
    if (depth >= MAX_DEPTH) return undefined;
    for (const parent of [...options.roots, ...(options.intermediates ?? [])]) {
      if (path.includes(parent) || !isNamedIssuer(parent, child)) continue;
      if (++signatures > MAX_SIGNATURES) return undefined;
      if (!isSignedBy(provider, child, parent.publicKey)) {
        fail(depth, "signature_invalid", child);
        continue;
      }
      const whole = climb([...path, parent]);
      if (whole !== undefined) return whole;
    }
    fail(depth, "untrusted", child);
    return undefined;
  };

  const chain = climb([leaf]);
  return chain === undefined ? best.decision : { valid: true, chain };
}

/** Whether a certificate names another one as its issuer: by name, and by key identifier where both have one. No signature is checked. */
export function isNamedIssuer(parent: Certificate, child: Certificate): boolean {
  checkArgument("parent", parent, "object");
  checkArgument("child", child, "object");
  return (
    bytesEqual(parent.subjectDer, child.issuerDer) && keyIdsFit(child.extensions.authorityKeyId, parent.extensions.subjectKeyId)
  );
}

/** What is wrong with the last certificate of a path on its own place. */
function judge(certificate: Certificate, path: readonly Certificate[], options: ChainOptions): ChainRefusal | undefined {
  const { extensions } = certificate;
  if (options.now < certificate.notBefore) return "not_yet_valid";
  if (options.now > certificate.notAfter) return "expired";
  if (extensions.unknownCritical.length > 0) return "critical_extension";
  const isRoot = options.roots.some((root) => bytesEqual(root.der, certificate.der));
  if (!isRoot && options.isRevoked?.(certificate) === true) return "revoked";
  if (path.length === 1 && (extensions.ca !== undefined || extensions.keyUsage?.includes("keyCertSign") === true)) {
    return "not_an_end_entity";
  }
  const { purpose } = options;
  if (purpose !== undefined && !allows(certificate, purpose, path.length === 1)) return "wrong_purpose";
  if (path.length === 1) return extensions.nameConstraints === undefined ? undefined : "name_not_permitted";
  if (extensions.ca === undefined || extensions.keyUsage?.includes("keyCertSign") === false) return "not_a_ca";
  // Intermediates between this one and the leaf; self-issued ones do not count (RFC 5280 4.2.1.9).
  const below = path.slice(1, -1).filter((c) => !bytesEqual(c.subjectDer, c.issuerDer)).length;
  if (extensions.ca.pathLength !== undefined && below > extensions.ca.pathLength) return "path_too_long";
  return undefined;
}

/** An end entity names its purpose; a CA without a list of purposes does not limit what is below it, one with a list does. */
function allows(certificate: Certificate, purpose: Purpose, isLeaf: boolean): boolean {
  const list = certificate.extensions.extendedKeyUsage;
  if (list === undefined) return !isLeaf;
  return list.includes(purpose) || (!isLeaf && list.includes(OID.anyExtendedKeyUsage));
}

function refusal(reason: ChainRefusal, certificate: Certificate): ChainDecision {
  return { valid: false, reason, serial: certificate.serialText };
}
