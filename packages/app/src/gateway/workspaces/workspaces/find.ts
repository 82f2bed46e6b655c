import { notFound, participates, refusal, type Workspace } from "@seneschal/core/keys";
import type { Reader } from "../../ground/index.ts";
import { seatId, seats, workspaces } from "./collections.ts";

/**
 * A workspace in which the organisation takes part; to all others it does not exist. It takes part here when it has a seat: one of
 * the same id on another instance is not the same.
 */
export async function findWorkspace(read: Reader, id: string, org: string): Promise<Workspace> {
  const [workspace, seat] = await Promise.all([read.get(workspaces, id), read.get(seats, seatId(id, org))]);
  if (workspace === undefined || seat === undefined || !participates(workspace, org)) throw notFound("workspace");
  return workspace;
}

/** A workspace that the organisation owns. A participant learns that it may not; others that there is none. */
export async function findOwnWorkspace(read: Reader, id: string, org: string): Promise<Workspace> {
  const workspace = await findWorkspace(read, id, org);
  if (workspace.org_id !== org) throw refusal("FORBIDDEN", "only the owner's organisation may do this");
  return workspace;
}
