import { governanceError } from "../errors.ts";
import type { ModelEndpoint } from "./read-request.ts";

/** A text of an answer, and how to put another one in its place. */
export interface CompletionText {
  /** The same for all pieces of one text of a stream. */
  readonly channel: string;
  readonly text: string;
  /** Arguments of a call are JSON. */
  readonly form: "text" | "json";
  set(text: string): void;
  /** A choice of a stream that says a text of this channel and nothing else. */
  alone(text: string): Record<string, unknown>;
}

/** What of an answer is told: all of it is known by name, what is not is left out. */
export interface ModelAnswer {
  readonly body: Record<string, unknown>;
  readonly texts: readonly CompletionText[];
}

type Obj = Record<string, unknown>;

/** A word that names something: no sentence, no value. */
const NAME = /^[\w.:/@+-]{1,256}$/;
const TEXTS = ["content", "refusal", "reasoning_content", "reasoning"] as const;

/**
 * An answer of a model, whole or (`piece`) one event of a stream. Throws `upstream_failed` for what is not one. Probabilities of tokens are left out: they would tell what is hidden.
 */
export function readCompletion(endpoint: Exclude<ModelEndpoint, "embeddings">, given: unknown, piece = false): ModelAnswer {
  const answer = objectOf(given, "the answer");
  const texts: CompletionText[] = [];
  const choices = listOf(answer["choices"], "choices").map((each) => {
    const from = objectOf(each, "a choice");
    const index = count(from["index"]) ?? 0;
    const choice: Obj = { index };
    if (endpoint === "completions") text(from, "text", choice, `${index}.text`, "text", (changed) => ({ index, text: changed }));
    else {
      const key = piece ? "delta" : "message";
      choice[key] = message(objectOf(from[key] ?? {}, key), index);
    }
    choice["logprobs"] = null;
    choice["finish_reason"] = name(from["finish_reason"]) ?? null;
    return choice;
  });
  return { body: { ...envelope(answer), choices, ...usage(answer) }, texts };

  function text(
    from: Obj,
    key: string,
    to: Obj,
    channel: string,
    form: CompletionText["form"],
    alone: CompletionText["alone"],
  ): void {
    const value = from[key];
    if (value === undefined) return;
    if (value !== null && typeof value !== "string") throw unlike(`${key} is no text`);
    to[key] = value;
    if (value === null) return;
    const set = (changed: string): void => {
      to[key] = changed;
    };
    texts.push({
      channel,
      text: value,
      form,
      set,
      alone: (changed) => ({ ...alone(changed), logprobs: null, finish_reason: null }),
    });
  }

  function message(from: Obj, index: number): Obj {
    const to: Obj = {};
    const role = name(from["role"]);
    if (role !== undefined) to["role"] = role;
    for (const key of TEXTS) text(from, key, to, `${index}.${key}`, "text", (changed) => ({ index, delta: { [key]: changed } }));
    if (from["audio"] !== undefined && from["audio"] !== null) throw unlike("sound cannot be read");
    if (isObject(from["function_call"]))
      to["function_call"] = called(from["function_call"], `${index}.function_call`, (changed) => ({
        index,
        delta: { function_call: changed },
      }));
    if (Array.isArray(from["tool_calls"]))
      to["tool_calls"] = from["tool_calls"].map((each: unknown, i) => {
        const call = objectOf(each, "a call");
        const place = count(call["index"]) ?? i;
        const type = name(call["type"]);
        const id = name(call["id"]);
        const inner = type === "custom" || isObject(call["custom"]) ? "custom" : "function";
        return {
          ...(piece ? { index: place } : {}),
          ...(id === undefined ? {} : { id }),
          ...(type === undefined ? {} : { type }),
          ...(isObject(call[inner])
            ? {
                [inner]: called(call[inner], `${index}.tool_calls.${place}`, (changed) => ({
                  index,
                  delta: { tool_calls: [{ index: place, [inner]: changed }] },
                })),
              }
            : {}),
        };
      });
    return to;
  }

  function called(from: Obj, channel: string, alone: (changed: Obj) => Obj): Obj {
    const to: Obj = {};
    const of = name(from["name"]);
    if (of !== undefined) to["name"] = of;
    text(from, "arguments", to, channel, "json", (changed) => alone({ arguments: changed }));
    text(from, "input", to, channel, "text", (changed) => alone({ input: changed }));
    return to;
  }
}

/** The answer of an embedding: vectors, no text. Throws `upstream_failed` for what is not one. */
export function readEmbeddings(given: unknown): Obj {
  const answer = objectOf(given, "the answer");
  const data = listOf(answer["data"], "data").map((each, i) => {
    const { embedding, index } = objectOf(each, "an embedding");
    const vector =
      typeof embedding === "string"
        ? /^[A-Za-z0-9+/]*={0,2}$/.test(embedding)
        : Array.isArray(embedding) && embedding.every((number) => typeof number === "number");
    if (!vector) throw unlike("an embedding is no vector");
    return { object: "embedding", index: count(index) ?? i, embedding };
  });
  return { object: "list", data, model: name(answer["model"]) ?? "", ...usage(answer) };
}

/** The models that are there, of those that may be used. Throws `upstream_failed` for what is no list of them. */
export function readModels(given: unknown, allowed: readonly string[]): Obj {
  const data = listOf(objectOf(given, "the answer")["data"], "data").flatMap((each) => {
    const model = objectOf(each, "a model");
    const id = name(model["id"]);
    if (id === undefined || (allowed.length > 0 && !allowed.includes(id))) return [];
    return [{ id, object: "model", created: count(model["created"]) ?? 0, owned_by: name(model["owned_by"]) ?? "" }];
  });
  return { object: "list", data };
}

function envelope(answer: Obj): Obj {
  const of = (key: string): Obj => {
    const value = key === "created" ? count(answer[key]) : name(answer[key]);
    return value === undefined ? {} : { [key]: value };
  };
  return { ...of("id"), ...of("object"), ...of("created"), ...of("model"), ...of("system_fingerprint"), ...of("service_tier") };
}

/** Counts, at any depth. */
function usage(answer: Obj): Obj {
  const counts = (value: unknown, depth: number): unknown => {
    if (!isObject(value) || depth > 3) return count(value);
    const members = Object.entries(value).filter(([key]) => NAME.test(key));
    return Object.fromEntries(
      members.map(([key, inner]) => [key, counts(inner, depth + 1)]).filter(([, inner]) => inner !== undefined),
    );
  };
  return isObject(answer["usage"]) ? { usage: counts(answer["usage"], 0) } : {};
}

function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function name(value: unknown): string | undefined {
  return typeof value === "string" && NAME.test(value) ? value : undefined;
}

function isObject(value: unknown): value is Obj {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown, what: string): Obj {
  if (!isObject(value)) throw unlike(`${what} is no object`);
  return value;
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw unlike(`${what} is no list`);
  return value;
}

function unlike(reason: string): Error {
  return governanceError("upstream_failed", `the model's answer cannot be read: ${reason}`);
}
