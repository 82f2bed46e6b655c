import { randomUUID } from "node:crypto";
import { nextTurn } from "@seneschal/adapters/system";
import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import {
  approvalThatHelps,
  type ClassifiedFinding,
  classifyWith,
  type EvaluationCatalogue,
  evaluateOperation,
  findAlternatives,
  governanceError,
  type OperationRequest,
  tierRank,
} from "@seneschal/governance";
import { isCoded, type Json } from "@seneschal/kernel";
import type { CompiledPolicy } from "@seneschal/kernel/ports";
import { auditOf } from "../audit/event.ts";
import { decisionPuts, hearing } from "../decision-log.ts";
import { narrowingIn } from "../narrowing.ts";
import { operationRequest, wireRequest } from "../operation-request.ts";
import { configuredEntities } from "../recogniser.ts";
import type { GovernanceServices } from "../services.ts";
import { NOBODY, ownerOf, whoOf } from "../who.ts";

type Routes = Pick<GovernanceContract, "classify" | "listTiers" | "evaluate">;

export const decisionHandlers: Handlers<Routes, GovernanceServices> = {
  async classify({ catalogues, classifier, store, tiers, config }, input) {
    const { query, context } = input.body;
    const narrowing = narrowingIn(input.body, tiers, configuredEntities(config.classification));
    const catalogue = await catalogues.at(input.principal?.org ?? NOBODY);
    const result = await classifyWith(
      classifier,
      query,
      context as Record<string, Json>,
      catalogue.factsOf,
      ownerOf(input),
      nextTurn,
      narrowing,
    );
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
    return Object.assign({}, result, { findings: result.findings.map(wireFinding), tags: [...result.tags] });
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
    const { catalogues, store, policyRevision, tiers } = services;
    const owner = ownerOf(input);
    // A request may be long, and each alternative is judged as well: the caller's work.
    const owned: CompiledPolicy = {
      packages: services.policy.packages,
      evaluate: (path, asked, options) => services.policy.evaluate(path, asked, Object.assign({ owner }, options)),
    };
    const { policy, first } = hearing(owned, services.clock);
    const request = operationRequest(input.body);
    const catalogue = await catalogues.at(input.principal?.org ?? NOBODY);
    const judge = (r: OperationRequest, seen: EvaluationCatalogue = catalogue) =>
      evaluateOperation(r, seen, policy, tiers, input.now);
    const who = whoOf(input, request.user_context.user_id);
    const id = randomUUID();
    const facts = {
      id,
      operation: request.operation_type.toUpperCase(),
      resources: request.source_resources,
      policyRevision,
      ...(request.approval_id === undefined ? {} : { approvalId: request.approval_id }),
    };
    try {
      const verdict = await judge(request);
      const alternatives = verdict.allowed ? [] : await findAlternatives(request, catalogue, tiers, judge, input.now);
      const approvable = verdict.allowed ? undefined : await approvalThatHelps(request, catalogue, judge, input.now);
      const reasoning = `${verdict.allowed ? "Allowed" : "Denied"} by ${verdict.policyName}: ${verdict.reasons.join("; ")}`;
      // The determining resource is the most sensitive one.
      const determining = [...request.source_resources].sort((a, b) => rankOf(b) - rankOf(a))[0] ?? "";
      await store.commit({
        commitId: randomUUID(),
        puts: await decisionPuts(services, who, id, first()),
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
          request: wireRequest(a.request),
          obligations: a.obligations.map((o) => ({ ...o, properties: { ...o.properties } })),
        })),
        ...(approvable === undefined
          ? {}
          : {
              approval_request: {
                description: "Ask for a time-limited approval, and send the request again with its approval_id once it is given",
                path: "/api/v1/approvals",
                request: wireRequest(approvable),
              },
            }),
      };
    } catch (error) {
      if (!isCoded(error, "policy_evaluation_failed")) throw error;
      await store.commit({
        commitId: randomUUID(),
        puts: await decisionPuts(services, who, id, first()),
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
      const known = catalogue.resource(resource);
      return known === undefined ? -1 : tierRank(tiers, known.tier);
    }
  },
};

function wireFinding(found: ClassifiedFinding) {
  const { entity, start, end, score, validator, pattern, tier, tags, country, path, column, contextWord, contextDelta } = found;
  const { probability, alternatives } = found;
  return {
    entity,
    start,
    end,
    score,
    validator,
    pattern,
    tier,
    tags: [...tags],
    ...(country === undefined ? {} : { country }),
    ...(path === undefined ? {} : { path }),
    ...(column === undefined ? {} : { column }),
    ...(contextWord === undefined ? {} : { context_word: contextWord }),
    ...(contextDelta === undefined ? {} : { context_delta: contextDelta }),
    ...(probability === undefined ? {} : { probability }),
    ...(alternatives === undefined ? {} : { alternatives: alternatives.map((other) => ({ ...other })) }),
  };
}
