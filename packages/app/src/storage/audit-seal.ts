import type { AuditSeal } from "../compose/operators.ts";

/** Acts of the operators of the node's vault. Who they are, their shares do not say. */
export const auditStorageSeal: AuditSeal = ({ type, result, now, requestId, metadata }) => ({
  stream: "storage",
  event: {
    action: type,
    at: new Date(now).toISOString(),
    actor: "operator",
    source: String(metadata["address"] ?? "internal"),
    request_id: requestId,
    parameters: metadata,
    outcome: result === "success" ? "ok" : "share_invalid",
  },
});
