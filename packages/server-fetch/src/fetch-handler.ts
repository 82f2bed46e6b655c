import {
  type BodyReader,
  basePathOf,
  checkArgument,
  checkOptions,
  type Dispatch,
  type Incoming,
  type MountOptions,
  type PeerCertificate,
  situation,
  type WireResponse,
} from "@seneschal/contract";

/** `Context` is what the platform hands over beside the request: `info` of Deno, the server of Bun, `env` and `ctx` at the edge. */
export interface FetchOptions<Context extends readonly unknown[]> extends MountOptions {
  /** The path below which the service is mounted. */
  readonly basePath?: string;
  /** Where a request comes from, by which callers without a credential are counted. "unknown": they all share one limit. */
  readonly remoteAddress: ((request: Request, ...context: Context) => string) | "unknown";
  /** The client certificate, where the platform ends TLS and shows it; default: there is none. */
  readonly peer?: (request: Request, ...context: Context) => PeerCertificate | undefined;
}

export type FetchHandler<Context extends readonly unknown[], Reply> = (request: Request, ...context: Context) => Promise<Reply>;

/**
 * The whole service as a function from `Request` to `Response`. With `unmatched: "next"` it gives `undefined` for what is not the
 * service's. It uses nothing but the Fetch standard.
 *
 * @example
 * ```ts
 * import { buildService } from "@seneschal/app";
 * import { governanceService } from "@seneschal/app/governance";
 * import { fetchHandler } from "@seneschal/server-fetch";
 * const service = await buildService(governanceService("./data"), { database: { kind: "memory" } });
 * await service.start();
 * const decisions = fetchHandler(service.dispatch, { basePath: "/decisions", remoteAddress: "unknown" });
 * console.log((await decisions(new Request("https://example.org/decisions/health"))).status); // 200
 * await service.stop();
 * ```
 */
export function fetchHandler<Context extends readonly unknown[] = []>(
  dispatch: Dispatch,
  options: FetchOptions<Context> & { readonly unmatched: "next" },
): FetchHandler<Context, Response | undefined>;
export function fetchHandler<Context extends readonly unknown[] = []>(
  dispatch: Dispatch,
  options: FetchOptions<Context>,
): FetchHandler<Context, Response>;
export function fetchHandler<Context extends readonly unknown[]>(
  dispatch: Dispatch,
  options: FetchOptions<Context>,
): FetchHandler<Context, Response | undefined> {
  checkOptions("options", options, {
    basePath: "string?",
    remoteAddress: "any",
    peer: "function?",
    unmatched: ["answer", "next", undefined],
  });
  checkArgument("dispatch", dispatch, "function");
  const { unmatched = "answer", remoteAddress, peer } = options;
  if (remoteAddress !== "unknown") checkArgument("options.remoteAddress", remoteAddress, "function");
  const basePath = basePathOf(options.basePath ?? "");
  return async (request, ...context) => {
    if (unmatched === "next" && !dispatch.serves(request.url, basePath)) return undefined;
    const certificate = peer?.(request, ...context);
    const gone = departure(request.signal);
    const { protocol, host } = new URL(request.url);
    const response = await dispatch({
      method: request.method,
      target: request.url,
      basePath,
      headers: headersOf(request, host),
      body: bodyReader(request),
      remoteAddress: remoteAddress === "unknown" ? "" : remoteAddress(request, ...context),
      secure: protocol === "https:",
      ...(certificate === undefined ? {} : { peer: certificate }),
      onClose: gone.onClose,
    });
    return reply(response, gone);
  };
}

function headersOf({ headers }: Request, host: string): Incoming["headers"] {
  const all: Record<string, string | undefined> = { host };
  headers.forEach((value, name) => {
    all[name] = value;
  });
  return all;
}

function bodyReader(request: Request): BodyReader {
  return async (limit) => {
    if (request.bodyUsed)
      throw new Error("the application has read the body of this request before the service: hand over a clone");
    if (request.body === null) return new Uint8Array();
    if (Number(request.headers.get("content-length") ?? 0) > limit) return undefined;
    const reader = request.body.getReader();
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return joined(chunks, size);
        size += value.length;
        if (size > limit) {
          await reader.cancel();
          return undefined;
        }
        chunks.push(value);
      }
    } catch {
      throw situation("invalid_request", "the body ended early");
    }
  };
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Whoever waits for the caller to be gone: told once, by the request's signal or by a reply that is not read to its end. */
interface Departure {
  readonly onClose: (callback: () => void) => void;
  readonly left: () => void;
}

function departure(signal: AbortSignal): Departure {
  const waiting: (() => void)[] = [];
  const left = (): void => {
    for (const callback of waiting.splice(0)) callback();
  };
  signal.addEventListener("abort", left, { once: true });
  return { onClose: (callback) => void waiting.push(callback), left };
}

function reply({ status, headers, body }: WireResponse, { left }: Departure): Response {
  const init = { status, headers: { ...headers } };
  if (!(body instanceof Uint8Array)) return new Response(streamOf(body, left), init);
  // These have no body, not even an empty one.
  if (status === 204 || status === 304) return new Response(null, init);
  if (body.length > 0 && !("content-length" in headers)) init.headers["content-length"] = String(body.length);
  return new Response(body.length === 0 ? null : (body as Uint8Array<ArrayBuffer>), init);
}

function streamOf(pieces: AsyncIterable<Uint8Array>, left: () => void): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done === true) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    async cancel() {
      left();
      await iterator.return?.();
    },
  });
}
