import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { timestamp } from "@seneschal/core/keys";
import type { PartnerServices } from "../services.ts";
import { endFederation, takeInCertificate } from "./agreement.ts";
import { federationOfCaller } from "./find.ts";
import { judged } from "./judged.ts";

type Routes = Pick<GatewayContract, "peerHealth" | "peerCertificate" | "peerRevocation">;

/** What a federated partner's gateway may ask of ours. Everything concerns the one federation that its certificate names. */
export const peerHandlers: Handlers<Routes, PartnerServices> = {
  async peerHealth({ read }, { principal, now }) {
    const federation = await federationOfCaller(read, principal);
    return { org_id: federation.org_id, status: "healthy" as const, time: timestamp(now) };
  },

  peerCertificate: (services, { principal, body, now, requestId }) =>
    judged(services, { principal, now, requestId }, "certificate", {}, (call) =>
      services.transact(call, async (unit) => {
        const federation = await federationOfCaller(unit, principal);
        await takeInCertificate(services, unit, federation, body.certificate);
        unit.record({
          type: "federation.cert.import",
          org: federation.org_id,
          metadata: { federation_id: federation.id, partner_org_id: principal.org },
        });
      }),
    ),

  async peerRevocation(services, { principal, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      await endFederation(services, unit, await federationOfCaller(unit, principal), { revokeCertificates: true });
    });
  },
};
