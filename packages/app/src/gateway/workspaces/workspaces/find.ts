import type { Principal } from "@seneschal/contract";
import { accessBasis, notFound, participates, refusal, type Workspace } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { participationId, participations, workspaces } from "../collections.ts";
import { standing } from "./access.ts";
import { seesAll } from "./list.ts";

/**
 * A workspace in which the organisation takes part; to all others it does not exist. It takes part here when it has a participation: one of
 * the same id on another instance is not the same.
 */
export async function findWorkspace(read: Reader, id: string, org: string): Promise<Workspace> {
  const [workspace, participation] = await Promise.all([
    read.get(workspaces, id),
    read.get(participations, participationId(id, org)),
  ]);
  if (workspace === undefined || participation === undefined || !participates(workspace, org)) throw notFound("workspace");
  return workspace;
}

/** A workspace that the caller sees: by an office, or let into it. To others of its organisation it does not exist. */
export async function findVisibleWorkspace(read: Reader, id: string, principal: Principal, now: number): Promise<Workspace> {
  const workspace = await findWorkspace(read, id, principal.org);
  if ((await seesAll(read, principal)) || accessBasis(await standing(read, workspace, principal, now)) !== undefined)
    return workspace;
  throw notFound("workspace");
}

/** A workspace that the organisation owns. A participant learns that it may not; others that there is none. */
export async function findOwnWorkspace(read: Reader, id: string, org: string): Promise<Workspace> {
  const workspace = await findWorkspace(read, id, org);
  if (workspace.org_id !== org) throw refusal("FORBIDDEN", "only the owner's organisation may do this");
  return workspace;
}
