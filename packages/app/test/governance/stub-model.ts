import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What came to a model: the whole body as text, and the headers. */
export interface Told {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever came
  readonly body: any;
}

export interface StubModel {
  readonly url: string;
  /** All that it was told, oldest first. */
  readonly told: Told[];
  /** How it answers from now on. */
  answer(by: (told: Told, response: ServerResponse) => void | Promise<void>): void;
  close(): Promise<void>;
}

/** The texts of a chat, prompts or inputs, one after the other. */
export function textsOf(body: Told["body"]): string {
  if (Array.isArray(body?.messages))
    return body.messages
      .map(({ content }: { content: unknown }) =>
        Array.isArray(content) ? content.map((part) => part.text ?? "").join("") : String(content ?? ""),
      )
      .join("\n");
  return [body?.prompt ?? body?.input ?? []].flat().join("\n");
}

/** Says what it was told, as a model of each endpoint would. */
export function echo({ path, body }: Told, response: ServerResponse): void {
  say(path, textsOf(body), response);
}

/** Answers with a text. */
export function say(path: string, text: string, response: ServerResponse): void {
  const head = { id: "cmpl-1", created: 1, model: "stub-1", usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
  const answer = path.endsWith("/chat/completions")
    ? {
        ...head,
        object: "chat.completion",
        choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
      }
    : path.endsWith("/embeddings")
      ? { object: "list", model: "stub-1", data: [{ object: "embedding", index: 0, embedding: [0.5, -0.25] }], usage: head.usage }
      : path.endsWith("/models")
        ? { object: "list", data: [{ id: "stub-1", object: "model", created: 1, owned_by: "stub" }] }
        : { ...head, object: "text_completion", choices: [{ index: 0, text, finish_reason: "stop" }] };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
}

/** A server that stands for somebody's models, on a real socket. */
export async function startStubModel(): Promise<StubModel> {
  const told: Told[] = [];
  let by: Parameters<StubModel["answer"]>[0] = echo;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const heard = { path: request.url ?? "", headers: request.headers, text, body: text === "" ? undefined : JSON.parse(text) };
    told.push(heard);
    await by(heard, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    told,
    answer(next) {
      by = next;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Streams pieces of a text as a model does, its bytes cut at `every` where that is given. */
export async function stream(path: string, pieces: readonly string[], response: ServerResponse, every?: number): Promise<void> {
  const head = { id: "cmpl-1", created: 1, model: "stub-1" };
  const chat = path.endsWith("/chat/completions");
  const choice = (said: string | undefined, finish_reason: string | null = null) =>
    chat
      ? { index: 0, delta: said === undefined ? {} : { content: said }, finish_reason }
      : { index: 0, text: said ?? "", finish_reason };
  const events: object[] = [
    ...(chat ? [{ ...head, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] }] : []),
    ...pieces.map((piece) => ({ ...head, choices: [choice(piece)] })),
    { ...head, choices: [choice(undefined, "stop")] },
  ];
  const bytes = Buffer.from(
    `${[...events.map((event) => JSON.stringify(event)), "[DONE]"].map((data) => `data: ${data}\n\n`).join("")}`,
  );
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
  for (let at = 0; at < bytes.length; at += every ?? bytes.length) {
    response.write(bytes.subarray(at, at + (every ?? bytes.length)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

/** A text cut after every `size` characters. */
export function cut(text: string, size: number): string[] {
  const characters = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += size) pieces.push(characters.slice(at, at + size).join(""));
  return pieces;
}
