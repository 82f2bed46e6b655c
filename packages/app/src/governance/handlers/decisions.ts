import { randomUUID } from "node:crypto";
import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import { isCoded, type Json } from "@seneschal/core";
import {
  evaluateOperation,
  findAlternatives,
  governanceError,
  type OperationRequest,
  type Transformation,
  tierRank,
} from "@seneschal/core/governance";
import { auditOf } from "../audit/event.ts";
import type { GovernanceServices } from "../services.ts";
import { NOBODY, whoOf } from "../who.ts";

type Routes = Pick<GovernanceContract, "classify" | "listTiers" | "evaluate">;

export const decisionHandlers: Handlers<Routes, GovernanceServices> = {
  async classify({ worlds, store }, input) {
    const { query, context } = input.body;
    const world = await worlds.at(input.principal?.org ?? NOBODY);
    const { findings, ...result } = world.classifier.classify(query, context as Record<string, Json>);
    const userId = context["user_id"];
    await store.commit({
      commitId: randomUUID(),
      audit: [
        auditOf(whoOf(input, typeof userId === "string" && userId !== "" ? userId.slice(0, 256) : undefined), {
          operation: "CLASSIFY",
          resource: "query",
          tier: result.tier,
          tags: result.tags,
          reasoning: result.reasoning,
        }),
      ],
    });
    return {
      ...result,
      tags: [...result.tags],
      findings: findings.map(({ contextWord, contextDelta, tags, ...finding }) => ({
        ...finding,
        tags: [...tags],
        ...(contextWord === undefined ? {} : { context_word: contextWord }),
        ...(contextDelta === undefined ? {} : { context_delta: contextDelta }),
      })),
    };
  },

  listTiers({ tiers }) {
    return {
      tiers: tiers.tiers.map((tier, rank) => ({ tier, rank })),
      entities: Object.fromEntries(
        Object.entries(tiers.entities).map(([entity, { tier, tags }]) => [entity, { tier, tags: [...tags] }]),
      ),
    };
  },

  async evaluate(services, input) {
    const { worlds, store, policy, policyRevision, tiers } = services;
    const request = requestOf(input.body);
    const world = await worlds.at(input.principal?.org ?? NOBODY);
    const judge = (r: OperationRequest) => evaluateOperation(r, world, policy, tiers, input.now);
    const who = whoOf(input, request.user_context.user_id);
    const id = randomUUID();
    const facts = {
      id,
      operation: request.operation_type.toUpperCase(),
      resources: request.source_resources,
      policyRevision,
    };
    try {
      const verdict = await judge(request);
      const alternatives = verdict.allowed ? [] : await findAlternatives(request, world, tiers, judge);
      const reasoning = `${verdict.allowed ? "Allowed" : "Denied"} by ${verdict.policyName}: ${verdict.reasons.join("; ")}`;
      // The determining resource is the most sensitive one.
      const determining = [...request.source_resources].sort((a, b) => rankOf(b) - rankOf(a))[0] ?? "";
      await store.commit({
        commitId: randomUUID(),
        audit: [
          auditOf(who, {
            ...facts,
            resource: determining,
            allowed: verdict.allowed,
            tier: verdict.tier,
            tags: verdict.tags,
            reasoning,
            policyId: verdict.policyId,
          }),
        ],
      });
      return {
        allowed: verdict.allowed,
        reasoning,
        classification: { tier: verdict.tier, tags: [...verdict.tags] },
        policy_evaluation: { policy_id: verdict.policyId, policy_name: verdict.policyName },
        alternatives: alternatives.map((a) => a.description),
        decision_id: id,
        obligations: verdict.obligations.map((o) => ({ ...o, properties: { ...o.properties } })),
        alternative_requests: alternatives.map((a) => ({
          description: a.description,
          request: wireOf(a.request),
          obligations: a.obligations.map((o) => ({ ...o, properties: { ...o.properties } })),
        })),
      };
    } catch (error) {
      if (!isCoded(error, "policy_evaluation_failed")) throw error;
      await store.commit({
        commitId: randomUUID(),
        audit: [
          auditOf(who, {
            ...facts,
            resource: request.source_resources[0] ?? "",
            allowed: false,
            reasoning: "the policy could not be evaluated",
          }),
        ],
      });
      throw governanceError("policy_evaluation_failed", "the policy could not be evaluated", { decision_id: id });
    }

    function rankOf(resource: string): number {
      const known = world.resource(resource);
      return known === undefined ? -1 : tierRank(tiers, known.tier);
    }
  },
};

type Body = { readonly [K in keyof OperationRequest]?: unknown } & {
  readonly operation_type: string;
  readonly source_resources: readonly string[];
  readonly destination_resource?: string | undefined;
  readonly user_context: OperationRequest["user_context"];
  readonly transformations?:
    | readonly {
        readonly type: Transformation["type"];
        readonly columns?: readonly string[] | undefined;
        readonly k?: number | undefined;
      }[]
    | undefined;
  readonly purpose?: string | undefined;
};

function requestOf(body: Body): OperationRequest {
  return {
    operation_type: body.operation_type,
    source_resources: body.source_resources,
    user_context: body.user_context,
    ...(body.destination_resource === undefined ? {} : { destination_resource: body.destination_resource }),
    ...(body.purpose === undefined ? {} : { purpose: body.purpose }),
    ...(body.transformations === undefined
      ? {}
      : {
          transformations: body.transformations.map(({ type, columns, k }) => ({
            type,
            ...(columns === undefined ? {} : { columns }),
            ...(k === undefined ? {} : { k }),
          })),
        }),
  };
}

function wireOf(request: OperationRequest) {
  return {
    ...request,
    source_resources: [...request.source_resources],
    user_context: { ...request.user_context },
    transformations: (request.transformations ?? []).map((t) => ({
      ...t,
      columns: t.columns === undefined ? undefined : [...t.columns],
    })),
  };
}
