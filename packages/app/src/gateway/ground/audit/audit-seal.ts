import { systemRandom } from "@seneschal/adapters/system";
import { timestamp, uuid } from "@seneschal/core/keys";
import type { AuditSeal } from "../../../compose/operators.ts";
import { type AuditEvent, instanceStream } from "./event.ts";

/** Acts of the operators stand in the instance's own stream: a vault is of all organisations. Who they are, their shares do not say. */
export const auditGatewaySeal: AuditSeal = ({ type, result, now, requestId, metadata }) => {
  const event: AuditEvent = {
    id: uuid(now, systemRandom),
    org_id: instanceStream,
    timestamp: timestamp(now),
    workspace: "",
    event_type: type,
    actor: "system:operator",
    actor_type: "system",
    purpose: "",
    result,
    metadata,
    request_id: requestId,
  };
  return { stream: instanceStream, event: { ...event } };
};
