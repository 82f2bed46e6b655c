import { checkArgument } from "@seneschal/kernel";
import { isPast, milliseconds, type Timestamp, timestamp } from "./time.ts";

export const serviceAuthMethods = ["role_credential", "orchestrator", "cert"] as const;
export type ServiceAuthMethod = (typeof serviceAuthMethods)[number];

/** What a service proves itself with. Secrets are kept by their hash only. `valid_until` null: in force; what was rotated out is valid until then. */
export type ServiceCredential =
  | { readonly kind: "secret"; readonly hash: string; readonly valid_until: Timestamp | null }
  | { readonly kind: "certificate"; readonly serial_number: string; readonly valid_until: Timestamp | null }
  /** Tokens of the orchestrator that were issued from `issued_from` on, or before the next one's. */
  | { readonly kind: "service_account"; readonly issued_from: Timestamp; readonly valid_until: Timestamp | null };

/** A machine's own identity. */
export interface ServiceIdentity {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly description: string;
  readonly auth_method: ServiceAuthMethod;
  readonly active: boolean;
  readonly last_auth_at: Timestamp | null;
  /** Newest first. */
  readonly credentials: readonly ServiceCredential[];
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

/**
 * A service without the credentials that are over by now, and the serials of their certificates, which are revoked.
 *
 * @example
 * ```ts
 * import { retireCredentials } from "@seneschal/core/keys";
 * const at = "2026-01-01T00:00:00.000Z";
 * const credentials = [{ kind: "certificate", serial_number: "01", valid_until: at }] as const;
 * const service = { id: "s1", org_id: "acme", name: "etl", description: "", auth_method: "cert", active: true, last_auth_at: null } as const;
 * console.log(retireCredentials({ ...service, credentials, created_at: at, updated_at: at }, Date.UTC(2026, 0, 2)).revoked); // [ '01' ]
 * ```
 */
export function retireCredentials(
  service: ServiceIdentity,
  now: number,
): { readonly service: ServiceIdentity; readonly revoked: readonly string[] } {
  checkArgument("service", service, "object");
  checkArgument("now", now, "number");
  const over = service.credentials.filter(({ valid_until }) => isPast(valid_until, now));
  const credentials = service.credentials.filter((one) => !over.includes(one));
  const revoked = over.flatMap((one) => (one.kind === "certificate" ? [one.serial_number] : []));
  return { service: { ...service, credentials }, revoked };
}

/**
 * Puts a new credential in force. Those before it stay good beside it for `overlap` milliseconds, and no longer than they were; what is over is retired.
 *
 * @example
 * ```ts
 * import { rotateCredentials } from "@seneschal/core/keys";
 * const at = "2026-01-01T00:00:00.000Z";
 * const [old, fresh] = ["01", "02"].map((serial_number) => ({ kind: "certificate", serial_number, valid_until: null }) as const);
 * const service = { id: "s1", org_id: "acme", name: "etl", description: "", auth_method: "cert", active: true, last_auth_at: null } as const;
 * if (old && fresh) {
 *   const rotated = rotateCredentials({ ...service, credentials: [old], created_at: at, updated_at: at }, fresh, 3_600_000, Date.UTC(2026, 0, 2));
 *   console.log(rotated.previous_valid_until, rotated.service.credentials.length); // 2026-01-02T01:00:00.000Z 2
 * }
 * ```
 */
export function rotateCredentials(
  service: ServiceIdentity,
  fresh: ServiceCredential,
  overlap: number,
  now: number,
): ReturnType<typeof retireCredentials> & { readonly previous_valid_until: Timestamp } {
  checkArgument("service", service, "object");
  checkArgument("fresh", fresh, "object");
  checkArgument("overlap", overlap, "number");
  checkArgument("now", now, "number");
  const until = timestamp(now + overlap);
  const before = service.credentials.map((old) => ({ ...old, valid_until: old.valid_until ?? until }));
  const rotated = { ...service, credentials: [fresh, ...before], updated_at: timestamp(now) };
  return { ...retireCredentials(rotated, now), previous_valid_until: until };
}

/**
 * Whether a service may be known by a token of the orchestrator that was issued at `issuedAt`: not by one from before a rotation. Issue times are whole seconds.
 *
 * @example
 * ```ts
 * import { acceptsServiceAccount } from "@seneschal/core/keys";
 * const at = "2026-01-01T00:00:00.000Z";
 * const credentials = [{ kind: "service_account", issued_from: at, valid_until: null }] as const;
 * const service = { id: "s1", org_id: "acme", name: "etl", description: "", auth_method: "orchestrator", active: true, last_auth_at: null } as const;
 * const known = { ...service, credentials, created_at: at, updated_at: at };
 * console.log([Date.UTC(2025, 0, 1), Date.UTC(2026, 1, 1)].map((issued) => acceptsServiceAccount(known, issued, Date.UTC(2026, 1, 2)))); // [ false, true ]
 * ```
 */
export function acceptsServiceAccount(service: ServiceIdentity, issuedAt: number, now: number): boolean {
  checkArgument("service", service, "object");
  checkArgument("issuedAt", issuedAt, "number");
  checkArgument("now", now, "number");
  const fits = (one: ServiceCredential): boolean =>
    one.kind === "service_account" &&
    !isPast(one.valid_until, now) &&
    issuedAt >= Math.floor(milliseconds(one.issued_from) / 1000) * 1000;
  return service.active && service.credentials.some(fits);
}
