import { checkArgument } from "@seneschal/kernel";
import { decodeBody } from "./decode-body.ts";
import { type Failure, failure, situation } from "./error-table.ts";
import { noneMatch } from "./etag.ts";
import { changes, codesOf, UndocumentedCode } from "./failures.ts";
import type { Hooks, RouteRef } from "./hooks.ts";
import { type Idempotency, type IdempotentRequest, keepsAnswers } from "./idempotency.ts";
import { type Issue, invalid } from "./issues.ts";
import { parsePart, parseQuery } from "./parse-input.ts";
import { failurePlacer } from "./place-failure.ts";
import { failureReply, reply } from "./respond.ts";
import type { Contract, HandlerInput, Handlers, Principal, Route } from "./route.ts";
import { crossSite } from "./same-site.ts";
import { secretFields } from "./secret.ts";
import type { WireRequest, WireResponse } from "./wire.ts";

/** A route bound to its handler: a request in, a response out, never a throw. */
export interface Endpoint extends RouteRef {
  handle(wire: WireRequest): Promise<WireResponse>;
}

type AnyHandler = (services: unknown, input: HandlerInput<Route>) => unknown;

/**
 * Binds handlers to a contract. Each endpoint does, in this order: request id, refuse changes that another site made a browser send, authenticate, rate limit, authorise, read and
 * decode the body, check parameters, query and body (every issue at once; before a refusal, that what the path names is there), handle, check the reply against its schema,
 * serialise. What is thrown leaves through the service's error table. So the precedence of answers is 401 and 429, 403 and 404,
 * 413, 415 and 400, then what the handler says.
 *
 * Throws `TypeError` when a route is guarded and the hooks are not there, and when rate limits or observation are neither given nor
 * "off": nothing is open by omission.
 */
export function endpoints<C extends Contract, Services>(
  contract: C,
  handlers: Handlers<C, Services>,
  services: Services,
  hooks: Hooks,
): readonly Endpoint[] {
  checkArgument("contract", contract, "object");
  checkArgument("handlers", handlers, "object");
  checkArgument("hooks", hooks, "object");
  for (const name of ["rateLimit", "observe", "onError"] as const)
    if (hooks[name] === undefined)
      throw new TypeError(`hooks.${name} is missing${name === "onError" ? "" : ': say "off" to do without'}`);
  return Object.entries(contract).map(([id, route]) => {
    if (route.auth !== "public" && (hooks.authenticate === undefined || hooks.authorise === undefined)) {
      throw new TypeError(`route ${id} is guarded, but the service authenticates or authorises nobody`);
    }
    const handler = handlers[id] as AnyHandler | undefined;
    if (handler === undefined) throw new TypeError(`route ${id} has no handler`);
    const codes = codesOf(id, route, hooks.errors, hooks.idempotency !== undefined);
    return bind({ id, route }, handler, services, hooks, codes);
  });
}

/** One endpoint; the dispatcher makes its own for unknown routes with it. `codes`: what its documents say that it can fail with. */
export function bind(ref: RouteRef, handler: AnyHandler, services: unknown, hooks: Hooks, codes?: ReadonlySet<string>): Endpoint {
  const { route } = ref;
  const showsSecret = secretFields(route.reply).length > 0;
  const { rateLimit, observe } = hooks;
  const placed = failurePlacer(route, hooks.errors);
  const failedBy = (error: unknown): Failure => placed(failure(error, hooks.errors));

  async function handle(wire: WireRequest): Promise<WireResponse> {
    const requestId = sane(wire.headers["x-request-id"]) ?? hooks.requestId();
    const done = observe === "off" ? undefined : observe(wire, ref, requestId);
    const extra: Record<string, string> = {};
    let principal: Principal | undefined;
    let code: string | undefined;
    let response: WireResponse;
    try {
      hooks.available?.(ref);
      const now = hooks.now();
      principal = await admit(wire, extra, now, requestId, (found) => {
        principal = found;
      });
      response = conditional(wire, await answer(wire, principal, now, requestId));
    } catch (error) {
      const failed = failedBy(error);
      if (failed.ours) hooks.onError(error, ref, requestId);
      code = failed.code;
      // The caller is told all the same; whoever keeps the contract has to know.
      if (codes?.has(failed.code) === false) hooks.onError(new UndocumentedCode(ref.id, failed.code), ref, requestId);
      response = failureReply(failed);
    }
    done?.({ status: response.status, principal, ...(code === undefined ? {} : { code }) });
    const headers = Object.assign({}, STANDARD_HEADERS, response.headers, extra, { "x-request-id": requestId });
    return { status: response.status, headers, body: response.body };
  }

  /** Establishes who calls and that they may; `identified` hears of the caller before the rest is decided. */
  async function admit(
    wire: WireRequest,
    extra: Record<string, string>,
    now: number,
    requestId: string,
    identified: (principal: Principal | undefined) => void,
  ): Promise<Principal | undefined> {
    const foreign = changes(route) ? crossSite(wire) : undefined;
    if (foreign !== undefined) throw situation("forbidden", "a page of another site made this request", { reason: foreign });
    const caller = route.auth === "public" ? undefined : await outcomeOf(() => hooks.authenticate?.(wire, ref));
    const principal = caller?.ok === true ? caller.value : undefined;
    identified(principal);
    const verdict = rateLimit === "off" ? undefined : await rateLimit(wire, ref, principal);
    Object.assign(extra, verdict?.headers);
    if (verdict?.allowed === false) throw situation("rate_limited", "too many requests", verdict.details);
    if (caller?.ok === false) throw caller.error;
    if (route.auth === "principal" && principal === undefined) throw situation("unauthenticated", "authentication required");
    if (route.auth !== "public") {
      await hooks.authorise?.({ id: ref.id, route, principal, params: wire.params, wire, now, requestId });
    }
    return principal;
  }

  async function answer(
    wire: WireRequest,
    principal: Principal | undefined,
    now: number,
    requestId: string,
  ): Promise<WireResponse> {
    const issues: Issue[] = [];
    const params = parsePart("params", route.params, wire.params, issues);
    if (issues.length > 0 && hooks.badParams !== "validation_failed") throw situation("not_found", "not found");
    const decoded = await outcomeOf(() => decodeBody(route, wire, hooks.pause));
    const query = parseQuery(route.query, wire.query, issues);
    const body = decoded.ok ? parsePart("body", route.body, decoded.value.json, issues) : undefined;
    if (!decoded.ok || issues.length > 0) {
      if (principal !== undefined && Object.keys(wire.params).length > 0) {
        await hooks.requireTarget?.({ id: ref.id, route, principal, params: wire.params, wire, now, requestId });
      }
      throw decoded.ok ? invalid(issues) : decoded.error;
    }
    const { raw } = decoded.value;

    const { headers, remoteAddress, basePath, peer, secure = false, onClose } = wire;
    const request = {
      headers,
      remoteAddress,
      basePath,
      secure,
      rawBody: raw,
      ...(peer && { peer }),
      ...(onClose && { onClose }),
    };
    // The mapped type of Handlers ties each handler to its route; here the route is any.
    const input = { params, query, body, principal, now, requestId, request } as unknown as HandlerInput<Route>;
    const work = async (): Promise<WireResponse> => watched(reply(route, await handler(services, input)), requestId);

    const key = wire.headers["idempotency-key"];
    if (key === undefined || route.keyed === true || !keepsAnswers(route) || principal === undefined) return work();
    if (hooks.idempotency === undefined) {
      // Whoever sends a key counts on it: work that might be done twice is not begun.
      throw invalid([{ path: "headers.idempotency-key", message: "this operation keeps no answers: send it without" }]);
    }
    if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
      throw invalid([{ path: "headers.idempotency-key", message: "expected 1 to 255 printable ASCII characters" }]);
    }
    const asked = {
      principal: `${principal.org}/${principal.type}/${principal.id}`,
      routeId: ref.id,
      key,
      path: wire.path,
      body: raw,
      now,
    };
    return once(hooks.idempotency, asked, work);
  }

  /** Reports a stream that breaks: its head is sent, so nobody else can tell. */
  function watched(response: WireResponse, requestId: string): WireResponse {
    const { body } = response;
    if (body instanceof Uint8Array) return response;
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      try {
        yield* body;
      } catch (error) {
        hooks.onError(error, ref, requestId);
        throw error;
      }
    };
    return { ...response, body: pieces() };
  }

  /** A failure of the caller's is an answer too: it is kept and replayed like any other. Ours is forgotten and thrown on. */
  async function once(
    idempotency: Idempotency,
    asked: IdempotentRequest,
    work: () => Promise<WireResponse>,
  ): Promise<WireResponse> {
    let refused: unknown;
    const response = await idempotency.run(asked, async () => {
      try {
        const { body, ...head } = await work();
        if (body instanceof Uint8Array) return { ...head, body, secret: showsSecret };
        throw new Error("a streamed reply cannot be repeated");
      } catch (error) {
        const failed = failedBy(error);
        if (failed.ours) throw error;
        refused = error;
        return failureReply(failed);
      }
    });
    if (refused !== undefined) throw refused;
    const { status, headers, body } = response;
    return { status, headers, body };
  }

  return { ...ref, handle };
}

const STANDARD_HEADERS = { "x-content-type-options": "nosniff", "cache-control": "no-store" };

/** A caller's request id that is safe to echo and to log. */
function sane(id: string | undefined): string | undefined {
  return id !== undefined && /^[A-Za-z0-9._~-]{1,128}$/.test(id) ? id : undefined;
}

function conditional(wire: WireRequest, response: WireResponse): WireResponse {
  const readOnly = wire.method === "GET" || wire.method === "HEAD";
  if (!readOnly || response.status !== 200 || !noneMatch(wire.headers["if-none-match"], response.headers["etag"]))
    return response;
  return { ...response, status: 304, body: new Uint8Array() };
}

async function outcomeOf<T>(
  work: () => T | Promise<T>,
): Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown }> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, error };
  }
}
