import type { ErrorTable } from "./error-table.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Principal, Route } from "./route.ts";
import type { WireRequest } from "./wire.ts";

/** A route with its operation id: what hooks decide by, and the only bounded name for a metric label. */
export interface RouteRef {
  readonly id: string;
  readonly route: Route;
}

type Awaitable<T> = T | Promise<T>;

/** What a rate limiter says. Its headers go on the response either way. */
export interface RateVerdict {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** For the error of a refusal: `limit`, `window_seconds`, `retry_after`. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** What the authorisation hook decides by. `params` are decoded, not yet checked. */
export interface AuthoriseInput extends RouteRef {
  /** Absent on `optional` routes without a credential. */
  readonly principal: Principal | undefined;
  readonly params: Readonly<Record<string, string>>;
  readonly wire: WireRequest;
  readonly now: number;
  readonly requestId: string;
}

/** How one request ended, for metrics, logs and traces. */
export interface Outcome {
  readonly status: number;
  readonly principal: Principal | undefined;
  /** Wire code of a failure. */
  readonly code?: string;
}

export type RateLimit = (
  wire: WireRequest,
  ref: RouteRef,
  principal: Principal | undefined,
) => Awaitable<RateVerdict | undefined>;

export type Observe = (wire: WireRequest, ref: RouteRef, requestId: string) => ((outcome: Outcome) => void) | undefined;

/** What a service puts around all of its routes. */
export interface Hooks {
  readonly errors: ErrorTable;
  /** Asked before anything else; throws `service_unavailable` while the service does not answer this route. */
  readonly available?: (ref: RouteRef) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly requestId: () => string;
  /**
   * Who calls; throws a coded error for a credential that does not hold. `undefined`: no credential was sent. Not called on public routes.
   */
  readonly authenticate?: (wire: WireRequest, ref: RouteRef) => Awaitable<Principal | undefined>;
  /** Throws a coded error (`forbidden`, or `not_found` where existence is private). Not called on public routes. */
  readonly authorise?: (input: AuthoriseInput) => Awaitable<void>;
  /**
   * Throws `not_found` when what the path names is not there for the caller. Asked only when the body or the query is about to be refused,
   * so that an unknown id is answered the same whatever was sent to it, and a good request costs no look-up more.
   */
  readonly requireTarget?: (input: AuthoriseInput & { readonly principal: Principal }) => Awaitable<void>;
  /**
   * Counts the request under the principal, else under the address; runs after `authenticate`, before its failure is answered,
   * so that guesses at credentials are counted. Nobody is unlimited by omission: who wants that says "off".
   */
  readonly rateLimit: RateLimit | "off";
  readonly idempotency?: Idempotency;
  /** Called when a request begins; what it returns is called when the response is known. "off": nothing counts or logs requests. */
  readonly observe: Observe | "off";
  /** An error that is ours (5xx). Never shown to the caller beyond its code, so that it must be seen here. */
  readonly onError: (error: unknown, ref: RouteRef, requestId: string) => void;
  /** Status of a path parameter that does not fit its schema: an id that cannot exist is `not_found` (default). */
  readonly badParams?: "not_found" | "validation_failed";
  /** Lets others be served: called between the pieces of a body that is read in slices. Without it such a body is read in one go. */
  readonly pause?: () => Promise<void>;
}
