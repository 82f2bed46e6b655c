import { type ModelEndpoint, type ModelQuestion, type ModelVerdict, readCompletion } from "@seneschal/governance";
import type { GovernanceServices } from "../services.ts";
import { CompletionFacts } from "./completion-facts.ts";
import type { GuardedPrompt } from "./guard-prompt.ts";
import { guardText } from "./text-guard.ts";

export interface GuardedCompletion {
  /** As the caller may see it: hidden is what the rules hide, back is what the prompt held. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly question: ModelQuestion;
  readonly verdict: ModelVerdict;
}

/** Reads everything that a model said, hides what the rules for completions hide, asks the policy, and puts the caller's own values back. */
export async function guardCompletion(
  services: GovernanceServices,
  endpoint: Exclude<ModelEndpoint, "embeddings">,
  answer: unknown,
  prompt: GuardedPrompt,
  now: number,
): Promise<GuardedCompletion> {
  const { guard, verdict } = prompt;
  const { body, texts } = readCompletion(endpoint, answer);
  const facts = new CompletionFacts(services, prompt, now);
  for (const { text, form, set } of texts) {
    const guarded = await guardText(guard, { path: "completion", parts: [text], form: "text" }, verdict.rules.completion, false);
    const [safe = ""] = guarded.parts;
    await facts.add(text, safe, guarded.entities, guarded.injections);
    set(guard.placeholders.restore(safe, form));
  }
  return { body, ...(await facts.judge()) };
}
