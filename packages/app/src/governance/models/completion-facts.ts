import { nextTurn } from "@seneschal/adapters/system";
import {
  classifyWith,
  decideModel,
  type Flag,
  lowestTier,
  type ModelQuestion,
  type ModelVerdict,
  maxTier,
  policyOf,
} from "@seneschal/governance";
import type { GovernanceServices } from "../services.ts";
import { type GuardedPrompt, sensitivityOf } from "./guard-prompt.ts";
import { entitiesLeft } from "./text-guard.ts";

const ROLE = "assistant";

/** What was found out about all that a model said so far, and what the policy says to it. */
export class CompletionFacts {
  readonly #entities = new Set<string>();
  readonly #left = new Set<string>();
  readonly #flags = new Map<string, Flag>();
  readonly #tags = new Set<string>();
  #tier: string;
  #judged: { readonly question: ModelQuestion; readonly verdict: ModelVerdict } | undefined;

  readonly #services: GovernanceServices;
  readonly #prompt: GuardedPrompt;
  readonly #now: number;

  constructor(services: GovernanceServices, prompt: GuardedPrompt, now: number) {
    this.#services = services;
    this.#prompt = prompt;
    this.#now = now;
    this.#tier = lowestTier(services.tiers);
  }

  /** Takes in a text as the model said it, as it is after hiding, and what was found in it. */
  async add(text: string, safe: string, entities: Iterable<string>, injections: readonly string[]): Promise<void> {
    const { tiers, classifier, catalogues } = this.#services;
    const { guard, question } = this.#prompt;
    const catalogue = await catalogues.at(question.subject.org);
    const found = await classifyWith(classifier, text, {}, catalogue.factsOf, guard.owner, nextTurn);
    this.#tier = maxTier(tiers, this.#tier, found.tier);
    for (const tag of found.tags) this.#tags.add(tag);
    for (const entity of entities) {
      this.#entities.add(entity);
      if (policyOf(tiers, entity).tags.includes("CREDENTIALS"))
        this.#flags.set(entity, { kind: "secret", id: entity, role: ROLE });
    }
    for (const id of injections) this.#flags.set(id, { kind: "prompt_injection", id, role: ROLE });
    for (const entity of await entitiesLeft(guard, safe)) this.#left.add(entity);
  }

  /** What the policy says to all of it; asked again only when there is something new. */
  async judge(): Promise<{ readonly question: ModelQuestion; readonly verdict: ModelVerdict }> {
    const { tiers, policy } = this.#services;
    const { guard, question: asked } = this.#prompt;
    const question: ModelQuestion = {
      ...asked,
      direction: "completion",
      media: [],
      given: { tier: this.#tier, tags: [...this.#tags] },
      remaining: sensitivityOf(this.#left, tiers),
      entities: [...this.#entities].sort(),
      flags: [...this.#flags.values()],
    };
    if (this.#judged !== undefined && JSON.stringify(this.#judged.question) === JSON.stringify(question)) return this.#judged;
    this.#judged = { question, verdict: await decideModel(question, policy, tiers, this.#now, guard.owner) };
    return this.#judged;
  }
}
