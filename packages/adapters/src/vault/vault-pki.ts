import { parseCertificates, parseRequest, parseSerial, serialText } from "@seneschal/crypto/x509";
import { demandSuccess, type VaultAnswer, type VaultConnection } from "./vault-connection.ts";
import { vaultError } from "./vault-error.ts";

/** What the PKI engine answers for a new certificate; PEM texts end with a line break. `expiration` is milliseconds. */
export interface IssuedByVault {
  readonly certificate: string;
  readonly issuingCa: string;
  readonly caChain: readonly string[];
  /** Colon-separated lower-case hex. */
  readonly serial: string;
  readonly expiration: number;
}

/** What a certificate is asked for. The role on the server decides what it may be. */
export interface VaultCertificateWish {
  readonly commonName: string;
  readonly dnsNames?: readonly string[];
  readonly ips?: readonly string[];
  readonly uris?: readonly string[];
  readonly ttlSeconds?: number;
}

/** The PKI engine of a Vault or OpenBao server. */
export interface VaultPki {
  /**
   * Signs a PEM request under a role. A role takes the common name from the request, not from the wish, unless it says otherwise
   * (`use_csr_common_name`), so a request that names another than the wish is not sent at all. For its other names to come from the
   * wish a role needs `use_csr_sans=false`. Throws `vault_invalid`: two names, or what the server says that the role does not allow.
   */
  sign(role: string, csr: string, wish: VaultCertificateWish): Promise<IssuedByVault>;
  /** Makes key and certificate on the server; the key comes back once. */
  issue(role: string, wish: VaultCertificateWish): Promise<IssuedByVault & { readonly privateKey: string }>;
  /** Milliseconds of the revocation; repeating gives the first time. Throws `key_not_found` for an unknown serial. */
  revoke(serial: string): Promise<number>;
  /** PEM and the time of revocation, if any. Absent: `undefined`. */
  certificate(serial: string): Promise<{ readonly certificate: string; readonly revokedAt?: number } | undefined>;
  /** Serials of everything issued. */
  serials(): Promise<readonly string[]>;
  /** PEM of the issuing CA and what is above it. */
  caChain(): Promise<string>;
  /** The current revocation list, DER. */
  revocationList(): Promise<Uint8Array>;
  /** Asks the server to forget certificates that expired longer ago than the buffer. Runs in the background there. */
  tidy(safetyBufferSeconds: number): Promise<void>;
}

/** A {@link VaultPki} over a connection. `sign-verbatim` is not offered: it ignores every limit of a role. */
export function vaultPki(connection: VaultConnection, mount = "pki"): VaultPki {
  const wishBody = (wish: VaultCertificateWish) => ({
    common_name: wish.commonName,
    ...(wish.dnsNames === undefined ? {} : { alt_names: wish.dnsNames.join(",") }),
    ...(wish.ips === undefined ? {} : { ip_sans: wish.ips.join(",") }),
    ...(wish.uris === undefined ? {} : { uri_sans: wish.uris.join(",") }),
    ...(wish.ttlSeconds === undefined ? {} : { ttl: `${wish.ttlSeconds}s` }),
  });
  const make = async (path: string, body: object): Promise<VaultAnswer> => {
    const answer = await connection.call("POST", `${mount}/${path}`, body);
    if (answer.status === 400) throw vaultError("vault_invalid", answer.errors[0] ?? "refused", { reason: "pki" });
    return demandSuccess(answer);
  };

  return {
    async sign(role, csr, wish) {
      assertNames(csr, wish.commonName);
      return issuedOf(await make(`sign/${segment(role)}`, { csr, ...wishBody(wish) }));
    },
    async issue(role, wish) {
      const answer = await make(`issue/${segment(role)}`, wishBody(wish));
      return { ...issuedOf(answer), privateKey: pem(answer.data["private_key"]) };
    },
    async revoke(serial) {
      const answer = await connection.call("POST", `${mount}/revoke`, { serial_number: colonHex(serial) });
      if (answer.status === 404 || (answer.status === 400 && /not found/.test(answer.errors.join()))) {
        throw vaultError("key_not_found", "no such certificate", { serial });
      }
      return Number(demandSuccess(answer).data["revocation_time"]) * 1000;
    },
    async certificate(serial) {
      const answer = await connection.call("GET", `${mount}/cert/${colonHex(serial)}`);
      if (answer.status === 404) return undefined;
      const { data } = demandSuccess(answer);
      const revokedAt = Number(data["revocation_time"] ?? 0) * 1000;
      return { certificate: pem(data["certificate"]), ...(revokedAt > 0 ? { revokedAt } : {}) };
    },
    serials: async () => (await connection.list(`${mount}/certs`)).map(colonHex),
    async caChain() {
      const text = demandSuccess(await connection.call("GET", `${mount}/ca_chain`)).raw.toString();
      parseCertificates(text);
      return text.endsWith("\n") ? text : `${text}\n`;
    },
    revocationList: async () => new Uint8Array(demandSuccess(await connection.call("GET", `${mount}/crl`)).raw),
    async tidy(safetyBufferSeconds) {
      await make("tidy", { tidy_cert_store: true, tidy_revoked_certs: true, safety_buffer: `${safetyBufferSeconds}s` });
    },
  };
}

function assertNames(csr: string, commonName: string): void {
  const named = parseRequest(csr).subject.filter(({ type }) => type === "CN");
  if (named.some(({ value }) => value !== commonName))
    throw vaultError("vault_invalid", "the request names another than the wish", { reason: "common_name" });
}

function issuedOf({ data }: VaultAnswer): IssuedByVault {
  return {
    certificate: pem(data["certificate"]),
    issuingCa: pem(data["issuing_ca"]),
    caChain: ((data["ca_chain"] ?? []) as readonly unknown[]).map(pem),
    serial: colonHex(String(data["serial_number"])),
    expiration: Number(data["expiration"]) * 1000,
  };
}

/** The server cuts the last line break, which breaks joined chains. */
function pem(value: unknown): string {
  return `${String(value).trimEnd()}\n`;
}

function colonHex(serial: string): string {
  return serialText(parseSerial(serial));
}

function segment(role: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(role)) throw vaultError("vault_invalid", "not a role name", { reason: "role" });
  return role;
}
