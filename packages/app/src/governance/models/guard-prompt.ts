import { nextTurn } from "@seneschal/adapters/system";
import type { Principal } from "@seneschal/contract";
import {
  classifyWith,
  decideModel,
  type Flag,
  governanceError,
  lowestTier,
  type ModelEndpoint,
  type ModelQuestion,
  type ModelRequest,
  type ModelVerdict,
  maxTier,
  Placeholders,
  policyOf,
  type RedactionRule,
  readModelRequest,
  type Sensitivity,
  tagsOf,
  tierRank,
} from "@seneschal/governance";
import { invalid } from "../fault.ts";
import type { GovernanceServices } from "../services.ts";
import { guardTalk, type TalkText } from "./guard-talk.ts";
import type { ModelSettings } from "./open-models.ts";
import { entitiesLeft, guardText, isJson, type TextGuard } from "./text-guard.ts";

/** What the model may be sent, and all that was found out on the way. */
export interface GuardedPrompt {
  readonly body: Readonly<Record<string, unknown>>;
  readonly guard: TextGuard;
  readonly question: ModelQuestion;
  readonly verdict: ModelVerdict;
}

/** The longest text that is read at once, as in a request for redaction. */
const LONGEST = 524_288;

/**
 * Reads everything that a request says, hides what the rules hide, and asks the policy. What of this fails is thrown, and then nothing may be sent.
 */
export async function guardPrompt(
  services: GovernanceServices,
  { accepts }: ModelSettings,
  endpoint: ModelEndpoint,
  given: Readonly<Record<string, unknown>>,
  { principal, owner, now }: { readonly principal: Principal; readonly owner: string; readonly now: number },
): Promise<GuardedPrompt> {
  const { tiers, config, classifier, redactionKey, catalogues, policy } = services;
  const key = [...(await redactionKey(principal.org))];
  const catalogue = await catalogues.at(principal.org);
  const read = readModelRequest(endpoint, given);
  for (const { path, parts } of read.texts)
    if (parts.reduce((sum, part) => sum + part.length, 0) > LONGEST)
      throw invalid(path, `a text has at most ${LONGEST} characters`);

  let tier = lowestTier(tiers);
  const tags = new Set<string>();
  for (const text of contentTexts(read)) {
    const found = await classifyWith(classifier, text, {}, catalogue.factsOf, owner, nextTurn);
    tier = maxTier(tiers, tier, found.tier);
    for (const tag of found.tags) tags.add(tag);
  }
  const asked = {
    ...({ direction: "prompt", endpoint, accepts, media: read.media } as const),
    model: String(given["model"]),
    subject: { id: principal.id, org: principal.org, scopes: principal.scopes },
  };
  const judged = async (extra: readonly RedactionRule[]): Promise<GuardedPrompt> => {
    // What the deployment rules comes first; where nobody says anything, CONFIDENTIAL and above is hidden and comes back.
    const third = tiers.tiers[Math.min(2, tiers.tiers.length - 1)] ?? "";
    const rules: readonly RedactionRule[] = [
      ...config.redaction.rules.map(
        ({ keep_last, ...rule }) => ({ ...rule, ...(keep_last === undefined ? {} : { keepLast: keep_last }) }) as RedactionRule,
      ),
      ...extra,
      { tier: third, operator: "tokenise" },
    ];
    const request = readModelRequest(endpoint, given);
    const guard = {
      redactor: classifier,
      key,
      owner,
      placeholders: new Placeholders([JSON.stringify(given), ...contentTexts(request)]),
    };
    const { across, ...facts } = await hideAll(request, guard, rules, services);
    const said = { tier: maxTier(tiers, tier, across.tier), tags: [...new Set([...tags, ...across.tags])] };
    const question = { ...asked, given: said, ...facts };
    return { body: request.body, guard, question, verdict: await decideModel(question, policy, tiers, now, owner) };
  };
  const first = await judged([]);
  const { rules } = first.verdict;
  if (!first.verdict.allowed || rules.prompt.length === 0) return first;
  const second = await judged(rules.prompt);
  if (!second.verdict.allowed || JSON.stringify(second.verdict.rules.prompt) === JSON.stringify(rules.prompt)) return second;
  throw governanceError("policy_evaluation_failed", "the policy asks for other redactions each time");
}

/** Texts of content, without names of things. */
function contentTexts({ texts }: ModelRequest): readonly string[] {
  return texts.filter(({ form }) => form !== "fixed").map(({ parts }) => parts.join(""));
}

async function hideAll(
  request: ModelRequest,
  guard: TextGuard,
  rules: readonly RedactionRule[],
  { tiers }: GovernanceServices,
): Promise<Pick<ModelQuestion, "remaining" | "entities" | "flags"> & { readonly across: Sensitivity }> {
  const entities = new Set<string>();
  const left = new Set<string>();
  const flags = new Map<string, Flag>();
  const flag = (kind: Flag["kind"], id: string, role: string): void =>
    void flags.set(`${kind} ${id} ${role}`, { kind, id, role });
  const clean = new Set<string>();
  const talk: TalkText[] = [];
  /** Texts of messages after what they hold together is hidden. */
  const settles: (() => void)[] = [];
  const found = (entity: string, role: string): void => {
    entities.add(entity);
    if (policyOf(tiers, entity).tags.includes("CREDENTIALS")) flag("secret", entity, role);
  };
  for (const text of request.texts) {
    const { path, role, parts, form } = text;
    const whole = parts.join("");
    if (form === "fixed" && clean.has(whole)) continue;
    const guarded = await guardText(guard, text, rules, true);
    for (const entity of guarded.entities) found(entity, role);
    for (const id of guarded.injections) flag("prompt_injection", id, role);
    if (form === "fixed") {
      if (guarded.entities.size > 0) throw invalid(path, "holds what may not be told, in a place where it cannot be hidden");
      clean.add(whole);
    } else if (form === "text" && path.startsWith("messages[") && !isJson(guarded.parts.join(""))) {
      const said = guarded.parts.map((part): TalkText => ({ role, text: part }));
      talk.push(...said);
      settles.push(() => text.set(said.map((part) => part.text)));
    } else text.set(guarded.parts);
    for (const entity of await entitiesLeft(guard, guarded.parts.join(""))) left.add(entity);
  }
  const together = await guardTalk(guard, talk, rules);
  for (const settle of settles) settle();
  for (const entity of together.hidden) found(entity, "none");
  for (const entity of together.left) left.add(entity);
  return {
    entities: [...entities].sort(),
    remaining: sensitivityOf(left, tiers),
    flags: [...flags.values()],
    across: sensitivityOf(new Set([...together.hidden, ...together.left]), tiers),
  };
}

/** The tier and the tags of what was found. */
export function sensitivityOf(entities: ReadonlySet<string>, tiers: GovernanceServices["tiers"]): Sensitivity {
  const tier = [...entities]
    .map((entity) => policyOf(tiers, entity).tier)
    .reduce((a, b) => (tierRank(tiers, a) >= tierRank(tiers, b) ? a : b), lowestTier(tiers));
  return { tier, tags: tagsOf(tiers, entities) };
}
