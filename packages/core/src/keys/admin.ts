import { checkArgument } from "@seneschal/kernel";
import { refusal } from "./codes.ts";
import type { AdminRole } from "./enums.ts";
import { type Timestamp, timestamp } from "./time.ts";
import { nextStatus, type Step, type TransitionTable, to, wrongState } from "./transition.ts";

export const enrollmentStatuses = ["pending", "active", "disabled"] as const;
export type EnrollmentStatus = (typeof enrollmentStatuses)[number];

/** A person who administers an organisation. */
export interface Admin {
  readonly id: string;
  readonly org_id: string;
  readonly email: string;
  readonly name: string;
  readonly role: AdminRole;
  readonly mfa_enabled: boolean;
  readonly enrollment_status: EnrollmentStatus;
  readonly is_bootstrap: boolean;
  readonly cert_serial: string | null;
  readonly cert_cn: string | null;
  readonly cert_expiry: Timestamp | null;
  readonly created_by: string | null;
  readonly last_login_at: Timestamp | null;
  readonly created_at: Timestamp;
  readonly updated_at: Timestamp;
}

export type AdminInput =
  | { readonly kind: "enroll"; readonly serial: string; readonly cn: string; readonly expiry: Timestamp }
  | { readonly kind: "disable" }
  | { readonly kind: "enable" }
  | { readonly kind: "reset" }
  | { readonly kind: "delete" }
  | { readonly kind: "edit"; readonly email?: string; readonly name?: string; readonly role?: AdminRole };

/** `revoke_certificate` names the serial that must stop working at once. */
export type AdminEffect =
  | { readonly kind: "revoke_certificate"; readonly serial: string }
  | { readonly kind: "void_tokens" }
  | { readonly kind: "void_approvals" }
  | { readonly kind: "issue_enrollment_token" };

/** `delete` keeps the status here; the caller removes the record. */
export const adminTable: TransitionTable<EnrollmentStatus, AdminInput["kind"]> = {
  pending: {
    enroll: to("active"),
    disable: to("disabled"),
    enable: to("pending"),
    reset: to("pending"),
    delete: to("pending"),
    edit: to("pending"),
  },
  active: {
    enroll: wrongState,
    disable: to("disabled"),
    enable: to("active"),
    reset: to("pending"),
    delete: to("active"),
    edit: to("active"),
  },
  disabled: {
    enroll: wrongState,
    disable: to("disabled"),
    enable: to("pending"),
    reset: wrongState,
    delete: to("disabled"),
    edit: to("disabled"),
  },
};

export interface AdminNew {
  readonly id: string;
  readonly org: string;
  readonly email: string;
  readonly name: string;
  readonly role: AdminRole;
  readonly by: string | null;
  readonly bootstrap: boolean;
}

/**
 * An admin who has yet to enrol: the caller hands out an enrolment token.
 *
 * @example
 * ```ts
 * import { createAdmin } from "@seneschal/core/keys";
 * const input = { id: "ada", org: "acme", email: "ada@acme.example", name: "Ada", role: "super_admin", by: null, bootstrap: true } as const;
 * console.log(createAdmin(input, 0).effects); // [ { kind: 'issue_enrollment_token' } ]
 * ```
 */
export function createAdmin(input: AdminNew, now: number): Step<Admin, AdminEffect> {
  checkArgument("input", input, "object");
  checkArgument("now", now, "number");
  const at = timestamp(now);
  const state: Admin = {
    id: input.id,
    org_id: input.org,
    email: input.email,
    name: input.name,
    role: input.role,
    mfa_enabled: false,
    enrollment_status: "pending",
    is_bootstrap: input.bootstrap,
    cert_serial: null,
    cert_cn: null,
    cert_expiry: null,
    created_by: input.by,
    last_login_at: null,
    created_at: at,
    updated_at: at,
  };
  return { state, effects: [{ kind: "issue_enrollment_token" }] };
}

/**
 * One step. `activeSuperAdmins` counts the organisation's active super admins, this one included where it is one: the
 * last cannot be disabled, demoted or deleted (`LAST_ADMIN`). A quorum of custodians may reset it: it can enrol again.
 *
 * @example
 * ```ts
 * import { createAdmin, stepAdmin } from "@seneschal/core/keys";
 * const input = { id: "ada", org: "acme", email: "ada@acme.example", name: "Ada", role: "auditor", by: null, bootstrap: false } as const;
 * const certificate = { serial: "01", cn: "ada", expiry: "2027-01-01T00:00:00.000Z" };
 * const enrolled = stepAdmin(createAdmin(input, 0).state, { kind: "enroll", ...certificate }, 1, 0).state;
 * console.log(stepAdmin(enrolled, { kind: "disable" }, 1, 1).effects[0]); // { kind: 'revoke_certificate', serial: '01' }
 * ```
 */
export function stepAdmin(admin: Admin, input: AdminInput, activeSuperAdmins: number, now: number): Step<Admin, AdminEffect> {
  checkArgument("admin", admin, "object");
  checkArgument("input", input, "object");
  checkArgument("activeSuperAdmins", activeSuperAdmins, "number");
  checkArgument("now", now, "number");
  const status = nextStatus("admin", adminTable, admin.enrollment_status, input.kind);
  const lastOne = isActiveSuperAdmin(admin) && activeSuperAdmins <= 1;
  const steppingDown =
    input.kind === "disable" ||
    input.kind === "delete" ||
    (input.kind === "edit" && input.role !== undefined && input.role !== "super_admin");
  if (lastOne && steppingDown) throw refusal("LAST_ADMIN", "the organisation's last active super_admin must stay");
  const next: Admin = { ...admin, enrollment_status: status, updated_at: timestamp(now) };
  const withoutRights: readonly AdminEffect[] = [
    ...(admin.cert_serial === null ? [] : [{ kind: "revoke_certificate" as const, serial: admin.cert_serial }]),
    { kind: "void_tokens" },
    { kind: "void_approvals" },
  ];
  switch (input.kind) {
    case "enroll":
      return { state: { ...next, cert_serial: input.serial, cert_cn: input.cn, cert_expiry: input.expiry }, effects: [] };
    case "disable":
      return admin.enrollment_status === "disabled" ? { state: admin, effects: [] } : { state: next, effects: withoutRights };
    case "enable":
      return admin.enrollment_status === "disabled"
        ? {
            state: { ...next, cert_serial: null, cert_cn: null, cert_expiry: null },
            effects: [{ kind: "issue_enrollment_token" }],
          }
        : { state: admin, effects: [] };
    case "reset":
      return {
        state: { ...next, mfa_enabled: false, cert_serial: null, cert_cn: null, cert_expiry: null },
        effects: [...withoutRights, { kind: "issue_enrollment_token" }],
      };
    case "delete":
      return { state: next, effects: withoutRights };
    case "edit":
      return {
        state: {
          ...next,
          email: input.email ?? admin.email,
          name: input.name ?? admin.name,
          role: input.role ?? admin.role,
        },
        effects: [],
      };
    default:
      return input satisfies never;
  }
}

/**
 * Counts for {@link stepAdmin}'s guard: enrolled, not disabled, with the highest role.
 *
 * @example
 * ```ts
 * import { createAdmin, isActiveSuperAdmin } from "@seneschal/core/keys";
 * const input = { id: "ada", org: "acme", email: "ada@acme.example", name: "Ada", role: "super_admin", by: null, bootstrap: true } as const;
 * console.log(isActiveSuperAdmin(createAdmin(input, 0).state)); // false
 * ```
 */
export function isActiveSuperAdmin(admin: Admin): boolean {
  checkArgument("admin", admin, "object");
  return admin.role === "super_admin" && admin.enrollment_status === "active";
}
