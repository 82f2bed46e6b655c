import type { Json } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import type { CompiledPolicy } from "@seneschal/kernel/ports";
import { type TierPolicy, tierRank } from "../classification/tiers.ts";
import { governanceError } from "../errors.ts";
import { decisionOf } from "../evaluate/evaluate-operation.ts";
import type { Obligation } from "../evaluate/types.ts";
import { REDACTION_OPERATORS, type RedactionOperator, type RedactionRule, unknownInRule } from "../redaction/rules.ts";

/** Where the decision on what a model is told and says is. */
export const MODEL_DECISION_PATH = ["data", "governance", "model_decision"] as const;

/** What was seen in a text without being taken out of it. */
export interface Flag {
  readonly kind: "secret" | "prompt_injection";
  /** The entity, or the id of the pattern. */
  readonly id: string;
  /** Whose text it stood in. */
  readonly role: string;
}

export interface Sensitivity {
  readonly tier: string;
  readonly tags: readonly string[];
}

/** What the policy is asked. */
export interface ModelQuestion {
  readonly direction: "prompt" | "completion";
  readonly endpoint: string;
  readonly model: string;
  /** The highest tier that the model takes. */
  readonly accepts: string;
  readonly subject: { readonly id: string; readonly org: string; readonly scopes: readonly string[] };
  /** Of the texts as they came. */
  readonly given: Sensitivity;
  /** Of the texts as they go on. */
  readonly remaining: Sensitivity;
  readonly entities: readonly string[];
  readonly flags: readonly Flag[];
  readonly media: readonly string[];
}

export interface ModelVerdict {
  readonly allowed: boolean;
  readonly policyId: string;
  readonly policyName: string;
  readonly reasons: readonly string[];
  readonly obligations: readonly Obligation[];
  /** Of the obligations of type `redaction`. */
  readonly rules: { readonly prompt: readonly RedactionRule[]; readonly completion: readonly RedactionRule[] };
}

/**
 * Asks the policy whether a model may be told this, or the caller shown that. What the policy leaves undefined, what has not the shape of a decision, and what comes with an
 * obligation that is not understood here, is not an allow. Throws `policy_evaluation_failed` when the engine fails.
 */
export async function decideModel(
  question: ModelQuestion,
  policy: CompiledPolicy,
  tiers: TierPolicy,
  now: number,
  owner: string,
): Promise<ModelVerdict> {
  checkArgument("question", question, "object");
  checkArgument("policy", policy, "object");
  checkArgument("tiers", tiers, "object");
  checkArgument("now", now, "number");
  checkArgument("owner", owner, "string");
  const sensitivity = ({ tier, tags }: Sensitivity): Json => ({ tier, rank: tierRank(tiers, tier), tags: [...tags] });
  const { direction, endpoint, model, subject, given, remaining, entities, flags, media, accepts } = question;
  const input: Json = {
    direction,
    endpoint,
    model,
    entities: [...entities],
    media: [...media],
    tiers: [...tiers.tiers],
    subject: { id: subject.id, org: subject.org, scopes: [...subject.scopes] },
    accepts_rank: tierRank(tiers, accepts),
    classification: sensitivity(given),
    remaining: sensitivity(remaining),
    flags: flags.map((flag) => ({ ...flag })),
  };
  const answer = await policy.evaluate([...MODEL_DECISION_PATH], input, { now, owner });
  if (answer.kind === "error")
    throw governanceError("policy_evaluation_failed", "the policy could not be evaluated", { reason: answer.code });
  const decision = answer.kind === "defined" ? decisionOf(answer.value) : undefined;
  if (decision === undefined) return refusal("default-deny", "Deny by default", "no policy decides on models");
  const rules: Record<"prompt" | "completion", RedactionRule[]> = { prompt: [], completion: [] };
  for (const { type, properties } of decision.obligations) {
    if (type === "notice") continue;
    const of = properties["of"];
    const ruled = type === "redaction" ? rulesOf(properties["rules"], tiers) : undefined;
    if (ruled === undefined || (of !== "prompt" && of !== "completion"))
      return refusal(
        "unknown-obligation",
        "Obligations are carried out",
        `an obligation of type ${type} cannot be carried out here`,
      );
    rules[of].push(...ruled);
  }
  return { ...decision, rules };
}

function refusal(policyId: string, policyName: string, reason: string): ModelVerdict {
  return { allowed: false, policyId, policyName, reasons: [reason], obligations: [], rules: { prompt: [], completion: [] } };
}

/** The rules of an obligation; `undefined` when one of them cannot be meant. */
function rulesOf(given: Json | undefined, tiers: TierPolicy): readonly RedactionRule[] | undefined {
  if (!Array.isArray(given)) return undefined;
  const rules = given.map((value): RedactionRule | undefined => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const { entity, tier, operator, keep_last, ...rest } = value as Readonly<Record<string, Json | undefined>>;
    if (Object.keys(rest).length > 0 || !REDACTION_OPERATORS.some((each) => each === operator)) return undefined;
    if (entity !== undefined && typeof entity !== "string") return undefined;
    if (tier !== undefined && typeof tier !== "string") return undefined;
    if (unknownInRule({ entity, tier }, tiers) !== undefined) return undefined;
    if (keep_last !== undefined && (typeof keep_last !== "number" || ![0, 1, 2, 3, 4].includes(keep_last))) return undefined;
    return {
      operator: operator as RedactionOperator,
      ...(entity === undefined ? {} : { entity }),
      ...(tier === undefined ? {} : { tier }),
      ...(keep_last === undefined ? {} : { keepLast: keep_last }),
    };
  });
  return rules.includes(undefined) ? undefined : (rules as readonly RedactionRule[]);
}
