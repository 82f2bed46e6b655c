import { gatewayContract } from "@seneschal/contract/gateway";
import { consentId, deletionConsents } from "../../workspaces/index.ts";
import { refusedOrLater, type Send } from "./delivery.ts";

/** Brings an organisation's signature for the deletion of a workspace to the owner's instance. */
export const sendConsent: Send = async (services, { org_id, workspace_id }, federation) => {
  const consent = await services.read.get(deletionConsents, consentId(workspace_id, org_id));
  if (consent === undefined) return { kind: "done" };
  const { payload, signature } = consent;
  const body = { workspace_id, payload, signature };
  const answer = await services.channels.call(services.read, federation, { route: gatewayContract.peerDeletionConsent, body });
  return answer.status === 204 ? { kind: "done" } : refusedOrLater(answer);
};
