import type * as z from "zod";
import type { PeerCertificate } from "./wire.ts";

/** What a caller must be to reach a route. `public`: anybody; `optional`: a credential is used if one is sent. */
export type RouteAuth = "public" | "optional" | "principal";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "HEAD";

/**
 * One route as plain data. Paths are static segments and whole-segment `:param`s.
 * `body` and `reply` are zod schemas; a route whose reply is not JSON names its media type in `produces`, and its
 * handler returns a {@link Payload}.
 */
export interface Route {
  readonly method: HttpMethod;
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  readonly auth: RouteAuth;
  /** `resource:verb` that the authorisation policy decides on, for example `workspace:encrypt`. Required unless public. */
  readonly action?: string;
  /** The entity that this route reads or changes. Its one `GET` answers an `ETag`; a change of it takes `If-Match`. */
  readonly entity?: string;
  /** Reading leaves a trace that others see, such as a mark: then a page of another site must not cause it either. */
  readonly changesOnRead?: boolean;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** An empty body counts as `{}`. */
  readonly bodyOptional?: boolean;
  /** Media type of a request body that is taken as it is, or those that it can have; the handler reads `request.rawBody`. Excludes `body`. */
  readonly consumes?: string | readonly [string, ...string[]];
  /** Bytes that a body may have; default 65,536. */
  readonly bodyLimit?: number;
  /** So many separators and brackets the JSON of a body, and of a reply that is read from elsewhere, may hold; default 4,096. */
  readonly values?: number;
  /** The body is an array of at most `most` elements of at most `bytes`, read one by one with others served in between; `values` is what each may hold. */
  readonly elements?: { readonly most: number; readonly bytes: number };
  /** So many bytes of a reply are read by a service that calls this route of another; default 16 KiB. */
  readonly replyLimit?: number;
  /** Success status. */
  readonly status: number;
  readonly reply?: z.ZodType;
  /** A `POST` that changes nothing and shows what may be shown again: done anew at each call, its answer is not kept. */
  readonly safe?: boolean;
  /** The reply grows with the data: its handler returns a {@link Payload} that streams the JSON of `reply`. */
  readonly streamed?: boolean;
  /** Media type of a reply that is not JSON, or those that it can have: the first unless the handler says. */
  readonly produces?: string | readonly [string, ...string[]];
  /** Its handler keeps answers by `Idempotency-Key` itself; a service with {@link Hooks.idempotency} keeps those of its other `POST`s. */
  readonly keyed?: boolean;
  /** Not counted against rate limits, such as health. */
  readonly uncounted?: boolean;
  /** Statuses other than `status` that `reply` can come with, such as 503 of a probe. */
  readonly alsoStatus?: readonly number[];
  /** Error statuses that this route can answer beyond 400, 401, 403, 404, 408, 413, 415, 429, 431, 500, 503. */
  readonly errors?: readonly number[];
  /** Not in the interface documents: marked `x-extension` in the OpenAPI document. */
  readonly extension?: boolean;
}

/** A reply that is not JSON: text, or bytes in one piece or streamed. */
export interface Payload {
  readonly mediaType?: string;
  readonly filename?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Overrides the route's success status, for example 304. */
  readonly status?: number;
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>;
}

/** The routes of one service by operation id. */
export type Contract = Readonly<Record<string, Route>>;

/** Who calls, as authentication established it. Nothing in it comes from the request body or query. */
export interface Principal {
  readonly id: string;
  /** `admin`, `user`, `service`, `device`, `partner`, `apikey`, `anonymous`, `emergency` ... */
  readonly type: string;
  readonly org: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  /** How the caller proved it: `mtls`, `jwt`, `oidc`, `apikey`, `token`, `none`. */
  readonly method: string;
  /** Of the person, as the issuer of the token vouches for it. */
  readonly email?: string;
  /** Serial of the client certificate, colon hex, when one was presented. */
  readonly certSerial?: string;
  /** Id of the emergency access whose token was presented: what is made under it is remembered with it. */
  readonly emergencyId?: string;
}

type Infer<S> = S extends z.ZodType ? z.output<S> : undefined;

/** What a handler is given. `principal` is present exactly when the route demands one. */
export interface HandlerInput<R extends Route> {
  readonly params: Infer<R["params"]>;
  readonly query: Infer<R["query"]>;
  readonly body: Infer<R["body"]>;
  readonly principal: R["auth"] extends "public" ? undefined : R["auth"] extends "optional" ? Principal | undefined : Principal;
  /** Milliseconds since the epoch, one value per request. */
  readonly now: number;
  readonly requestId: string;
  readonly request: RequestFacts;
}

/** Facts about the connection and the raw request. */
export interface RequestFacts {
  readonly remoteAddress: string;
  /** What stands in front of the service's paths in links to it: "" unless it is mounted below a path of another application. */
  readonly basePath: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Empty on a route that takes no body. */
  readonly rawBody: Uint8Array;
  readonly peer?: PeerCertificate;
  /** The caller's connection is encrypted, as far as the server knows. */
  readonly secure: boolean;
  /** Calls back once when the caller is gone, for replies that stream without an end. */
  readonly onClose?: (callback: () => void) => void;
}

type Reply<R extends Route> = R extends { readonly produces: string | readonly string[] } | { readonly streamed: true }
  ? Payload
  : R["reply"] extends z.ZodType
    ? z.input<R["reply"]> | WithHeaders<z.input<R["reply"]>>
    : // biome-ignore lint/suspicious/noConfusingVoidType: a handler without a reply is an async function that returns nothing
      void | WithHeaders<undefined>;

/** A JSON reply with response headers, or with a success status that differs from the route's. Made by {@link withHeaders}. */
export interface WithHeaders<T> {
  readonly [REPLY]: true;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: T;
  readonly status?: number;
}

export const REPLY: unique symbol = Symbol.for("seneschal.reply");

/** A reply with response headers such as `ETag`, and optionally another success status such as 202. */
export function withHeaders<T>(headers: Readonly<Record<string, string>>, body: T, status?: number): WithHeaders<T> {
  return { [REPLY]: true, headers, body, ...(status === undefined ? {} : { status }) };
}

/** A handler returns the success body only; every failure is a thrown `CodedError`. */
export type Handler<R extends Route, Services> = (services: Services, input: HandlerInput<R>) => Promise<Reply<R>> | Reply<R>;

/** One handler per route of the contract. */
export type Handlers<C extends Contract, Services> = { readonly [K in keyof C]: Handler<C[K], Services> };
