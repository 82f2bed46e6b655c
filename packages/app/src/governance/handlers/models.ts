import { randomUUID } from "node:crypto";
import { serverSentEvents } from "@seneschal/adapters/models";
import { failure, type Handlers, type Payload, type Principal, type RequestFacts } from "@seneschal/contract";
import { governanceErrors, type ModelContract } from "@seneschal/contract/governance";
import {
  governanceError,
  type ModelEndpoint,
  type ModelQuestion,
  type ModelVerdict,
  readEmbeddings,
  readModels,
} from "@seneschal/governance";
import { CodedError, isCoded } from "@seneschal/kernel";
import { auditOf, type Who } from "../audit/event.ts";
import { decisionPuts, hearing } from "../decision-log.ts";
import { guardCompletion } from "../models/guard-completion.ts";
import { type GuardedPrompt, guardPrompt } from "../models/guard-prompt.ts";
import type { ModelSettings } from "../models/open-models.ts";
import { type StreamEnd, streamCompletion } from "../models/stream-completion.ts";
import type { GovernanceServices } from "../services.ts";
import { ownerOf, whoOf } from "../who.ts";

export interface ModelServices extends GovernanceServices {
  readonly models: ModelSettings;
}

interface Input {
  readonly body: Readonly<Record<string, unknown>>;
  readonly principal: Principal;
  readonly now: number;
  readonly requestId: string;
  readonly request: RequestFacts;
}

/** What is in front of language models: nothing goes to them that was not read, nothing comes back that was not read. */
export const modelHandlers: Handlers<ModelContract, ModelServices> = {
  chatCompletions: (services, input) => completed(services, "chat/completions", input),
  completions: (services, input) => completed(services, "completions", input),

  async embeddings(services, input) {
    const { prompt, id } = await admitted(services, "embeddings", input);
    const answer = readEmbeddings(await asked(services, "embeddings", prompt, gone(input)));
    return json(answer, id, prompt);
  },

  async listModels({ models }, input) {
    const reply = await models.upstream.call("GET", "models", undefined, gone(input));
    if (reply.status !== 200) throw refusedByModel(reply);
    return { body: JSON.stringify(readModels(parsed(await reply.bytes(models.maxReply)), models.names)) };
  },
};

async function completed(given: ModelServices, endpoint: Exclude<ModelEndpoint, "embeddings">, input: Input): Promise<Payload> {
  const { prompt, id, who } = await admitted(given, endpoint, input);
  const decision = randomUUID();
  const services = heard(given);
  const ended = async ({ question, verdict }: StreamEnd): Promise<void> => {
    await record(services, who, "COMPLETION", decision, question, verdict);
    if (!verdict.allowed) throw denied(decision, verdict);
  };
  if (input.body["stream"] !== true) {
    const answer = await asked(services, endpoint, prompt, gone(input));
    const facts = { id: decision, operation: "COMPLETION", model: prompt.question.model } as const;
    const { body, ...end } = await recorded(services, who, facts, () =>
      guardCompletion(services, endpoint, answer, prompt, input.now),
    );
    await ended(end);
    return json(body, id, prompt);
  }
  const { upstream, maxReply, holdBack } = services.models;
  const reply = await upstream.call("POST", endpoint, JSON.stringify(prompt.body), gone(input));
  if (reply.status !== 200) throw refusedByModel(reply);
  if (reply.mediaType !== "text/event-stream") throw governanceError("upstream_failed", "the model does not stream");
  const events = serverSentEvents(atMost(reply.body, maxReply), MOST_OF_AN_EVENT);
  const shown = streamCompletion(services, endpoint, events, prompt, { now: input.now, holdBack, ended });
  return { mediaType: "text/event-stream", headers: headersOf(id, prompt), body: written(shown) };
}

const MOST_OF_AN_EVENT = 1 << 20;

async function* atMost(body: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw governanceError("upstream_failed", "the model's answer is too long");
    yield chunk;
  }
}

/** Events as clients of this interface read them. The head is sent: a failure is told as an event, and then the stream ends without its last one. */
async function* written(events: AsyncIterable<object>): AsyncGenerator<Uint8Array> {
  const encode = (data: string): Uint8Array => Buffer.from(`data: ${data}\n\n`);
  try {
    for await (const event of events) yield encode(JSON.stringify(event));
    yield encode("[DONE]");
  } catch (error) {
    const { code, message, details } = failure(error, governanceErrors);
    yield encode(JSON.stringify({ error: { code, message, details } }));
    throw error;
  }
}

/** What decides on one prompt or completion, and remembers what the policy was asked of it. */
interface Deciding extends ModelServices {
  /** What is put beside the record of the decision, for the sinks that tell decisions. */
  puts(who: Who, id: string): ReturnType<typeof decisionPuts>;
}

function heard(services: ModelServices): Deciding {
  const { policy, last } = hearing(services.policy, services.clock);
  return { ...services, policy, puts: (who, id) => decisionPuts(services, who, id, last()) };
}

/** Reads and judges a prompt, and writes down what came of it, before anything is sent. */
async function admitted(given: ModelServices, endpoint: ModelEndpoint, input: Input) {
  const services = heard(given);
  const { models } = services;
  const id = randomUUID();
  const { user, model } = input.body;
  const who = whoOf(input, typeof user === "string" && user !== "" ? user.slice(0, 256) : undefined);
  if (models.names.length > 0 && !models.names.includes(String(model))) throw governanceError("not_found", "no such model");
  const prompt = await recorded(services, who, { id, operation: "PROMPT", model: String(model) }, () =>
    guardPrompt(services, models, endpoint, input.body, { ...input, owner: ownerOf(input) }),
  );
  await record(services, who, "PROMPT", id, prompt.question, prompt.verdict);
  if (!prompt.verdict.allowed) throw denied(id, prompt.verdict);
  return { prompt, id, who };
}

/** What cannot be read or judged is denied, and that is written down. */
async function recorded<T>(
  { store, tiers, puts }: Deciding,
  who: Who,
  { id, operation, model }: { readonly id: string; readonly operation: "PROMPT" | "COMPLETION"; readonly model: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isCoded(error, "classification_failed", "policy_evaluation_failed", "upstream_failed")) throw error;
    const facts = { id, operation, resource: `model:${model}`, allowed: false, tier: tiers.tiers.at(-1) ?? "" };
    const audit = [auditOf(who, { ...facts, reasoning: error.message })];
    await store.commit({ commitId: randomUUID(), puts: await puts(who, id), audit });
    throw error;
  }
}

async function record(
  { store, policyRevision, puts }: Deciding,
  who: Who,
  operation: "PROMPT" | "COMPLETION",
  id: string,
  { model, given, entities, flags }: ModelQuestion,
  verdict: ModelVerdict,
): Promise<void> {
  const seen = [
    ...(entities.length === 0 ? [] : [`hidden: ${entities.join(", ")}`]),
    ...(flags.length === 0 ? [] : [`flagged: ${flags.map((flag) => `${flag.kind} ${flag.id} (${flag.role})`).join(", ")}`]),
  ];
  const reasoning = `${verdict.allowed ? "Allowed" : "Denied"} by ${verdict.policyName}: ${[...verdict.reasons, ...seen].join("; ")}`;
  const facts = {
    id,
    operation,
    resource: `model:${model}`,
    allowed: verdict.allowed,
    tier: given.tier,
    tags: given.tags,
    reasoning,
  };
  const draft = auditOf(who, { ...facts, policyId: verdict.policyId, policyRevision });
  await store.commit({ commitId: randomUUID(), puts: await puts(who, id), audit: [draft] });
}

function denied(id: string, { policyId, reasons }: ModelVerdict): CodedError {
  return new CodedError("forbidden", reasons.join("; ") || "the policy does not allow this", {
    decision_id: id,
    policy_id: policyId,
  });
}

async function asked(
  { models }: ModelServices,
  endpoint: ModelEndpoint,
  { body }: GuardedPrompt,
  signal: AbortSignal,
): Promise<unknown> {
  const reply = await models.upstream.call("POST", endpoint, JSON.stringify(body), signal);
  if (reply.status !== 200) throw refusedByModel(reply);
  return parsed(await reply.bytes(models.maxReply));
}

/** What a model says of its failure is not told on: it may hold what it was told. */
function refusedByModel({ status, retryAfter }: { readonly status: number; readonly retryAfter?: number }): CodedError {
  const details = { upstream_status: status, ...(retryAfter === undefined ? {} : { retry_after: retryAfter }) };
  if (status === 429 || status === 503)
    return new CodedError("service_unavailable", "the model has no room at the moment", details);
  if (status === 400 || status === 404 || status === 422)
    return governanceError("validation_failed", "the model does not take this request", details);
  return governanceError("upstream_failed", "the model does not answer as it should", details);
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw governanceError("upstream_failed", "the model's answer is no JSON", {}, error);
  }
}

/** Ends the call when the caller is gone. */
function gone({ request }: Pick<Input, "request">): AbortSignal {
  const controller = new AbortController();
  request.onClose?.(() => controller.abort());
  return controller.signal;
}

function json(body: unknown, decision: string, prompt: GuardedPrompt): Payload {
  return { body: JSON.stringify(body), headers: headersOf(decision, prompt) };
}

function headersOf(decision: string, { question }: GuardedPrompt): Readonly<Record<string, string>> {
  const flags = [...new Set(question.flags.map(({ kind, id }) => `${kind}:${id}`))];
  return { "x-decision-id": decision, ...(flags.length === 0 ? {} : { "x-flags": flags.join(", ") }) };
}
