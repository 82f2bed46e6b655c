import type { JsonObject } from "@seneschal/kernel";

/** Why an allocation waits: `code` for machines, `text` is the status reason on the wire. */
export interface Reason {
  readonly allocation: string;
  readonly code:
    | "quota_headroom"
    | "sensitive_pool"
    | "nodes"
    | "nodes_held"
    | "unsatisfiable"
    | "budget_exhausted"
    | "nodes_being_freed"
    | "nodes_reserved"
    | "tenant_missing";
  readonly text: string;
  readonly details: JsonObject;
}

/** The published texts; the first is word for word that of the specification. */
export const REASON_TEXT: Readonly<Record<Reason["code"], string>> = {
  quota_headroom: "waiting for quota headroom",
  sensitive_pool: "waiting for sensitive pool",
  nodes: "waiting for nodes",
  nodes_held: "waiting for nodes: next to get them",
  unsatisfiable: "waiting for nodes that the cluster does not have",
  budget_exhausted: "low priority: budget exhausted",
  nodes_being_freed: "waiting for nodes: others are giving way",
  nodes_reserved: "waiting for nodes: free ones are kept for another",
  tenant_missing: "waiting for its tenant",
};

export function because(allocation: string, code: Reason["code"], details: JsonObject = {}): Reason {
  return { allocation, code, text: REASON_TEXT[code], details };
}
