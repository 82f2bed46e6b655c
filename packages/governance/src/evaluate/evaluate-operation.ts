import type { Json } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import type { CompiledPolicy } from "@seneschal/kernel/ports";
import { type TierPolicy, tierRank } from "../classification/tiers.ts";
import { governanceError } from "../errors.ts";
import { activeApproval } from "./approval.ts";
import { classifyRequest } from "./classify-request.ts";
import type { EvaluationCatalogue, Obligation, OperationRequest, Verdict } from "./types.ts";

/** Where the decision document is. */
export const DECISION_PATH = ["data", "governance", "decision"] as const;

/**
 * Judges one request by the policy. What the policy leaves undefined, and every document that has not the shape of a decision, is not an allow. Throws
 * `policy_evaluation_failed` when the engine fails.
 */
export async function evaluateOperation(
  request: OperationRequest,
  catalogue: EvaluationCatalogue,
  policy: CompiledPolicy,
  tiers: TierPolicy,
  now: number,
): Promise<Verdict> {
  checkArgument("request", request, "object");
  checkArgument("catalogue", catalogue, "object");
  checkArgument("policy", policy, "object");
  checkArgument("tiers", tiers, "object");
  checkArgument("now", now, "number");
  const { tier, tags } = classifyRequest(request, catalogue, tiers);
  const destination = request.destination_resource === undefined ? undefined : catalogue.resource(request.destination_resource);
  const input: Json = {
    operation_type: request.operation_type,
    classification: { tier, rank: tierRank(tiers, tier), tags: [...tags] },
    sources: request.source_resources.map((id) => {
      const resource = catalogue.resource(id);
      return { id, known: resource !== undefined, rank: resource === undefined ? -1 : tierRank(tiers, resource.tier) };
    }),
    destination:
      request.destination_resource === undefined
        ? null
        : {
            id: request.destination_resource,
            known: destination?.accepts !== undefined,
            accepts_rank: destination?.accepts === undefined ? -1 : tierRank(tiers, destination.accepts),
          },
    user: { ...request.user_context },
    transformations: (request.transformations ?? []).map((t) => ({
      ...t,
      ...(t.columns === undefined ? {} : { columns: [...t.columns] }),
      ...(t.type === "row_filter" ? { applies: canFilter(request, catalogue, t.column) } : {}),
    })) as Json,
    purpose: request.purpose ?? null,
    approval: approvalInput(request, catalogue, now),
  };
  const answer = await policy.evaluate([...DECISION_PATH], input, { now });
  if (answer.kind === "error")
    throw governanceError("policy_evaluation_failed", "the policy could not be evaluated", { reason: answer.code });
  const decision = answer.kind === "defined" ? decisionOf(answer.value) : undefined;
  if (decision === undefined) {
    return {
      allowed: false,
      tier,
      tags,
      policyId: "default-deny",
      policyName: "Deny by default",
      reasons: ["no policy decides this operation"],
      obligations: [],
    };
  }
  return { ...decision, tier, tags };
}

/** A row filter can be carried out when every source is known to have its column. */
export function canFilter(request: OperationRequest, catalogue: EvaluationCatalogue, column: string | undefined): boolean {
  const wanted = column?.toLowerCase();
  return request.source_resources.every((id) =>
    Object.keys(catalogue.resource(id)?.columns ?? {}).some((name) => name.toLowerCase() === wanted),
  );
}

function approvalInput(request: OperationRequest, catalogue: EvaluationCatalogue, now: number): Json {
  if (request.approval_id === undefined) return null;
  const approval = activeApproval(request, catalogue, now);
  return {
    id: request.approval_id,
    active: approval !== undefined,
    approved_by: approval?.approvedBy ?? null,
    expires_at: approval === undefined ? null : new Date(approval.expiresAt).toISOString(),
  };
}

/** A policy's answer as a decision; `undefined` for what has not its shape. */
export function decisionOf(value: Json): Omit<Verdict, "tier" | "tags"> | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { allowed, policy_id, policy_name, reasons, obligations } = value as Readonly<Record<string, Json | undefined>>;
  if (typeof allowed !== "boolean" || typeof policy_id !== "string" || typeof policy_name !== "string") return undefined;
  const duties = Array.isArray(obligations) ? obligations.map(obligationOf) : [];
  // A duty that cannot be read could not be carried out: not an allow.
  if (allowed && duties.includes(undefined)) return undefined;
  return {
    allowed,
    policyId: policy_id,
    policyName: policy_name,
    reasons: Array.isArray(reasons) ? reasons.filter((r): r is string => typeof r === "string") : [],
    obligations: duties.filter((d): d is Obligation => d !== undefined),
  };
}

function obligationOf(value: Json): Obligation | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { type, id, properties } = value as Readonly<Record<string, Json | undefined>>;
  if (typeof type !== "string" || typeof id !== "string") return undefined;
  if (properties !== undefined && (typeof properties !== "object" || properties === null || Array.isArray(properties)))
    return undefined;
  return { type, id, properties: (properties ?? {}) as Readonly<Record<string, Json>> };
}
