import { readFile } from "node:fs/promises";
import { CodedError } from "@seneschal/core";
import type { CryptoProvider } from "@seneschal/core/ports";
import {
  decodePem,
  parseCertificates,
  parseRevocationList,
  type RevocationList,
  verifyRevocationList,
} from "@seneschal/crypto/x509";
import { type CertificateIdentity, untrusted } from "./verify-peer.ts";

export interface RevocationOptions {
  /** `https:`, `http:` or `file:`; PEM with any number of lists, or one in DER. Lists are signed, so that http does no harm. */
  readonly url: string;
  /** The trusted CAs, PEM. Every one that issues clients needs a list. */
  readonly trustedCa: string;
  readonly refreshMs: number;
  readonly now: () => number;
  readonly provider: CryptoProvider;
  /** Serials (colon hex) that a new list added, so that their live connections can be dropped. */
  readonly onRevoked?: (serials: readonly string[]) => void;
  /** A refresh that failed; the lists of before stay in force until their time is over. */
  readonly onFailure: (error: unknown) => void;
}

/** Which certificates are revoked, by signed lists. Fails closed. */
export interface Revocations {
  /** Throws `certificate_untrusted` when it cannot be known: no list of the issuer, or its time is over. */
  isRevoked(identity: Pick<CertificateIdentity, "serial" | "issuerId">): boolean;
  /** Throws `revocation_list_invalid` while certificates are refused because there is no list, or one is out of date. */
  requireInForce(): void;
  /** Fetches the lists now. Throws `revocation_list_invalid` or what fetching threw; then nothing has changed. */
  refresh(): Promise<void>;
  /** Stops refreshing. */
  close(): void;
}

const MAX_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 10_000;

/**
 * Opens the lists and refreshes them. A list counts if one of the trusted CAs signed it, and if it is not older than the one in
 * force: an attacker who replays yesterday's list revives nobody. A first fetch that fails leaves everybody untrusted until a
 * later one succeeds.
 */
export async function openRevocations(options: RevocationOptions): Promise<Revocations> {
  const { url, refreshMs, now, provider, onRevoked, onFailure } = options;
  const authorities = parseCertificates(options.trustedCa);
  let lists: ReadonlyMap<string, RevocationList> = new Map();

  async function refresh(): Promise<void> {
    const next = new Map(lists);
    const added: string[] = [];
    for (const list of parseLists(await fetchBytes(url))) {
      if (!authorities.some((authority) => verifyRevocationList(provider, list, authority)))
        throw invalid("no trusted CA signed it");
      if (list.deltaBase !== undefined) throw invalid("delta lists are not supported");
      if (list.nextUpdate !== undefined && list.nextUpdate < now()) throw invalid("its time is over");
      const issuerId = Buffer.from(list.issuerDer).toString("hex");
      const before = next.get(issuerId);
      if (before !== undefined && list.number < before.number) throw invalid("it is older than the one in force");
      for (const serial of list.entries.keys()) if (before?.entries.has(serial) !== true) added.push(serial);
      next.set(issuerId, list);
    }
    lists = next;
    if (added.length > 0) onRevoked?.(added);
  }

  const attempt = (): Promise<void> => refresh().catch(onFailure);
  await attempt();
  const timer = setInterval(() => void attempt(), refreshMs).unref();

  return {
    isRevoked({ serial, issuerId }) {
      const list = lists.get(issuerId);
      if (list === undefined) throw untrusted("revocation is not known");
      if (list.nextUpdate !== undefined && list.nextUpdate < now()) throw untrusted("the revocation list is out of date");
      return list.entries.has(serial);
    },
    requireInForce() {
      if (lists.size === 0) throw invalid("there is none in force");
      for (const { nextUpdate } of lists.values())
        if (nextUpdate !== undefined && nextUpdate < now()) throw invalid("its time is over");
    },
    refresh,
    close: () => clearInterval(timer),
  };
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
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw invalid("it is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
