import { checkArgument } from "@seneschal/kernel";
import type { GrpcPeer } from "./serve-grpc.ts";

/** Who calls the data path. `loopback`: a node that was told to trust its loopback. */
export type Caller =
  | { readonly kind: "tenant"; readonly id: string; readonly tenant: string }
  | { readonly kind: "server" | "keyserver" | "admin" | "loopback"; readonly id: string };

/** Why a caller was refused; the label of `store_auth_failures_total`. */
export type CallerRefusal =
  | "certificate_missing"
  | "certificate_expired"
  | "certificate_not_yet_valid"
  | "certificate_untrusted"
  | "certificate_revoked"
  | "revocation_unknown"
  | "organizational_unit"
  | "unknown_tenant"
  | "not_storage_admin"
  | "not_store_server"
  | "handshake";

/**
 * What TLS has against a client certificate, if anything (interface document 3, Authentication, 1 and 2): what is not exactly right is refused.
 *
 * @example
 * ```ts
 * import { handshakeRefusal } from "@seneschal/core/storage";
 * console.log(handshakeRefusal(undefined)); // certificate_missing
 * console.log(handshakeRefusal({ authorized: false, error: "CERT_HAS_EXPIRED" })); // certificate_expired
 * console.log(handshakeRefusal({ authorized: true })); // undefined
 * ```
 */
export function handshakeRefusal(
  certificate: Pick<NonNullable<GrpcPeer["certificate"]>, "authorized" | "error"> | undefined,
): CallerRefusal | undefined {
  if (certificate === undefined) return "certificate_missing";
  checkArgument("certificate", certificate, "object");
  if (certificate.error === "CERT_HAS_EXPIRED") return "certificate_expired";
  if (certificate.error === "CERT_NOT_YET_VALID") return "certificate_not_yet_valid";
  return certificate.authorized ? undefined : "certificate_untrusted";
}

/**
 * What the time has against a certificate, if anything: the verdict of TLS is as old as the connection. Milliseconds.
 *
 * @example
 * ```ts
 * import { validityRefusal } from "@seneschal/core/storage";
 * console.log(validityRefusal({ notBefore: 10, notAfter: 20 }, 21)); // certificate_expired
 * ```
 */
export function validityRefusal(
  validity: { readonly notBefore: number; readonly notAfter: number },
  now: number,
): CallerRefusal | undefined {
  checkArgument("validity", validity, "object");
  checkArgument("now", now, "number");
  if (now > validity.notAfter) return "certificate_expired";
  return now < validity.notBefore ? "certificate_not_yet_valid" : undefined;
}

/**
 * What a caller is told of why it was refused.
 *
 * @example
 * ```ts
 * import { refusalText } from "@seneschal/core/storage";
 * console.log(refusalText("certificate_revoked")); // the certificate is not accepted: certificate revoked
 * ```
 */
export function refusalText(reason: CallerRefusal): string {
  checkArgument("reason", reason, "string");
  return reason === "certificate_missing"
    ? "no certificate came: the client sent none, which many do when theirs is of another CA than the cluster's"
    : `the certificate is not accepted: ${reason.replaceAll("_", " ")}`;
}

const roleUnit = /^(?:store-server|store-keyserver|storage-admin|tenant-.+)$/;

/**
 * Who the bearer of a certificate is, by the one role among its organizational units. `undefined`: it has none, or two, which is a mistake of whoever
 * issued it: it gets neither. Whether a tenant is known is another question.
 *
 * @example
 * ```ts
 * import { callerOf } from "@seneschal/core/storage";
 * console.log(callerOf({ name: "app", units: ["tenant-acme", "backend"] })); // { kind: 'tenant', id: 'app', tenant: 'acme' }
 * console.log(callerOf({ name: "app", units: ["tenant-acme", "storage-admin"] })); // undefined
 * ```
 */
export function callerOf(peer: { readonly name: string; readonly units: readonly string[] }): Caller | undefined {
  checkArgument("peer", peer, "object");
  const [role, ...others] = peer.units.filter((unit) => roleUnit.test(unit));
  if (role === undefined || others.length > 0) return undefined;
  const id = peer.name;
  if (role === "store-server") return { kind: "server", id };
  if (role === "store-keyserver") return { kind: "keyserver", id };
  if (role === "storage-admin") return { kind: "admin", id };
  return { kind: "tenant", id, tenant: role.slice("tenant-".length) };
}

const roles: Readonly<Record<Caller["kind"], string>> = {
  tenant: "tenant",
  server: "store-server",
  keyserver: "store-keyserver",
  admin: "cluster-admin",
  loopback: "loopback",
};

/**
 * A caller as the authorisation policy is asked about it: whose it is, and its one role.
 *
 * @example
 * ```ts
 * import { callerSubject } from "@seneschal/core/storage";
 * console.log(callerSubject({ kind: "admin", id: "ada" }).roles); // [ 'cluster-admin' ]
 * ```
 */
export function callerSubject(caller: Caller): {
  readonly id: string;
  readonly type: Caller["kind"];
  readonly org: string;
  readonly roles: readonly string[];
} {
  checkArgument("caller", caller, "object");
  const org = caller.kind === "tenant" ? caller.tenant : "cluster";
  return { id: caller.id, type: caller.kind, org, roles: [roles[caller.kind]] };
}

/**
 * The tenant whose data a call is about: the one that it names, or a tenant's own where it names none.
 *
 * @example
 * ```ts
 * import { tenantAsked } from "@seneschal/core/storage";
 * console.log(tenantAsked({ kind: "tenant", id: "app", tenant: "acme" }, "")); // acme
 * ```
 */
export function tenantAsked(caller: Caller, named: string): string {
  checkArgument("caller", caller, "object");
  checkArgument("named", named, "string");
  return named === "" && caller.kind === "tenant" ? caller.tenant : named;
}

/**
 * The roles that a certificate has at the admin interface. That of a tenant proves who calls, but opens nothing there.
 *
 * @example
 * ```ts
 * import { adminRolesOf } from "@seneschal/core/storage";
 * console.log(adminRolesOf(["storage-admin"]), adminRolesOf(["tenant-acme"])); // [ 'cluster-admin' ] []
 * ```
 */
export function adminRolesOf(units: readonly string[]): readonly string[] {
  checkArgument("units", units, "array");
  return units.includes("storage-admin") ? ["cluster-admin"] : [];
}
