import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  type Admission,
  admit,
  type Grant,
  notFound,
  type PolicyVerdict,
  policyRefusal,
  requireGivesWay,
  requireMember,
  requireWorkspace,
  revokeAdmission,
  type Workspace,
} from "@seneschal/core/keys";
import { type GatewayUnit, listed, ownOrganization, pageOf, type Reader } from "../ground/index.ts";
import { type IdentityAdmissions, identityTypeOf, isMember, requireIdentity } from "../people/index.ts";
import { activeAdmission, admissions, participations } from "./collections.ts";
import type { PolicyActor } from "./policy-gate.ts";
import type { WorkspaceServices } from "./services.ts";
import { findVisibleWorkspace, findWorkspace } from "./workspaces/access.ts";

/** Admits who brings a workspace to its organisation, by accepting an invitation or importing a bundle, unless it is admitted. */
export async function admitCaller(services: WorkspaceServices, unit: GatewayUnit, workspace: string): Promise<void> {
  const { principal, now } = unit.call;
  const { id: identity_id, org } = principal;
  if ((await activeAdmission(unit, workspace, org, identity_id)) !== undefined) return;
  const of = { workspace_id: workspace, org, identity_id, identity_type: identityTypeOf(principal), by: identity_id };
  const admission = admit({ id: services.newId(now), ...of }, now);
  unit.insert(admissions, admission.id, admission);
}

/** Ends an admission with what gave it; one that is over stays so. */
async function endAdmission(unit: GatewayUnit, id: string): Promise<void> {
  const { principal, now } = unit.call;
  const admission = await unit.get(admissions, id);
  if (admission?.status !== "active") return;
  const { org_id: org, workspace_id: workspace, identity_id } = admission;
  unit.put(admissions, id, revokeAdmission(admission, { id: principal.id, org, ownsWorkspace: false }, now));
  unit.record({ type: "workspace.admission.revoke", org, workspace, metadata: { admission_id: id, identity_id } });
}

/** Lets an identity in, by the caller's decision, in place of an admission that gives way. */
export async function giveAdmission(
  services: WorkspaceServices,
  unit: GatewayUnit,
  given: Omit<Grant, "id" | "by">,
  known: Admission | undefined,
): Promise<Admission> {
  const { principal, now } = unit.call;
  if (known !== undefined) await endAdmission(unit, known.id);
  const admission = admit({ id: services.newId(now), by: principal.id, ...given }, now);
  const { id: admission_id, workspace_id: workspace, identity_id, identity_type } = admission;
  unit.insert(admissions, admission_id, admission);
  unit.record({ type: "workspace.admission.grant", workspace, metadata: { admission_id, identity_id, identity_type } });
  return admission;
}

/** Asks the workspace's policies about an operation of the caller. Throws `POLICY_VIOLATION` with the reason. */
export async function requireAllowedByPolicy(
  services: WorkspaceServices,
  unit: GatewayUnit,
  workspace: Workspace,
  operation: "rotate" | "export",
): Promise<void> {
  obey(await ask(services, unit, workspace, operation));
}

/** Asks whether an identity may be admitted: the policies see it as the actor. Throws `POLICY_VIOLATION`. */
export async function requireAdmittedByPolicy(
  services: WorkspaceServices,
  unit: GatewayUnit,
  workspace: Workspace,
  identity: string,
  type: string,
): Promise<void> {
  obey(await ask(services, unit, workspace, "admit", { id: identity, type, roles: [] }));
}

function ask(services: WorkspaceServices, unit: GatewayUnit, workspace: Workspace, operation: string, actor?: PolicyActor) {
  const { id, purpose } = workspace;
  const { call } = unit;
  return services.policies.verdicts(unit, {
    call,
    actor: actor ?? call.principal,
    operation,
    workspace: id,
    purpose,
    metadata: {},
  });
}

function obey(verdicts: readonly PolicyVerdict[]): void {
  const error = policyRefusal(verdicts);
  if (error !== undefined) throw error;
}

type Routes = Pick<GatewayContract, "grantAdmission" | "listAdmissions" | "getAdmission" | "revokeAdmission">;

/** An identity's admissions in organisations that the caller may see: its own, or all when it owns the workspace. */
async function newest(
  read: Reader,
  workspace: string,
  orgs: readonly string[],
  identity: string,
): Promise<Admission | undefined> {
  for (const org of orgs) {
    const [found] = await read.list(admissions, "by_workspace_identity", [workspace, org, identity], { reverse: true, limit: 1 });
    if (found !== undefined) return found;
  }
  return undefined;
}

export const admissionHandlers: Handlers<Routes, WorkspaceServices> = {
  async grantAdmission(services, { principal, params, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findWorkspace(unit, params.id, principal.org);
      const org = ownOrganization(principal, body.org_id);
      requireWorkspace(workspace, "grant", now);
      const { identity_id, identity_type } = body;
      await requireIdentity(unit, org, body);
      const group = workspace.group_bindings[org];
      const member = group !== undefined && (await isMember(unit, org, group, identity_id));
      requireMember(workspace.classification, { bound: group !== undefined, member });
      const known = await activeAdmission(unit, workspace.id, org, identity_id);
      requireGivesWay(known, "grant");
      await requireAdmittedByPolicy(services, unit, workspace, identity_id, identity_type);
      return giveAdmission(services, unit, { workspace_id: workspace.id, org, identity_id, identity_type }, known);
    });
  },

  async listAdmissions({ read }, { principal, params, query, now }) {
    const workspace = await findVisibleWorkspace(read, params.id, principal, now);
    if (workspace.org_id === principal.org) {
      const page = await read.page(admissions, "by_workspace", [workspace.id], query);
      return listed("admissions", page);
    }
    const own = await read.list(admissions, "by_workspace_identity", [workspace.id, principal.org]);
    const newestFirst = own.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1));
    return listed("admissions", pageOf(newestFirst, query));
  },

  async getAdmission({ read }, { principal, params, now }) {
    const workspace = await findVisibleWorkspace(read, params.id, principal, now);
    const orgs =
      workspace.org_id === principal.org
        ? [principal.org, ...workspace.participants.map((p) => p.org_id).filter((org) => org !== principal.org)]
        : [principal.org];
    const admission = await newest(read, workspace.id, orgs, params.identity_id);
    if (admission === undefined) throw notFound("admission");
    return admission;
  },

  async revokeAdmission(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const workspace = await findWorkspace(unit, params.id, principal.org);
      const ownsWorkspace = workspace.org_id === principal.org;
      const orgs = ownsWorkspace ? [principal.org, ...workspace.participants.map((p) => p.org_id)] : [principal.org];
      let active: Admission | undefined;
      for (const org of orgs) active ??= await activeAdmission(unit, workspace.id, org, params.identity_id);
      if (active === undefined) throw notFound("admission");
      const current = await unit.get(admissions, active.id);
      if (current === undefined) throw notFound("admission");
      unit.put(admissions, current.id, revokeAdmission(current, { id: principal.id, org: principal.org, ownsWorkspace }, now));
      const metadata = { admission_id: current.id, identity_id: current.identity_id };
      unit.record({ type: "workspace.admission.revoke", workspace: workspace.id, metadata });
      if (current.org_id !== principal.org) {
        unit.record({ type: "workspace.admission.revoke", org: current.org_id, workspace: workspace.id, metadata });
      }
    });
  },
};

/** What this floor does for the people below it. */
export const identityAdmissions: IdentityAdmissions = {
  end: endAdmission,
  async endOf(unit, { org, id }, group) {
    for (const admission of await unit.list(admissions, "by_identity", [org, id])) {
      if (group === undefined || admission.via_group === group) await endAdmission(unit, admission.id);
    }
  },
  bound: async (unit, { org, id }) => (await unit.list(participations, "by_group", [org, id], { limit: 1 })).length > 0,
};
