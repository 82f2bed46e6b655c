import {
  governanceError,
  type ModelEndpoint,
  type ModelQuestion,
  type ModelVerdict,
  readCompletion,
} from "@seneschal/governance";
import type { GovernanceServices } from "../services.ts";
import { CompletionFacts } from "./completion-facts.ts";
import type { GuardedPrompt } from "./guard-prompt.ts";
import { HeldText } from "./held-text.ts";

type Obj = Record<string, unknown>;

/** How a stream ended: what was said and judged so far. */
export interface StreamEnd {
  readonly question: ModelQuestion;
  readonly verdict: ModelVerdict;
}

/**
 * The events of a stream as the caller may see them: every text goes through a {@link HeldText}, and the policy is asked before a piece is shown whenever there is something new to judge. `ended` is
 * called once, before the last event, or when the stream breaks off or nobody listens any more. Throws `forbidden` by way of `ended` and `upstream_failed`.
 */
export async function* streamCompletion(
  services: GovernanceServices,
  endpoint: Exclude<ModelEndpoint, "embeddings">,
  events: AsyncIterable<string>,
  prompt: GuardedPrompt,
  {
    now,
    holdBack,
    ended,
  }: { readonly now: number; readonly holdBack: number; readonly ended: (end: StreamEnd) => Promise<void> },
): AsyncGenerator<Obj> {
  const facts = new CompletionFacts(services, prompt, now);
  const channels = new Map<string, { readonly held: HeldText; readonly alone: (text: string) => Obj }>();
  let envelope: Obj = {};
  let over = false;
  const allowed = async (): Promise<boolean> => (await facts.judge()).verdict.allowed;
  const finish = async (): Promise<void> => {
    if (over) return;
    over = true;
    await ended(await facts.judge());
  };
  /** What the channels of a choice, or all, still hold. */
  const rest = async (index?: unknown): Promise<Obj[]> => {
    const choices: Obj[] = [];
    for (const [name, { held, alone }] of channels) {
      if (index !== undefined && !name.startsWith(`${index}.`)) continue;
      channels.delete(name);
      const text = await held.end();
      if (text !== "") choices.push(alone(text));
    }
    return choices;
  };
  try {
    for await (const data of events) {
      if (data.trim() === "[DONE]") break;
      const { body, texts } = readCompletion(endpoint, parsed(data), true);
      const { choices, usage, ...head } = body as { choices: Obj[]; usage?: unknown };
      envelope = head;
      for (const { channel, text, form, set, alone } of texts) {
        let known = channels.get(channel);
        if (known === undefined) {
          known = { held: new HeldText(prompt.guard, prompt.verdict.rules.completion, facts, form, holdBack), alone };
          channels.set(channel, known);
        }
        set(await known.held.push(text));
      }
      // What a choice says in its last event comes before what was held of it, and its end behind both.
      const ends = choices.flatMap((choice) => {
        const { index, finish_reason } = choice;
        if (finish_reason === null) return [];
        choice["finish_reason"] = null;
        const nothing = endpoint === "completions" ? { text: "" } : { delta: {} };
        return [{ index, ...nothing, logprobs: null, finish_reason }];
      });
      const held: Obj[] = [];
      for (const { index } of ends) held.push(...(await rest(index)));
      if (!(await allowed())) return await finish();
      if (choices.some(says)) yield { ...head, choices };
      if (held.length > 0) yield { ...head, choices: held };
      if (ends.length > 0) yield { ...head, choices: ends };
      if (usage !== undefined) yield { ...head, choices: [], usage };
    }
    const left = await rest();
    const fine = await allowed();
    await finish();
    if (fine && left.length > 0) yield { ...envelope, choices: left };
  } finally {
    await finish();
  }
}

/** Whether an event tells anything. */
function says(choice: Obj): boolean {
  const { index, logprobs, ...told } = choice;
  const filled = (value: unknown): boolean =>
    typeof value === "object" && value !== null
      ? Object.values(value).some(filled)
      : value !== null && value !== "" && value !== undefined;
  return filled(told);
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    throw governanceError("upstream_failed", "an event of the model's answer is no JSON", {}, error);
  }
}
