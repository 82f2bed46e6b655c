import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the stub was asked. */
export interface AnalyzeRequest {
  readonly text: string;
  readonly language: string;
  readonly entities: readonly string[];
}

export interface PresidioStub {
  readonly url: string;
  readonly asked: AnalyzeRequest[];
  /** Headers of the last request. */
  headers(): IncomingMessage["headers"];
  /** Answers otherwise from now on; without an argument as Presidio does. */
  answer(answer?: (request: AnalyzeRequest, response: ServerResponse) => void): void;
  close(): Promise<void>;
}

/** A service with Presidio's `POST /analyze` that knows some words; offsets are code points, as Python has them. */
export async function startPresidioStub(words: Readonly<Record<string, string>>): Promise<PresidioStub> {
  const asked: AnalyzeRequest[] = [];
  let last: IncomingMessage["headers"] = {};
  let answer: ((request: AnalyzeRequest, response: ServerResponse) => void) | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as AnalyzeRequest;
    asked.push(body);
    last = request.headers;
    if (request.method !== "POST" || request.url !== "/analyze") response.writeHead(404).end();
    else if (answer !== undefined) answer(body, response);
    else if (body.text === "") response.writeHead(500).end(JSON.stringify({ error: "No text provided" }));
    else json(response, analyzed(body, words));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    headers: () => last,
    answer(next) {
      answer = next;
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

export function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function analyzed({ text, entities }: AnalyzeRequest, words: Readonly<Record<string, string>>): readonly object[] {
  return Object.entries(words).flatMap(([word, entity_type]) =>
    entities.includes(entity_type)
      ? [...text.matchAll(new RegExp(word, "g"))].map(({ index }) => {
          const start = [...text.slice(0, index)].length;
          return { entity_type, start, end: start + [...word].length, score: 0.85, analysis_explanation: null };
        })
      : [],
  );
}
