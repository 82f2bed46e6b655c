import { CodedError, checkOptions } from "@seneschal/kernel";
import { mtlsFetch } from "../http/index.ts";

export interface ModelUpstreamOptions {
  /** Address of the interface with its version, `https://models.example.org/v1`. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`. */
  readonly apiKey?: string;
  /** PEM of the CAs that its certificate is checked against; default: the host's. */
  readonly ca?: string;
  /** Milliseconds until the head of an answer is there, and between two pieces of it. */
  readonly timeout: number;
}

/** An answer whose head is there. */
export interface ModelReply {
  readonly status: number;
  readonly mediaType: string;
  /** Seconds after which to ask again, where it says so. */
  readonly retryAfter?: number;
  /** The body, as it comes. Rejects with `upstream_failed` when it breaks off or falls silent. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The whole body. Rejects with `upstream_failed` for one of more than `limit` bytes. */
  bytes(limit: number): Promise<Uint8Array>;
}

/** Somebody's models behind the interface that OpenAI made common. */
export interface ModelUpstream {
  /** Sends JSON, or asks. Rejects with `upstream_failed` when there is no answer; follows no redirection. */
  call(method: "GET" | "POST", path: string, body: string | undefined, signal: AbortSignal): Promise<ModelReply>;
  close(): Promise<void>;
}

/** Opens nothing yet: connections are made by calls, and kept alive. */
export function openModelUpstream(options: ModelUpstreamOptions): ModelUpstream {
  checkOptions("options", options, { url: "string", apiKey: "string?", ca: "string?", timeout: "number" });
  const { url, apiKey, ca, timeout } = options;
  const http = mtlsFetch({ timeout, ...(ca === undefined ? {} : { ca }) });
  const base = url.replace(/\/+$/, "");
  return {
    async call(method, path, body, signal) {
      let response: Response;
      try {
        response = await http.fetch(`${base}/${path}`, {
          method,
          signal,
          redirect: "error",
          headers: {
            accept: "application/json, text/event-stream",
            "accept-encoding": "identity",
            ...(body === undefined ? {} : { "content-type": "application/json" }),
            ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
          },
          ...(body === undefined ? {} : { body }),
        });
      } catch (error) {
        throw failed("the model does not answer", error);
      }
      const retryAfter = Number(response.headers.get("retry-after") ?? Number.NaN);
      const pieces = readable(response);
      return {
        status: response.status,
        mediaType: (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "",
        ...(retryAfter > 0 && retryAfter < 86_400 ? { retryAfter } : {}),
        body: pieces,
        async bytes(limit) {
          const chunks: Uint8Array[] = [];
          let size = 0;
          for await (const chunk of pieces) {
            size += chunk.length;
            if (size > limit) throw failed("the model's answer is too long");
            chunks.push(chunk);
          }
          return Buffer.concat(chunks, size);
        },
      };
    },
    close: () => http.close(),
  };
}

async function* readable({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  try {
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) yield chunk;
  } catch (error) {
    throw failed("the model's answer broke off", error);
  }
}

/** What the other side wrote stays with the cause: it may hold what was asked. */
function failed(message: string, cause?: unknown): CodedError {
  return new CodedError("upstream_failed", message, {}, cause);
}
