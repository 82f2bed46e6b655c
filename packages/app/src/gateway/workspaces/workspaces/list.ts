import type { Principal } from "@seneschal/contract";
import type { Workspace } from "@seneschal/core/keys";
import { accessBasis } from "@seneschal/core/keys";
import type { PageOf, PageRequest, Reader } from "../../ground/index.ts";
import { memberships, permissionsOf } from "../../people/index.ts";
import { admissions, type Participation, participations, workspaces } from "../collections.ts";
import { standing } from "./access.ts";

/** Whether a caller sees every workspace of its organisation, or only those that it is let into. */
export async function seesAll(read: Reader, principal: Principal): Promise<boolean> {
  if (principal.type === "emergency") return true;
  if (principal.type !== "service" && principal.roles.some((role) => offices.has(role))) return true;
  const permissions = await permissionsOf(read, principal.org, principal.id);
  return permissions.some(({ resource, action }) => /^(\*|workspace)$/.test(resource) && /^(\*|read)$/.test(action));
}

const offices = new Set(["super_admin", "security_admin", "operations_admin", "auditor"]);

/** The workspaces that a caller sees, newest first. */
export async function listWorkspaces(
  read: Reader,
  principal: Principal,
  page: PageRequest,
  now: number,
): Promise<PageOf<Workspace>> {
  if (await seesAll(read, principal)) {
    const { items, total } = await read.page(participations, "by_org", [principal.org], page);
    return { items: await workspacesOf(read, items), total };
  }
  const own = await ownWorkspaces(read, principal, now);
  return { items: own.slice(page.offset, page.offset + page.limit), total: own.length };
}

/** What an identity without an office is let into, through admissions and groups. */
async function ownWorkspaces(read: Reader, principal: Principal, now: number): Promise<readonly Workspace[]> {
  const { org, id } = principal;
  const [admitted, groups] = await Promise.all([
    read.list(admissions, "by_identity", [org, id]),
    read.list(memberships, "by_identity", [org, id]),
  ]);
  const bound = await Promise.all(groups.map(({ group_id }) => read.list(participations, "by_group", [org, group_id])));
  const ids = new Set([
    ...admitted.map((a) => a.workspace_id),
    ...bound.flat().map((participation) => participation.workspace_id),
  ]);
  const candidates = await Promise.all([...ids].map((candidate) => read.get(workspaces, candidate)));
  const known = candidates.filter((workspace): workspace is Workspace => workspace !== undefined);
  const standings = await Promise.all(known.map((workspace) => standing(read, workspace, principal, now)));
  return known
    .filter((_, i) => {
      const facts = standings[i];
      return facts?.participates === true && accessBasis(facts) !== undefined;
    })
    .sort((a, b) => (a.created_at < b.created_at ? 1 : a.created_at > b.created_at ? -1 : a.id < b.id ? 1 : -1));
}

async function workspacesOf(read: Reader, of: readonly Participation[]): Promise<readonly Workspace[]> {
  const found = await Promise.all(of.map((participation) => read.get(workspaces, participation.workspace_id)));
  return found.filter((workspace): workspace is Workspace => workspace !== undefined);
}
