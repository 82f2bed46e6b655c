import type { ReplicatedPolicy, ReplicatedWorkspace } from "@seneschal/contract/gateway";
import type { Workspace } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { type GatewayUnit, utf8 } from "../../ground/index.ts";
import { policies } from "../policies/collections.ts";

/** The part of a workspace that travels between instances. */
export function replicatedWorkspace({
  org_id: owner_org_id,
  participants,
  group_bindings,
  replica: _,
  ...rest
}: Workspace): ReplicatedWorkspace {
  return { ...rest, owner_org_id, participants: [...participants], group_bindings: { ...group_bindings } };
}

/** A workspace as it is stored, from what travelled. */
export function storedWorkspace({ owner_org_id: org_id, ...rest }: ReplicatedWorkspace): Workspace {
  return { ...rest, org_id };
}

/** What a revision of a workspace says, as one number: SHA-256 over its canonical JSON, hex. Owner and partners compute the same. */
export function stateHash(crypto: CryptoProvider, workspace: ReplicatedWorkspace): string {
  return Buffer.from(crypto.hash("sha256", utf8(canonicalJson(workspace)))).toString("hex");
}

/** The policies of a workspace as they travel. */
export async function replicatedPolicies(unit: GatewayUnit, workspace: string): Promise<ReplicatedPolicy[]> {
  const bound = await unit.list(policies, "by_workspace", [workspace]);
  return bound.map(({ id, name, rego, version }) => ({ id, name, rego, version }));
}
