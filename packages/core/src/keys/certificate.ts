import { checkArgument } from "@seneschal/kernel";
import { invalidField, refusal } from "./codes.ts";

/**
 * Whether a certificate is renewed now: when a third of its life, at most 30 days, is left of it; also when it has ended, since nobody else renews it. All in
 * milliseconds.
 *
 * @example
 * ```ts
 * import { isRenewalDue } from "@seneschal/core/keys";
 * const year = { notBefore: Date.UTC(2026, 0, 1), notAfter: Date.UTC(2027, 0, 1) };
 * console.log(isRenewalDue(year, Date.UTC(2026, 1, 1)), isRenewalDue(year, Date.UTC(2026, 11, 28))); // false true
 * ```
 */
export function isRenewalDue(given: { readonly notBefore: number; readonly notAfter: number }, now: number): boolean {
  checkArgument("given", given, "object");
  checkArgument("now", now, "number");
  const { notBefore, notAfter } = given;
  const left = Math.min((notAfter - notBefore) / 3, 30 * 86_400_000);
  return notAfter - now <= left;
}

/** Whom a certificate stands for. */
export const certificateSubjects = ["admin", "user", "service", "device", "partner", "server"] as const;
export type CertificateSubject = (typeof certificateSubjects)[number];

const owners: Partial<Record<CertificateSubject, string>> = {
  admin: "it ends with its admin: disable, delete or renew through /api/v1/identities/admins/{id}",
  partner: "it ends with its federation: DELETE /api/v1/federation/{partnerId}",
};

/**
 * A certificate that is the right of an admin or of a partner ends with that right, by the rules for it (who may, the last super admin,
 * the root key's signature), and on no other road. Throws `FORBIDDEN`.
 *
 * @example
 * ```ts
 * import { requireRevocable } from "@seneschal/core/keys";
 * requireRevocable("device");
 * try {
 *   requireRevocable("admin");
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // FORBIDDEN
 * }
 * ```
 */
export function requireRevocable(subject: CertificateSubject): void {
  const owner = owners[subject];
  if (owner !== undefined) throw refusal("FORBIDDEN", `the certificate is not revoked by its serial: ${owner}`, { subject });
}

/** The names that count when a certificate is asked for. DNS names in lower case, addresses in their one spelling. */
export interface NamesOfInstance {
  /** Under which the instance itself is reached. Nobody gets a certificate for them. */
  readonly own: readonly string[];
  /** What the operator gave each organisation's servers: `host`, `.domain` for everything below it, an address. */
  readonly given: Readonly<Record<string, readonly string[]>>;
}

/**
 * Whether an organisation may have a certificate under a name. The names of the instance and of the machine are never given, nor those that mean something to the
 * gateway itself; a server's name was given by the operator, a client's may be any other. Throws `FORBIDDEN`, `VALIDATION_ERROR`.
 *
 * @example
 * ```ts
 * import { requireCertifiableName } from "@seneschal/core/keys";
 * const names = { own: ["gateway.acme.example"], given: { globex: ["globex.example"] } };
 * requireCertifiableName(names, { org: "globex", usage: "server", name: "globex.example", field: "dns_names" });
 * try {
 *   requireCertifiableName(names, { org: "globex", usage: "server", name: "gateway.acme.example", field: "dns_names" });
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // FORBIDDEN
 * }
 * ```
 */
export function requireCertifiableName(
  input: NamesOfInstance,
  asked: { readonly org: string; readonly usage: "client" | "server"; readonly name: string; readonly field: string },
): void {
  checkArgument("input", input, "object");
  checkArgument("asked", asked, "object");
  const { own, given } = input;
  const name = asked.name.toLowerCase().replace(/\.$/, "");
  const { field, org } = asked;
  if (name.endsWith(".internal.local") || name === "internal.local") throw invalidField(field, "is reserved for services");
  if (name.startsWith("federation.")) throw invalidField(field, "is reserved for federation");
  if (isOfThisMachine(name) || own.some((other) => overlap(name, other.toLowerCase()))) {
    throw refusal("FORBIDDEN", `${name} is a name of this instance: certificates for it are not issued to organisations`, {
      field,
    });
  }
  if (asked.usage === "client") return;
  const mine = Object.hasOwn(given, org) ? (given[org] ?? []) : [];
  if (!mine.some((entry) => covers(entry.toLowerCase(), name))) {
    const reason = "the organisation was not given this name for a server: the operator names it in pki.server_names";
    throw refusal("FORBIDDEN", reason, { field });
  }
}

function isOfThisMachine(name: string): boolean {
  return (
    ["localhost", "*.localhost", "0.0.0.0", "::", "::1"].includes(name) ||
    name.endsWith(".localhost") ||
    /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/.test(name) ||
    /^::ffff:(?:7f[0-9a-f]{2}:[0-9a-f]{1,4}|0:0)$/.test(name)
  );
}

/** Whether an entry holds a name: itself, or with a leading dot everything below it, wildcards too. */
function covers(entry: string, name: string): boolean {
  return entry.startsWith(".") ? name.endsWith(entry) && name.length > entry.length : name === entry;
}

/** Whether two names can stand for one host. A wildcard stands for one label. */
function overlap(one: string, other: string): boolean {
  return one === other || wildcardHolds(one, other) || wildcardHolds(other, one);
}

function wildcardHolds(wildcard: string, name: string): boolean {
  return wildcard.startsWith("*.") && name.slice(name.indexOf(".")) === wildcard.slice(1) && name.includes(".");
}
