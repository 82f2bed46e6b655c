import { notFound, participates, refusal, type Workspace } from "@seneschal/core/keys";
import type { Reader } from "../store/reader.ts";
import { workspaces } from "./collections.ts";

/** A workspace in which the organisation takes part; to all others it does not exist. */
export async function findWorkspace(read: Reader, id: string, org: string): Promise<Workspace> {
  const workspace = await read.get(workspaces, id);
  if (workspace === undefined || !participates(workspace, org)) throw notFound("workspace");
  return workspace;
}

/** A workspace that the organisation owns. A participant learns that it may not; others that there is none. */
export async function findOwnWorkspace(read: Reader, id: string, org: string): Promise<Workspace> {
  const workspace = await findWorkspace(read, id, org);
  if (workspace.org_id !== org) throw refusal("FORBIDDEN", "only the owner's organisation may do this");
  return workspace;
}
