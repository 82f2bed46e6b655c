import {
  type ReplicatedPolicy,
  type ReplicatedWorkspace,
  replicatedWorkspace as replicatedWorkspaceSchema,
} from "@seneschal/contract/gateway";
import type { Workspace } from "@seneschal/core/keys";
import { canonicalJson } from "@seneschal/crypto";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import * as z from "zod";
import { type GatewayUnit, utf8 } from "../../ground/index.ts";
import { policies } from "../collections.ts";

/** The part of a workspace that travels between instances: what the contract lets partners read of it, however much else is stored. */
export function replicatedWorkspace(workspace: Workspace): ReplicatedWorkspace {
  return told(replicatedWorkspaceSchema, { ...workspace, owner_org_id: workspace.org_id }) as ReplicatedWorkspace;
}

/** Of a value what the schema names. */
function told(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodArray) return (value as readonly unknown[]).map((item) => told(schema.element, item));
  if (!(schema instanceof z.ZodObject)) return value;
  const members = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(schema.shape).map(([name, member]) => [name, told(member, members[name])]));
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
