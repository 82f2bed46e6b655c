import { readFile } from "node:fs/promises";
import {
  type Certificate,
  decodePem,
  isNamedIssuer,
  isSignedBy,
  parseCertificate,
  parseCertificates,
  parseRevocationList,
  type RevocationList,
  verifyRevocationList,
} from "@seneschal/crypto/x509";
import { CodedError, checkOptions } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { boundedBody } from "../http/bounded-body.ts";
import { type CertificateIdentity, untrusted } from "./verify-peer.ts";

export interface RevocationOptions {
  /** `https:`, `http:` or `file:`; PEM with any number of lists, or one in DER. Lists are signed, so that http does no harm. */
  readonly url: string;
  /** The trusted CAs, PEM: every one on the way from a client's certificate to its root, each of which needs a list. */
  readonly trustedCa: string;
  readonly now: () => number;
  readonly provider: CryptoProvider;
  /** Serials (colon hex) that a new list added, so that their live connections can be dropped. */
  readonly onRevoked?: (serials: readonly string[]) => void;
}

/** Which certificates are revoked, by signed lists. Fails closed. */
export interface Revocations {
  /**
   * Whether the certificate or a CA above it is revoked. Throws `certificate_untrusted` when it cannot be known: an issuer that is not
   * among the trusted CAs, one without a list, a list whose time is over or has not come.
   */
  isRevoked(identity: Pick<CertificateIdentity, "der">): boolean;
  /** Throws `revocation_list_invalid` while certificates are refused because there is no list, or one is out of date. */
  requireInForce(): void;
  /**
   * Fetches the lists now. Throws `revocation_list_invalid` or what fetching threw; then nothing has changed: the lists of before stay in
   * force until their time is over.
   */
  refresh(): Promise<void>;
}

const MAX_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 10_000;
const MAX_DEPTH = 8;
/** The clock of whoever signed a list may be a little ahead. */
const SKEW_MS = 60_000;

/**
 * Revocation lists, fetched whenever they are refreshed. A list counts if one of the trusted CAs signed it, and if it is not older than the one in
 * force: an attacker who replays yesterday's list revives nobody. Before the first fetch that succeeds everybody is untrusted.
 */
export function openRevocations(options: RevocationOptions): Revocations {
  checkOptions("options", options, {
    url: "string",
    trustedCa: "string",
    now: "function",
    provider: "object",
    onRevoked: "function?",
  });
  const { url, now, provider, onRevoked } = options;
  const authorities = parseCertificates(options.trustedCa);
  let lists: ReadonlyMap<string, RevocationList> = new Map();

  /** A list is its signer's: two CAs may have one name, and one CA two certificates. */
  const keyOf = ({ subjectDer, publicKey }: Certificate): string =>
    `${Buffer.from(subjectDer).toString("hex")}:${Buffer.from(publicKey.spki).toString("hex")}`;
  const roots = new Set(authorities.filter((authority) => isSignedBy(provider, authority, authority.publicKey)));
  const issuers = new WeakMap<Uint8Array, readonly Certificate[]>();

  /** The trusted CAs that signed a certificate: remembered for the life of its connection. They have one key, as it verified. */
  function issuersOf(certificate: Certificate): readonly Certificate[] {
    const known = issuers.get(certificate.der);
    if (known !== undefined) return known;
    const found = authorities.filter(
      (authority) => isNamedIssuer(authority, certificate) && isSignedBy(provider, certificate, authority.publicKey),
    );
    issuers.set(certificate.der, found);
    return found;
  }

  /** Why a list says nothing at this moment. */
  function defect({ thisUpdate, nextUpdate }: RevocationList): string | undefined {
    if (nextUpdate === undefined) return "it does not say until when it holds";
    if (nextUpdate < now()) return "its time is over";
    if (thisUpdate > now() + SKEW_MS) return "it is of the future";
    return undefined;
  }

  async function refresh(): Promise<void> {
    const next = new Map(lists);
    const added: string[] = [];
    for (const list of parseLists(await fetchBytes(url))) {
      const signer = authorities.find((authority) => verifyRevocationList(provider, list, authority));
      if (signer === undefined) throw invalid("no trusted CA signed it");
      if (list.deltaBase !== undefined) throw invalid("delta lists are not supported");
      const reason = defect(list);
      if (reason !== undefined) throw invalid(reason);
      const before = next.get(keyOf(signer));
      if (before !== undefined && list.number < before.number) throw invalid("it is older than the one in force");
      for (const serial of list.entries.keys()) if (before?.entries.has(serial) !== true) added.push(serial);
      next.set(keyOf(signer), list);
    }
    lists = next;
    if (added.length > 0) onRevoked?.(added);
  }

  /** For a certificate and, unless its issuer is a root, for the CAs above it. One way up that holds is enough. */
  function isRevokedBelow(certificate: Certificate, depth: number): boolean {
    const above = issuersOf(certificate);
    const [issuer] = above;
    const list = issuer === undefined ? undefined : lists.get(keyOf(issuer));
    if (list === undefined || depth > MAX_DEPTH) throw untrusted("revocation is not known");
    if (defect(list) !== undefined) throw untrusted("the revocation list is out of date");
    if (list.entries.has(certificate.serialText)) return true;
    return above.every((ca) => !roots.has(ca) && isRevokedBelow(ca, depth + 1));
  }

  return {
    isRevoked: ({ der }) => isRevokedBelow(parsedOf(der), 1),
    requireInForce() {
      if (lists.size === 0) throw invalid("there is none in force");
      for (const list of lists.values()) {
        const reason = defect(list);
        if (reason !== undefined) throw invalid(reason);
      }
    },
    refresh,
  };
}

const parsed = new WeakMap<Uint8Array, Certificate>();

function parsedOf(der: Uint8Array): Certificate {
  const known = parsed.get(der);
  if (known !== undefined) return known;
  try {
    const certificate = parseCertificate(der);
    parsed.set(der, certificate);
    return certificate;
  } catch {
    throw untrusted("malformed");
  }
}

function invalid(reason: string): CodedError {
  return new CodedError("revocation_list_invalid", `the revocation list is not accepted: ${reason}`);
}

function parseLists(bytes: Uint8Array): readonly RevocationList[] {
  const text = Buffer.from(bytes).toString("latin1");
  const ders = text.includes("-----BEGIN") ? decodePem("X509 CRL", text) : [bytes];
  if (ders.length === 0) throw invalid("there is none in the file");
  return ders.map((der) => parseRevocationList(der));
}

async function fetchBytes(url: string): Promise<Uint8Array> {
  if (url.startsWith("file:")) return readFile(new URL(url));
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
  if (!response.ok || response.body === null) throw new Error(`the revocation list is not there: status ${response.status}`);
  return boundedBody(response, MAX_BYTES, () => invalid("it is too large"));
}
