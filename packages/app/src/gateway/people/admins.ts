import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { type Admin, type AdminEffect, createAdmin, isActiveSuperAdmin, refusal, stepAdmin } from "@seneschal/core/keys";
import { parseCertificate } from "@seneschal/crypto/x509";
import { certificates, findOwn, type GatewayUnit, listed, type Reader } from "../ground/index.ts";
import { revokeCertificate, revokeCertificatesOf } from "./certificates.ts";
import { admins, mfaFactors, voidApprovals } from "./collections.ts";
import { issueEnrollmentToken, voidEnrollmentTokens } from "./enrollment-tokens.ts";
import { forgetIdentity } from "./identities.ts";
import { checkMfa, provisionMfa } from "./mfa.ts";
import type { PeopleServices } from "./services.ts";

/** Does what a step of an admin asks for. Answers the enrolment token when one was issued; it is shown once. */
export async function carryOutAdmin(
  services: PeopleServices,
  unit: GatewayUnit,
  admin: { readonly id: string; readonly org_id: string },
  effects: readonly AdminEffect[],
): Promise<string | undefined> {
  let token: string | undefined;
  for (const effect of effects) {
    switch (effect.kind) {
      case "revoke_certificate":
        await revokeCertificate(unit, effect.serial);
        await revokeCertificatesOf(unit, admin.org_id, { subject_type: "admin", subject_id: admin.id });
        break;
      case "void_tokens":
        await voidEnrollmentTokens(unit, admin.id);
        break;
      case "void_approvals":
        await voidApprovals(unit, admin.org_id, admin.id);
        break;
      case "issue_enrollment_token":
        token = await issueEnrollmentToken(services, unit, admin);
        break;
      default:
        effect satisfies never;
    }
  }
  return token;
}

/** An admin of the organisation; another one's does not exist. */
export const findAdmin = (read: Reader, id: string, org: string) => findOwn(read, admins, id, org, "admin");

/**
 * How many active super admins the organisation has, at most two are counted. Each one counted is read one by one, so
 * that two who disable each other at the same moment cannot both succeed.
 */
export async function countSuperAdmins(read: Reader, org: string): Promise<number> {
  let count = 0;
  for (const { id } of await read.list(admins, "active_super", [org], { limit: 10 })) {
    const admin = await read.get(admins, id);
    if (admin !== undefined && isActiveSuperAdmin(admin)) count++;
    if (count === 2) break;
  }
  return count;
}

/** An admin as callers see it. `active` is what the interface's PUT takes. */
export function adminView(admin: Admin) {
  return { ...admin, active: admin.enrollment_status !== "disabled" };
}

type Routes = Pick<
  GatewayContract,
  "createAdmin" | "listAdmins" | "getAdmin" | "updateAdmin" | "deleteAdmin" | "enableMfa" | "verifyMfa" | "renewAdminCertificate"
>;

/** A second factor is one's own: whoever else could turn it on would hold the secret. */
function requireSelf(principal: { readonly id: string }, id: string): void {
  if (principal.id !== id) throw refusal("FORBIDDEN", "a second factor is set up by its owner");
}

export const adminHandlers: Handlers<Routes, PeopleServices> = {
  async createAdmin(services, { principal, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const { state, effects } = createAdmin(
        { id: services.newId(now), org: principal.org, ...body, by: principal.id, bootstrap: false },
        now,
      );
      unit.insert(admins, state.id, state);
      const enrollment_token = (await carryOutAdmin(services, unit, state, effects)) ?? "";
      unit.record({ type: "admin.create", metadata: { admin_id: state.id, role: state.role } });
      return { ...adminView(state), enrollment_token };
    });
  },

  listAdmins: async ({ read }, { principal, query }) =>
    listed("admins", await read.page(admins, "by_org", [principal.org], query), adminView),

  async getAdmin({ read }, { principal, params }) {
    return adminView(await findAdmin(read, params.id, principal.org));
  },

  async updateAdmin(services, { principal, params, body, now, requestId }) {
    const { active, email, name, role } = body;
    const edit = {
      ...(email === undefined ? {} : { email }),
      ...(name === undefined ? {} : { name }),
      ...(role === undefined ? {} : { role }),
    };
    return services.transact({ principal, now, requestId }, async (unit) => {
      let admin = await findAdmin(unit, params.id, principal.org);
      const supers = await countSuperAdmins(unit, principal.org);
      let token: string | undefined;
      const step = async (input: Parameters<typeof stepAdmin>[1]): Promise<void> => {
        const { state, effects } = stepAdmin(admin, input, supers, now);
        token = (await carryOutAdmin(services, unit, state, effects)) ?? token;
        admin = state;
      };
      if (Object.keys(edit).length > 0) {
        await step({ kind: "edit", ...edit });
        unit.record({ type: "admin.update", metadata: { admin_id: admin.id, fields: Object.keys(edit) } });
      }
      if (active === false) {
        await step({ kind: "disable" });
        unit.record({ type: "admin.disable", metadata: { admin_id: admin.id } });
      }
      if (active === true) {
        await step({ kind: "enable" });
        unit.record({ type: "admin.update", metadata: { admin_id: admin.id, fields: ["active"] } });
      }
      unit.put(admins, admin.id, admin);
      return { ...adminView(admin), ...(token === undefined ? {} : { enrollment_token: token }) };
    });
  },

  async deleteAdmin(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const admin = await findAdmin(unit, params.id, principal.org);
      const supers = await countSuperAdmins(unit, principal.org);
      const { state, effects } = stepAdmin(admin, { kind: "delete" }, supers, now);
      await carryOutAdmin(services, unit, state, effects);
      await forgetIdentity(services, unit, principal.org, admin.id);
      if ((await unit.get(mfaFactors, admin.id)) !== undefined) unit.delete(mfaFactors, admin.id);
      unit.delete(admins, admin.id);
      unit.record({ type: "admin.delete", metadata: { admin_id: admin.id } });
    });
  },

  async enableMfa(services, { principal, params, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const admin = await findAdmin(unit, params.id, principal.org);
      requireSelf(principal, admin.id);
      const provisioning_url = await provisionMfa(services, unit, admin);
      unit.record({ type: "admin.mfa", metadata: { admin_id: admin.id, step: "enable" } });
      return { provisioning_url };
    });
  },

  async verifyMfa(services, { principal, params, body, now, requestId }) {
    const outcome = await services.transact({ principal, now, requestId }, async (unit) => {
      const admin = await findAdmin(unit, params.id, principal.org);
      requireSelf(principal, admin.id);
      const judged = await checkMfa(services, unit, admin.id, body.totp_code);
      if (judged.accepted && judged.turnedOn !== undefined) unit.put(admins, admin.id, { ...admin, mfa_enabled: true });
      unit.record({
        type: "admin.mfa",
        result: judged.accepted ? "success" : "denied",
        metadata: { admin_id: admin.id, step: "verify" },
      });
      return judged;
    });
    // Thrown behind the commit: a wrong code is counted.
    if (!outcome.accepted) throw refusal("MFA_INVALID", "the code is not valid");
    const { turnedOn } = outcome;
    return { verified: true, ...(turnedOn === undefined ? {} : { recovery_codes: [...turnedOn] }) };
  },

  async renewAdminCertificate(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const admin = await findAdmin(unit, params.id, principal.org);
      if (principal.id !== admin.id && !principal.roles.includes("super_admin")) {
        throw refusal("FORBIDDEN", "a certificate is renewed by its owner or a super_admin");
      }
      const old = admin.cert_serial === null ? undefined : await unit.get(certificates, admin.cert_serial);
      if (admin.enrollment_status !== "active" || old === undefined) {
        throw refusal("STATE_CONFLICT", "the admin has no certificate to renew: enrol first");
      }
      const bearer = {
        org: admin.org_id,
        commonName: admin.email,
        subject: { type: "admin" as const, id: admin.id },
        ttl: services.config.admin.cert_ttl,
      };
      const issued =
        body.csr === undefined
          ? await services.pki.issueForKey(unit, bearer, parseCertificate(old.certificate).publicKey)
          : await services.pki.issueFromRequest(unit, { ...bearer, request: body.csr });
      await revokeCertificate(unit, old.serial_number);
      const renewed: Admin = {
        ...admin,
        cert_serial: issued.serial_number,
        cert_cn: issued.common_name,
        cert_expiry: issued.expiration,
        updated_at: issued.created_at,
      };
      unit.put(admins, renewed.id, renewed);
      unit.record({
        type: "admin.certificate.renew",
        metadata: { admin_id: admin.id, serial_number: issued.serial_number, replaces: old.serial_number },
      });
      const { certificate, ca_chain, serial_number, expiration } = issued;
      return { admin: adminView(renewed), certificate, ca_chain: [...ca_chain], serial_number, expiration };
    });
  },
};
