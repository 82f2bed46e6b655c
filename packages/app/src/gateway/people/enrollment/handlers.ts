import type { Handlers, Principal } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { type Admin, notFound, stepAdmin } from "@seneschal/core/keys";
import { admins } from "../admins/collections.ts";
import { adminView } from "../admins/view.ts";
import { mfaFactors } from "../mfa/collections.ts";
import { provisionMfa } from "../mfa/factor.ts";
import type { PeopleServices } from "../services.ts";
import { bootstrapAdmin } from "./bootstrap.ts";
import { enrollmentTokens } from "./collections.ts";
import { tokenHolder } from "./tokens.ts";

type Routes = Pick<GatewayContract, "bootstrapAdmin" | "enrollmentSetup" | "enrollAdmin">;

/** Who acts where nobody is authenticated: the person that a token or a signature speaks for. */
function claimant(id: string, org: string): Principal {
  return { id, type: "admin", org, roles: [], scopes: [], method: "token" };
}

export const enrollmentHandlers: Handlers<Routes, PeopleServices> = {
  async bootstrapAdmin(services, { body, now, requestId }) {
    const { email, name, crk_signature, org_id } = body;
    const call = { principal: claimant("system:bootstrap", ""), now, requestId };
    const { admin, token } = await services.transact(call, async (unit) =>
      bootstrapAdmin(services, unit, { email, name }, crk_signature, org_id),
    );
    return { ...adminView(admin), enrollment_token: token };
  },

  async enrollmentSetup(services, { params, query, now, requestId }) {
    const { read } = services;
    const factsOf = ({ id, enrollment_status }: Admin) => ({
      admin_id: id,
      enrollment_status,
      key_algorithms: [...services.pki.keyAlgorithms],
    });
    // Who knows an id, which nobody guesses, is told whether enrolment still waits for its token: no more.
    if (query.token === undefined) {
      const admin = await read.get(admins, params.id);
      if (admin === undefined) throw notFound("admin");
      const [pending] = await read.list(enrollmentTokens, "by_admin", [admin.id], { limit: 1 });
      return { ...factsOf(admin), expires_at: pending?.expires_at ?? null };
    }
    const { token, admin } = await tokenHolder(services, read, params.id, query.token, now);
    const { email, name } = admin;
    // The second factor's secret is shown by the first call alone: whoever asks again must enable it anew, as themselves.
    const provisioning_url =
      (await read.get(mfaFactors, admin.id)) !== undefined
        ? undefined
        : await services.transact({ principal: claimant(admin.id, admin.org_id), now, requestId }, async (unit) => {
            if ((await unit.get(mfaFactors, admin.id)) !== undefined) return undefined;
            unit.record({ type: "admin.mfa", metadata: { admin_id: admin.id, step: "enable" } });
            return provisionMfa(services, unit, admin);
          });
    return {
      ...factsOf(admin),
      expires_at: token.expires_at,
      email,
      name,
      ...(provisioning_url === undefined ? {} : { provisioning_url }),
    };
  },

  async enrollAdmin(services, { params, body, now, requestId }) {
    const { admin: known } = await tokenHolder(services, services.read, params.id, body.enrollment_token, now);
    await services.organizationKeys.ensureKek(known.org_id);
    return services.transact({ principal: claimant(known.id, known.org_id), now, requestId }, async (unit) => {
      const { token, admin } = await tokenHolder(services, unit, params.id, body.enrollment_token, now);
      const certificate = await services.pki.issueFromRequest(unit, {
        request: body.csr,
        org: admin.org_id,
        commonName: admin.email,
        subject: { type: "admin", id: admin.id },
        ttl: services.config.admin.cert_ttl,
      });
      const { state } = stepAdmin(
        admin,
        {
          kind: "enroll",
          serial: certificate.serial_number,
          cn: certificate.common_name,
          expiry: certificate.expiration,
        },
        0,
        now,
      );
      unit.put(admins, admin.id, state);
      unit.delete(enrollmentTokens, token.id);
      unit.record({
        type: "admin.enrollment.complete",
        metadata: { admin_id: admin.id, serial_number: certificate.serial_number },
      });
      const { certificate: pem, ca_chain, serial_number, expiration } = certificate;
      return { admin: adminView(state), certificate: pem, ca_chain: [...ca_chain], serial_number, expiration };
    });
  },
};
