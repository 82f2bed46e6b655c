import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import type * as z from "zod";
import { jsonText } from "./json-text.ts";
import { type RetryOptions, retryWait, takesKey } from "./retry.ts";
import type { Contract, Route } from "./route.ts";

/** The part of a fetch response that the client reads; the platform's `Response` is one. */
interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The part of `fetch` that the client uses, in Node and in browsers. */
export type Fetch = (
  url: string,
  init: { method: string; headers: Record<string, string>; body?: string | Uint8Array<ArrayBuffer>; signal?: never },
) => Promise<FetchResponse>;

export interface ClientOptions {
  /** Scheme, host, port and the path below which the service is mounted; without a slash at the end. */
  readonly baseUrl: string;
  readonly fetch: Fetch;
  /** For every request, for example `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  /** Sends again what was not answered, and nothing twice; without it each call is sent once. */
  readonly retries?: RetryOptions;
}

/** A reply that is not JSON. */
export interface RawReply {
  readonly status: number;
  readonly mediaType: string;
  readonly filename: string | undefined;
  readonly bytes: Uint8Array;
}

type In<R, K extends string> = R extends { readonly [P in K]: infer S extends z.ZodType } ? z.input<S> : never;
type Part<R, K extends string> = [In<R, K>] extends [never]
  ? unknown
  : Record<string, never> extends In<R, K>
    ? { readonly [P in K]?: In<R, K> }
    : { readonly [P in K]: In<R, K> };

/** A query value is written as text; numbers and booleans may be given as they are. */
type AsText<V> = V extends string
  ? string extends V
    ? string | number | boolean
    : V | boolean
  : V extends readonly (infer I)[]
    ? readonly AsText<I>[]
    : V;
type QueryPart<R> = [In<R, "query">] extends [never]
  ? unknown
  : Record<string, never> extends In<R, "query">
    ? { readonly query?: { readonly [K in keyof In<R, "query">]: AsText<In<R, "query">[K]> } }
    : { readonly query: { readonly [K in keyof In<R, "query">]: AsText<In<R, "query">[K]> } };

/** What a call takes: the route's parameters, query and body, checked by the compiler; more headers, `content-type` where the route takes several; bytes for a binary body. */
export type CallInput<R extends Route> = Part<R, "params"> &
  QueryPart<R> &
  Part<R, "body"> & {
    readonly headers?: Readonly<Record<string, string>>;
    readonly bytes?: Uint8Array<ArrayBuffer>;
    /** An `AbortSignal`. */
    readonly signal?: unknown;
  };

type CallReply<R extends Route> = R["produces"] extends string | readonly string[]
  ? RawReply
  : R["reply"] extends z.ZodType
    ? z.output<R["reply"]>
    : undefined;

type Call<R extends Route> =
  Record<string, never> extends CallInput<R>
    ? (input?: CallInput<R>) => Promise<CallReply<R>>
    : (input: CallInput<R>) => Promise<CallReply<R>>;

/** One function per route. */
export type Client<C extends Contract> = { readonly [K in keyof C]: Call<C[K]> };

interface AnyInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly bytes?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: unknown;
}

/**
 * A typed client of a contract over `fetch`. A failure is a thrown `CodedError` with the service's code and details, plus `status`
 * and `request_id`; `client_protocol` when the answer is not the service's. A client certificate is a `fetch` that shows it
 * (`mtlsFetch` of `@seneschal/adapters/http`).
 *
 * With `retries` a call that a rate limit refused is sent again when the service says, and one that nobody answered if it may be done twice: reads, and
 * every `POST` that takes an `Idempotency-Key`, which then has one of its own, the same at each try. Other changes (`PUT`, `PATCH`, `DELETE`) are the
 * caller's to repeat: whether they were done is seen by reading.
 *
 * @example
 * ```ts
 * import { client } from "@seneschal/contract";
 * import { gatewayContract } from "@seneschal/contract/gateway";
 * const fetch = async () => Response.json({ workspaces: [], count: 0, total: 0 }); // that of the platform: a gateway answers this
 * const headers = { authorization: "Bearer ..." };
 * const gateway = client(gatewayContract, { baseUrl: "https://localhost:8443", fetch, headers });
 * const { workspaces } = await gateway.listWorkspaces({ query: { limit: 10 } });
 * console.log(workspaces.length); // 0
 * ```
 */
export function client<C extends Contract>(contract: C, options: ClientOptions): Client<C> {
  checkOptions("options", options, { baseUrl: "string", fetch: "function", headers: "any", retries: "object?" });
  checkArgument("contract", contract, "object");
  const { retries } = options;
  if (retries !== undefined)
    checkOptions("options.retries", retries, { newKey: "function", pause: "function", attempts: "number?" });
  const calls = Object.entries(contract).map(([id, route]) => {
    const keyed = retries !== undefined && takesKey(contract, route);
    return [id, (input: AnyInput = {}) => call(route, keyed, input, options)];
  });
  return Object.fromEntries(calls) as Client<C>;
}

async function call(route: Route, keyed: boolean, input: AnyInput, options: ClientOptions): Promise<unknown> {
  checkArgument("input", input, "object");
  const { baseUrl, fetch, headers: shared, retries } = options;
  const headers: Record<string, string> = {
    accept: [route.produces ?? "application/json"].flat().join(", "),
    ...(typeof shared === "function" ? shared() : shared),
    ...input.headers,
  };
  let body: string | Uint8Array<ArrayBuffer> | undefined = input.bytes;
  if (route.consumes !== undefined) headers["content-type"] = mediaTypeOf(route.consumes, input.headers);
  if (route.body !== undefined && input.body !== undefined) {
    headers["content-type"] = "application/json";
    body = JSON.stringify(input.body);
  }
  const hasKey = Object.keys(headers).some((name) => name.toLowerCase() === "idempotency-key");
  if (keyed && !hasKey && retries !== undefined) headers["idempotency-key"] = retries.newKey();
  const url = `${baseUrl}${pathOf(route, input.params ?? {})}${queryOf(input.query ?? {})}`;
  const send = async (): Promise<Answer> => {
    const response = await fetch(url, {
      method: route.method,
      headers,
      ...(body === undefined ? {} : { body }),
      ...(input.signal === undefined ? {} : { signal: input.signal as never }),
    });
    return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
  };
  const isAborted = (): boolean => (input.signal as { readonly aborted?: boolean } | undefined)?.aborted === true;
  const { response, bytes } = retries === undefined ? await send() : await insist(send, route, keyed, retries, isAborted);
  if (response.status >= 400) throw failureOf(response, bytes);
  if (route.produces !== undefined) {
    const mediaType = response.headers.get("content-type") ?? "";
    const filename = /filename="([^"]*)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
    return { status: response.status, mediaType, filename, bytes } satisfies RawReply;
  }
  if (route.reply === undefined || response.status === 304) return undefined;
  const value = parse(bytes) ?? null;
  const result = route.reply.safeParse(value);
  if (result.success) return result.data;
  // A newer server may say more than this contract knows.
  if (result.error.issues.every((issue) => issue.code === "unrecognized_keys")) return value;
  const where = result.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.code}`);
  throw new CodedError("client_protocol", "the reply is not of the contract", { status: response.status, where });
}

interface Answer {
  readonly response: FetchResponse;
  readonly bytes: Uint8Array;
}

/** Sends until there is an answer that is one, or none is to be had. */
async function insist(
  send: () => Promise<Answer>,
  route: Route,
  keyed: boolean,
  { pause, attempts = 4 }: RetryOptions,
  isAborted: () => boolean,
): Promise<Answer> {
  for (let attempt = 1; ; attempt++) {
    const sent = await send().catch((error: unknown) => ({ error }));
    const tried = "error" in sent ? {} : { status: sent.response.status, retryAfter: sent.response.headers.get("retry-after") };
    const wait = attempt < attempts && !isAborted() ? retryWait(tried, route, keyed, attempt) : undefined;
    if (wait === undefined) {
      if ("error" in sent) throw sent.error;
      return sent;
    }
    await pause(wait);
  }
}

/** Which one it is only the caller knows, where there are more. Throws `TypeError`. */
function mediaTypeOf(consumes: NonNullable<Route["consumes"]>, given: AnyInput["headers"] = {}): string {
  if (typeof consumes === "string") return consumes;
  const [, said] = Object.entries(given).find(([name]) => name.toLowerCase() === "content-type") ?? [];
  if (said === undefined) throw new TypeError(`headers.content-type: expected one of ${consumes.join(", ")}`);
  return said;
}

function pathOf(route: Route, params: Readonly<Record<string, unknown>>): string {
  return route.path.replace(/:([a-z0-9_]+)/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined || value === "") throw new TypeError(`path parameter ${name} is missing`);
    return encodeURIComponent(String(value));
  });
}

/** A list repeats its key; `undefined` is left out. */
function queryOf(query: Readonly<Record<string, unknown>>): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    (Array.isArray(value) ? (value as readonly unknown[]) : [value])
      .filter((one) => one !== undefined)
      .map((one) => `${encodeURIComponent(key)}=${encodeURIComponent(String(one))}`),
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function failureOf(response: FetchResponse, bytes: Uint8Array): CodedError {
  const { error } = (parse(bytes) ?? {}) as { error?: { code?: unknown; message?: unknown; details?: unknown } };
  const facts = { status: response.status, request_id: response.headers.get("x-request-id") };
  if (typeof error?.code !== "string" || typeof error.message !== "string") {
    return new CodedError("client_protocol", `the server answered ${response.status}`, facts);
  }
  return new CodedError(error.code, error.message, { ...(error.details as object), ...facts });
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(jsonText(bytes)) as unknown;
  } catch {
    return undefined;
  }
}
