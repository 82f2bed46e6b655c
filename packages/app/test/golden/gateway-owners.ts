import type { Documents } from "./collections.ts";

type OwnerOf = (id: string, doc: Readonly<Record<string, string>>) => readonly [coll: string, id: string];

const first = (id: string): string => id.split("/")[0] ?? "";
const ofFederation: OwnerOf = (_, doc) => ["federations", doc["federation_id"] ?? ""];

/** What a document of a gateway belongs to, and goes with. */
export const gatewayOwners: Readonly<Record<string, OwnerOf>> = {
  dek_uses: (id) => ["workspaces", first(id)],
  rotation_policies: (id) => ["workspaces", id],
  workspace_seats: (_, doc) => ["workspaces", doc["workspace_id"] ?? ""],
  deletion_consents: (_, doc) => ["workspaces", doc["workspace_id"] ?? ""],
  group_members: (_, doc) => ["groups", doc["group_id"] ?? ""],
  role_assignments: (_, doc) => ["roles", doc["role_id"] ?? ""],
  enrollment_tokens: (_, doc) => ["admins", doc["admin_id"] ?? ""],
  admin_mfa: (id) => ["admins", id],
  edge_syncs: (id) => ["edges", id],
  ceremony_shares: (_, doc) => ["ceremonies", doc["ceremony_id"] ?? ""],
  recovery_shares: (_, doc) => ["recoveries", doc["recovery_id"] ?? ""],
  generation_keys: (_, doc) => ["generation_ceremonies", doc["ceremony_id"] ?? ""],
  log_witnesses: (id) => ["federations", id],
  witnessed_logs: (id) => ["federations", id],
  workspace_shares: ofFederation,
  workspace_replicas: ofFederation,
  dispatches: ofFederation,
};

const OVER = ["revoked", "completed", "complete", "cancelled", "expired", "failed"];

/** The documents whose owner is not there any more, or over. */
export function orphansOf(documents: Documents): readonly string[] {
  return Object.entries(gatewayOwners).flatMap(([coll, ownerOf]) =>
    [...(documents.get(coll) ?? [])].flatMap(([id, doc]) => {
      const [of, owner] = ownerOf(id, doc as Readonly<Record<string, string>>);
      const found = documents.get(of)?.get(owner);
      return found === undefined || OVER.includes(`${found["status"]}`) ? [`${coll}/${id} of ${of}/${owner}`] : [];
    }),
  );
}
