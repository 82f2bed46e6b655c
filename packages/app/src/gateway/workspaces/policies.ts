import type { AuthoriseInput, Handlers, Principal } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  combineVerdicts,
  createPolicy,
  type Policy,
  policyRefusal,
  refusal,
  requireOwnPackage,
  requirePolicyRoom,
  revisePolicy,
  timestamp,
} from "@seneschal/core/keys";
import { claimOf, findOwn, type GatewayUnit, listed, pageOf, type Reader, recordRefusal } from "../ground/index.ts";
import { participationId, participations, policies, workspaces } from "./collections.ts";
import { applicablePolicies } from "./policy-gate.ts";
import type { WorkspaceServices } from "./services.ts";
import { findOwnWorkspace, findVisibleWorkspace } from "./workspaces/access.ts";

/** Throws `POLICY_INVALID` with every problem and its place, and for packages that are the gateway's own or another workspace's. */
export async function requireCompiles(
  { policyEngine }: WorkspaceServices,
  { name, rego, workspace }: { readonly name: string; readonly rego: string; readonly workspace: string | null },
  owner: string,
): Promise<void> {
  const result = await policyEngine.compile([{ name, source: rego }], { owner });
  if (!result.ok) {
    throw refusal("POLICY_INVALID", `the policy does not compile: ${result.problems[0]?.message ?? ""}`, {
      field: "rego",
      errors: result.problems.map(({ code, message, row, col }) => ({ code, message, row, col })),
    });
  }
  requireOwnPackage(result.policy.packages[0] ?? [], workspace);
}

/**
 * Asks of the policies of a workspace what {@link requirePolicyRoom} does.
 * Policies of an organisation stay where they are: only their size is bounded, by the contract.
 */
async function requireRoom(read: Reader, policy: Pick<Policy, "id" | "workspace_id" | "rego">): Promise<void> {
  if (policy.workspace_id === null) return;
  const others = (await read.list(policies, "by_workspace", [policy.workspace_id])).filter(({ id }) => id !== policy.id);
  requirePolicyRoom([...others, policy].map(({ rego }) => Buffer.byteLength(JSON.stringify(rego))));
}

type Routes = Pick<
  GatewayContract,
  "createPolicy" | "getPolicy" | "updatePolicy" | "deletePolicy" | "listWorkspacePolicies" | "evaluatePolicy" | "validatePolicy"
>;

/** The interface's `workspace` and the clearer `workspace_id` are one. */
const view = (policy: Policy) => ({ ...policy, workspace: policy.workspace_id });

const findPolicy = (read: Reader, id: string, org: string) => findOwn(read, policies, id, org, "policy");

export const policyHandlers: Handlers<Routes, WorkspaceServices> = {
  async createPolicy(services, { principal, body, now, requestId, request }) {
    await requireCompiles(services, { name: body.name, rego: body.rego, workspace: body.workspace ?? null }, principal.org);
    return services.transact({ principal, now, requestId }, async (unit) => {
      if (body.workspace !== undefined) await findOwnWorkspace(unit, body.workspace, principal.org);
      await services.signatures.require(unit, claimOf("policy.create", "", body, request));
      const { name, rego, workspace: workspace_id = null } = body;
      const of = { id: services.newId(now), org_id: principal.org, created_by: principal.id };
      const policy = createPolicy({ ...of, workspace_id, name, rego }, now);
      await requireRoom(unit, policy);
      unit.insert(policies, policy.id, policy);
      unit.record({
        type: "policy.create",
        workspace: policy.workspace_id ?? "",
        metadata: { policy_id: policy.id, name: policy.name },
      });
      await announcePolicy(services, unit, policy);
      return view(policy);
    });
  },

  async getPolicy({ read }, { principal, params }) {
    return view(await findPolicy(read, params.id, principal.org));
  },

  async updatePolicy(services, { principal, params, body, now, requestId, request }) {
    const known = await findPolicy(services.read, params.id, principal.org);
    await requireCompiles(services, { name: known.name, rego: body.rego, workspace: known.workspace_id }, principal.org);
    return services.transact({ principal, now, requestId }, async (unit) => {
      const policy = await findPolicy(unit, params.id, principal.org);
      await services.signatures.require(unit, claimOf("policy.update", policy.id, body, request));
      const next = revisePolicy(policy, body.rego, now);
      await requireRoom(unit, next);
      unit.put(policies, next.id, next);
      unit.record({
        type: "policy.update",
        workspace: next.workspace_id ?? "",
        metadata: { policy_id: next.id, version: next.version },
      });
      await announcePolicy(services, unit, next);
      return view(next);
    });
  },

  async deletePolicy(services, { principal, params, body, now, requestId, request }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const policy = await findPolicy(unit, params.id, principal.org);
      await services.signatures.require(unit, claimOf("policy.delete", policy.id, body, request));
      unit.delete(policies, policy.id);
      unit.record({
        type: "policy.delete",
        workspace: policy.workspace_id ?? "",
        metadata: { policy_id: policy.id, version: policy.version },
      });
      await announcePolicy(services, unit, policy);
    });
  },

  async listWorkspacePolicies({ read }, { principal, params, query, now }) {
    await findVisibleWorkspace(read, params.workspace_id, principal, now);
    return listed("policies", pageOf(await applicablePolicies(read, principal.org, params.workspace_id), query), view);
  },

  async evaluatePolicy({ read, policies: gate, metrics }, { principal, body, now }) {
    const { workspace, ...question } = body;
    await findVisibleWorkspace(read, workspace, principal, now);
    const started = process.hrtime.bigint();
    const all = await applicablePolicies(read, principal.org, workspace);
    const input = Object.assign({}, question, { workspace, org_id: principal.org, time: timestamp(now) });
    const verdicts = await Promise.all(all.map((policy) => gate.ask(policy, input, { now, owner: principal.org })));
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    const { allowed, deny_reason } = combineVerdicts(verdicts);
    metrics.policyEvaluated(allowed ? "allowed" : "denied");
    return { allowed, deny_reason, eval_time_ms: Math.round(seconds * 1000) };
  },

  async validatePolicy({ policyEngine }, { principal, body }) {
    const problems = await policyEngine.check([{ name: "policy.rego", source: body.rego }], { owner: principal.org });
    if (problems.length === 0) return { valid: true };
    return {
      valid: false,
      error: problems[0]?.message ?? "",
      errors: problems.map(({ code, message, row, col }) => ({ code, message, row, col })),
    };
  },
};

/** Where the workspace is followed by other instances, its policies are, too. */
async function announcePolicy(services: WorkspaceServices, unit: GatewayUnit, { workspace_id }: Policy): Promise<void> {
  const workspace = workspace_id === null ? undefined : await unit.get(workspaces, workspace_id);
  if (workspace !== undefined) await services.replication.announce(services, unit, workspace);
}

/**
 * What policies know an operation by, by route. Not here are those whose handlers ask with more than the route tells: encrypt and
 * decrypt with their contexts, rotate and export inside their transaction, admit with the admitted identity as actor.
 */
const OPERATIONS: Readonly<Record<string, string>> = {
  updateWorkspace: "update",
  deleteWorkspace: "delete",
  consentToDeletion: "delete",
  extendWorkspace: "extend",
  archiveWorkspace: "archive",
  inviteOrganization: "invite",
  acceptInvitation: "accept",
  declineInvitation: "decline",
  requestAccess: "request-access",
  revokeAdmission: "revoke",
  setRotationPolicy: "rotation-policy",
  removeRotationPolicy: "rotation-policy",
};

/**
 * Asks the policies of a workspace about an operation of a participant's identity. Others learn nothing of its policies: what they
 * may see, the handler says. Throws `POLICY_VIOLATION` with the reason, audited.
 */
export async function requireRouteAllowed(
  services: WorkspaceServices,
  { id: route, params, now, requestId }: AuthoriseInput,
  principal: Principal,
): Promise<void> {
  const operation = Object.hasOwn(OPERATIONS, route) ? OPERATIONS[route] : undefined;
  const id = params["id"] ?? "";
  if (operation === undefined || (await services.read.get(participations, participationId(id, principal.org))) === undefined)
    return;
  const call = { principal, now, requestId };
  const purpose = (await services.read.get(workspaces, id))?.purpose ?? "";
  const question = { call, actor: principal, operation, workspace: id, purpose, metadata: {} };
  const error = policyRefusal(await services.policies.verdicts(services.read, question));
  if (error === undefined) return;
  await recordRefusal(services, call, route, error, id);
  throw error;
}
