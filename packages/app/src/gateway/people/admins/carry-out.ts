import type { AdminEffect } from "@seneschal/core/keys";
import type { GatewayUnit } from "../../ground/index.ts";
import { revokeCertificate, revokeCertificatesOf } from "../certificates/revoke.ts";
import { voidApprovals } from "../emergency/collections.ts";
import { issueEnrollmentToken, voidEnrollmentTokens } from "../enrollment/tokens.ts";
import type { PeopleServices } from "../services.ts";

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
