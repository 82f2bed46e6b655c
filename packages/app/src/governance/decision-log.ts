import { type DecisionEvent, DROP_PATH, isDropped, MASK_PATH, maskDecision } from "@seneschal/governance";
import type { Json, JsonObject } from "@seneschal/kernel";
import type { CompiledPolicy, DocumentStore, PolicyAnswer } from "@seneschal/kernel/ports";
import type { Who } from "./audit/event.ts";
import type { GovernanceServices } from "./services.ts";

/** What a policy was asked, and what it said. */
interface Heard {
  readonly path: readonly string[];
  readonly input: Json;
  readonly answer: PolicyAnswer;
  readonly milliseconds: number;
}

/** A policy, and what it is asked: first the decision itself, before its alternatives; last what holds, where it is asked again as more is known. */
export function hearing(policy: CompiledPolicy, clock: GovernanceServices["clock"]) {
  let first: Heard | undefined;
  let last: Heard | undefined;
  const heard: CompiledPolicy = {
    packages: policy.packages,
    async evaluate(path, input, options) {
      const began = clock.now();
      const answer = await policy.evaluate(path, input, options);
      last = { path, input, answer, milliseconds: clock.now() - began };
      first ??= last;
      return answer;
    },
  };
  return { policy: heard, first: () => first, last: () => last };
}

/**
 * What a commit puts so that a decision is told to the sinks that tell decisions: nothing where there is none of them, or where the policy drops it. It is masked
 * before it is written.
 */
export async function decisionPuts(
  services: Pick<GovernanceServices, "policy" | "policyRevision" | "decisionsTold" | "version" | "config">,
  who: Who,
  id: string,
  heard: Heard | undefined,
) {
  const { policy, policyRevision, decisionsTold, version, config } = services;
  if (decisionsTold() === undefined || heard === undefined) return [];
  const { path, input, answer, milliseconds } = heard;
  const event: DecisionEvent = {
    decision_id: id,
    labels: { app: "seneschal", version, ...(config.server.instance_id === undefined ? {} : { id: config.server.instance_id }) },
    bundles: { governance: { revision: policyRevision } },
    path: path.slice(1).join("/"),
    input,
    ...(answer.kind === "defined" ? { result: answer.value } : {}),
    ...(answer.kind === "error" ? { error: { code: answer.code } } : {}),
    requested_by: who.apiKey ?? "anonymous",
    timestamp: new Date(who.now).toISOString(),
    metrics: { timer_rego_query_eval_ns: milliseconds * 1_000_000 },
  };
  const masks = policy.packages.some(([first]) => first === "system");
  const ask = (of: readonly string[]) =>
    policy.evaluate([...of], event as unknown as JsonObject, { now: who.now, owner: who.org });
  if (masks && isDropped(await ask(DROP_PATH))) return [];
  const masked = masks ? maskDecision(event, await ask(MASK_PATH)) : event;
  return [{ coll: "decisions", id, doc: { at: who.now, event: masked } as unknown as JsonObject }];
}

/** The decisions that are still to be told, by the ids of their audit events. */
export async function decisionsOf(store: DocumentStore, ids: readonly string[]): Promise<ReadonlyMap<string, JsonObject>> {
  const found = await store.getMany("decisions", ids);
  return new Map(
    found.flatMap((stored) => (stored === undefined ? [] : [[stored.id, stored.doc["event"] as JsonObject] as const])),
  );
}

/** A request may have begun so long before its record was written. */
const MARGIN_MS = 3_600_000;
const PAGE = 500;

/** Deletes the decisions that every sink has been told; `until` is when the last of them had heard everything. */
export async function forgetDecisions(store: DocumentStore, until: number, commitId: () => string): Promise<void> {
  for (;;) {
    const { items } = await store.list("decisions", "by_time", [], { to: [until - MARGIN_MS], limit: PAGE });
    if (items.length === 0) return;
    const dels = items.map(({ id }) => ({ coll: "decisions", id }));
    if (!(await store.commit({ commitId: commitId(), dels })).ok || items.length < PAGE) return;
  }
}
