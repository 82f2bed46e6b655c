import { subscribe, unsubscribe } from "node:diagnostics_channel";

/** What HTTP clients of this process send and are answered while it is recorded, as it goes into the connection and comes out of it. */
export interface RecordedTraffic {
  /** Requests that were sent. */
  readonly requests: number;
  /** Every line of every head and body, each once. */
  text(): string;
  stop(): void;
}

interface Exchange {
  readonly request: object;
  readonly headers?: string;
  readonly chunk?: Uint8Array | string;
  readonly response?: { readonly headers: readonly Buffer[] };
}

/** Begins to record, by the channels on which undici, the HTTP client of all our clients, tells what it does. */
export function recordTraffic(): RecordedTraffic {
  const heads: string[] = [];
  const bodies = new Map<string, Map<object, Buffer[]>>();
  let requests = 0;
  const body = (channel: string) => {
    const chunks = new Map<object, Buffer[]>();
    bodies.set(channel, chunks);
    return ({ request, chunk = "" }: Exchange) => {
      const before = chunks.get(request) ?? [];
      chunks.set(request, [...before, Buffer.from(chunk as Uint8Array)]);
    };
  };
  const heard: Readonly<Record<string, (message: Exchange) => void>> = {
    "undici:client:sendHeaders": ({ headers = "" }) => {
      requests++;
      heads.push(headers);
    },
    "undici:request:headers": ({ response }) => heads.push((response?.headers ?? []).map(String).join("\n")),
    "undici:request:bodyChunkSent": body("sent"),
    "undici:request:bodyChunkReceived": body("received"),
  };
  const listeners = Object.entries(heard).map(
    ([channel, hear]) => [channel, (message: unknown) => hear(message as Exchange)] as const,
  );
  for (const [channel, listener] of listeners) subscribe(channel, listener);
  return {
    get requests() {
      return requests;
    },
    text() {
      const whole = [...bodies.values()].flatMap((chunks) => [...chunks.values()].map((parts) => Buffer.concat(parts)));
      const lines = [...heads, ...whole.map((bytes) => bytes.toString("latin1"))].flatMap((part) => part.split("\n"));
      return [...new Set(lines)].join("\n");
    },
    stop() {
      for (const [channel, listener] of listeners) unsubscribe(channel, listener);
    },
  };
}
