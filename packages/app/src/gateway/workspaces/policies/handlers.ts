import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { notFound, type PolicyVerdict, timestamp } from "@seneschal/core/keys";
import { type GatewayUnit, type Reader, signedBody } from "../../ground/index.ts";
import type { WorkspaceServices } from "../services.ts";
import { workspaces } from "../workspaces/collections.ts";
import { findOwnWorkspace, findVisibleWorkspace } from "../workspaces/find.ts";
import { applicablePolicies } from "./applicable.ts";
import { type Policy, policies } from "./collections.ts";
import { requireCompiles } from "./require-compiles.ts";
import { requireRoom } from "./require-room.ts";

type Routes = Pick<
  GatewayContract,
  "createPolicy" | "getPolicy" | "updatePolicy" | "deletePolicy" | "listWorkspacePolicies" | "evaluatePolicy" | "validatePolicy"
>;

/** The interface's `workspace` and the clearer `workspace_id` are one. */
const view = (policy: Policy) => ({ ...policy, workspace: policy.workspace_id });

async function findPolicy(read: Reader, id: string, org: string): Promise<Policy> {
  const policy = await read.get(policies, id);
  if (policy === undefined || policy.org_id !== org) throw notFound("policy");
  return policy;
}

export const policyHandlers: Handlers<Routes, WorkspaceServices> = {
  async createPolicy(services, { principal, body, now, requestId, request }) {
    await requireCompiles(services, { name: body.name, rego: body.rego, workspace: body.workspace ?? null }, principal.org);
    return services.transact({ principal, now, requestId }, async (unit) => {
      if (body.workspace !== undefined) await findOwnWorkspace(unit, body.workspace, principal.org);
      await services.signatures.require(unit, {
        operation: "policy.create",
        resourceId: "",
        body: signedBody(request.rawBody),
        signature: body.crk_signature,
        params: body.signature_params,
      });
      const at = timestamp(now);
      const policy: Policy = {
        id: services.newId(now),
        org_id: principal.org,
        workspace_id: body.workspace ?? null,
        name: body.name,
        rego: body.rego,
        version: 1,
        created_by: principal.id,
        created_at: at,
        updated_at: at,
      };
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
      await services.signatures.require(unit, {
        operation: "policy.update",
        resourceId: policy.id,
        body: signedBody(request.rawBody),
        signature: body.signature,
        params: body.signature_params,
      });
      const next: Policy = { ...policy, rego: body.rego, version: policy.version + 1, updated_at: timestamp(now) };
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
      await services.signatures.require(unit, {
        operation: "policy.delete",
        resourceId: policy.id,
        body: signedBody(request.rawBody),
        signature: body.signature,
        params: body.signature_params,
      });
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
    const all = await applicablePolicies(read, principal.org, params.workspace_id);
    const shown = all.slice(query.offset, query.offset + query.limit);
    return { policies: shown.map(view), count: shown.length, total: all.length };
  },

  async evaluatePolicy({ read, policies: gate, metrics }, { principal, body, now }) {
    const { workspace, ...question } = body;
    await findVisibleWorkspace(read, workspace, principal, now);
    const started = process.hrtime.bigint();
    const all = await applicablePolicies(read, principal.org, workspace);
    const input = Object.assign({}, question, { workspace, org_id: principal.org, time: timestamp(now) });
    const verdicts = await Promise.all(all.map((policy) => gate.ask(policy, input, { now, owner: principal.org })));
    const seconds = Number(process.hrtime.bigint() - started) / 1e9;
    const { allowed, deny_reason } = combine(verdicts);
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

/** All must allow. Without any policy nothing says yes. A denial always carries a reason. */
function combine(verdicts: readonly PolicyVerdict[]): { readonly allowed: boolean; readonly deny_reason: string } {
  if (verdicts.length === 0) return { allowed: false, deny_reason: "no policy applies" };
  const denials = verdicts.filter(({ allowed }) => !allowed);
  return { allowed: denials.length === 0, deny_reason: denials.map(({ reason }) => reason).join("; ") };
}
