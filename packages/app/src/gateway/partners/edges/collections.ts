import type { Classification } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import { collection } from "../../ground/index.ts";

export type EdgeStatus = "healthy" | "unhealthy" | "connected" | "disconnected" | "sealed";

/** A vault at the edge. */
export interface EdgeNode {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly vault_address: string;
  /** PEM of the CA that signed its certificate; `null`: the host's roots. */
  readonly vault_ca_cert: string | null;
  /** Its token, sealed by our vault. */
  readonly sealed_token: string;
  readonly classification: Classification;
  readonly region: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly status: EdgeStatus;
  readonly last_heartbeat: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

export const edges = collection<EdgeNode>("edges", {
  by_org: { key: (edge) => [edge.org_id, edge.created_at] },
  by_name: { key: (edge) => [edge.org_id, keyText(edge.name)], unique: "an edge node of that name exists" },
});

/** What was pushed to an edge node. */
export interface EdgeSync {
  readonly last_synced_at: string | null;
  readonly policies_synced: number;
  readonly keys_synced: number;
  readonly error_count: number;
  readonly last_error: string;
}

export const edgeSyncs = collection<EdgeSync>("edge_syncs");

export const neverSynced: EdgeSync = {
  last_synced_at: null,
  policies_synced: 0,
  keys_synced: 0,
  error_count: 0,
  last_error: "",
};
