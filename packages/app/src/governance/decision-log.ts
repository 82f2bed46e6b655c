import type { CompiledPolicy } from "@seneschal/kernel/ports";
import { decisionDocuments, type Heard, loggedDecision } from "../platform/index.ts";
import type { Who } from "./audit/event.ts";
import type { GovernanceServices } from "./services.ts";

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
  services: Pick<GovernanceServices, "policy" | "policyRevision" | "decisionsTold" | "version" | "config" | "log">,
  who: Who,
  id: string,
  heard: Heard | undefined,
) {
  const { policy, policyRevision, decisionsTold, version, config, log } = services;
  if (decisionsTold() === undefined || heard === undefined) return [];
  const text = await loggedDecision(
    { policy, version, instance: config.server.instance_id, log },
    {
      id,
      heard,
      bundles: { governance: { revision: policyRevision } },
      requestedBy: who.apiKey ?? "anonymous",
      now: who.now,
      owner: who.org,
    },
  );
  return text === undefined ? [] : decisionDocuments(id, who.now, [text]);
}
