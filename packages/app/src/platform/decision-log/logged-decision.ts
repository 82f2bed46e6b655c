import type { Logger } from "@seneschal/adapters/logging";
import { type DecisionEvent, DROP_PATH, isDropped, MASK_PATH, maskDecision } from "@seneschal/core/audit";
import { checkArgument, type Json, type JsonObject } from "@seneschal/kernel";
import type { CompiledPolicy, PolicyAnswer } from "@seneschal/kernel/ports";

/** What a policy was asked, and what it said. */
export interface Heard {
  readonly path: readonly string[];
  readonly input: Json;
  readonly answer: PolicyAnswer;
  readonly milliseconds: number;
}

/** A decision as it is to be logged. */
export interface Decision {
  readonly id: string;
  readonly heard: Heard;
  /** The policy that decided: revision by bundle. */
  readonly bundles: DecisionEvent["bundles"];
  readonly requestedBy: string;
  /** Milliseconds, of the request. */
  readonly now: number;
  /** Whose work the masking is. */
  readonly owner: string;
}

/** What all decisions of a service are logged by. */
export interface DecisionLogParts {
  /** Says in `data.system.log` what of a decision is not logged, and which are not. Undefined: nothing is said. */
  readonly policy: CompiledPolicy | undefined;
  readonly version: string;
  /** `server.instance_id`. */
  readonly instance: string | undefined;
  readonly log: Pick<Logger, "warn">;
}

/** Characters of one decision as JSON. */
export const LARGEST_DECISION = 512 * 1024;

/**
 * The event of a decision as JSON text, masked by the policy; undefined where the policy drops it. A mask that fails hides input and result, and is told; so is a
 * decision of more than `most` characters.
 */
export async function loggedDecision(
  parts: DecisionLogParts,
  decision: Decision,
  most = LARGEST_DECISION,
): Promise<string | undefined> {
  checkArgument("parts", parts, "object");
  checkArgument("decision", decision, "object");
  const { policy, version, instance, log } = parts;
  const { id, heard, bundles, requestedBy, now, owner } = decision;
  const { path, input, answer, milliseconds } = heard;
  const event: DecisionEvent = {
    decision_id: id,
    labels: { app: "seneschal", version, ...(instance === undefined ? {} : { id: instance }) },
    bundles,
    path: path.slice(1).join("/"),
    input,
    ...(answer.kind === "defined" ? { result: answer.value } : {}),
    ...(answer.kind === "error" ? { error: { code: answer.code } } : {}),
    requested_by: requestedBy,
    timestamp: new Date(now).toISOString(),
    metrics: { timer_rego_query_eval_ns: milliseconds * 1_000_000 },
  };
  const ask = async (of: readonly string[]): Promise<PolicyAnswer> =>
    policy?.packages.some(([first]) => first === "system") === true
      ? policy.evaluate([...of], event as unknown as JsonObject, { now, owner })
      : { kind: "undefined" };
  if (isDropped(await ask(DROP_PATH))) return undefined;
  let masked = maskDecision(event, await ask(MASK_PATH));
  let text = JSON.stringify(masked);
  if (text.length > most) {
    masked = maskDecision(event, { kind: "error", code: "decision_too_large", message: "" });
    text = JSON.stringify(masked);
  }
  const { mask_error: failed } = masked;
  if (failed !== undefined) log.warn({ decision: id, code: failed.code }, "input and result of a decision are hidden in its log");
  return text;
}
