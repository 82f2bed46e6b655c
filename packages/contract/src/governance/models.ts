import * as z from "zod";
import { MOST_VALUES } from "../body-bounds.ts";
import type { Contract } from "../route.ts";

const model = z.string().min(1).max(256);
/** Probabilities would tell what is hidden, and sound cannot be read. */
const readable = {
  logprobs: z
    .union([z.literal(false), z.literal(0), z.null()])
    .optional()
    .meta({ description: "Not given: they would tell what is hidden" }),
  top_logprobs: z.union([z.literal(0), z.null()]).optional(),
  modalities: z.array(z.literal("text")).max(1).optional(),
  audio: z.null().optional(),
  n: z.int().min(1).max(16).nullable().optional(),
  stream: z.boolean().nullable().optional(),
};
const texts = z.union([z.string(), z.array(z.string()).max(2048)]);
/** Whatever else is said goes on after it was read: what is in front of a model changes faster than any list. */
const chat = z
  .looseObject({
    model,
    messages: z
      .array(z.looseObject({ role: z.string().max(32) }))
      .min(1)
      .max(4096),
    ...readable,
  })
  .meta({ id: "ChatCompletionRequest" });
const completion = z.looseObject({ model, prompt: texts, ...readable }).meta({ id: "CompletionRequest" });
const embedding = z.looseObject({ model, input: texts }).meta({ id: "EmbeddingRequest" });

const asked = {
  method: "POST",
  tag: "models",
  auth: "principal",
  action: "models",
  bodyLimit: 4 << 20,
  values: MOST_VALUES,
  status: 200,
  errors: [502, 503],
  extension: true,
} as const;

/** OpenAI's interface, as clients of language models speak it, below a path of the configuration. */
export function modelRoutes(prefix: string) {
  return {
    chatCompletions: {
      ...asked,
      path: `${prefix}/chat/completions`,
      summary: "Ask a model, with what is sensitive hidden from it",
      body: chat,
      produces: ["application/json", "text/event-stream"],
    },
    completions: {
      ...asked,
      path: `${prefix}/completions`,
      summary: "Let a model go on with a text, with what is sensitive hidden from it",
      body: completion,
      produces: ["application/json", "text/event-stream"],
    },
    embeddings: {
      ...asked,
      path: `${prefix}/embeddings`,
      summary: "Vectors of texts, with what is sensitive hidden from the model",
      body: embedding,
      produces: "application/json",
    },
    listModels: {
      method: "GET",
      path: `${prefix}/models`,
      summary: "The models that may be used",
      tag: "models",
      auth: "principal",
      action: "models",
      status: 200,
      produces: "application/json",
      errors: [502, 503],
      extension: true,
    },
  } as const satisfies Contract;
}
