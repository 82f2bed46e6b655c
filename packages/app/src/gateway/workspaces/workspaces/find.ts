import { notFound, participates, refusal, type Workspace } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { participationId, participations, workspaces } from "./collections.ts";

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

/** A workspace that the organisation owns. A participant learns that it may not; others that there is none. */
export async function findOwnWorkspace(read: Reader, id: string, org: string): Promise<Workspace> {
  const workspace = await findWorkspace(read, id, org);
  if (workspace.org_id !== org) throw refusal("FORBIDDEN", "only the owner's organisation may do this");
  return workspace;
}
