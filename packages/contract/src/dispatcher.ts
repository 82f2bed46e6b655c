import { bind, type Endpoint } from "./endpoints.ts";
import { situation } from "./error-table.ts";
import type { Hooks } from "./hooks.ts";
import type { Payload, Route } from "./route.ts";
import { router } from "./router.ts";
import { parseTarget, type Target } from "./target.ts";
import type { Incoming, WireRequest, WireResponse } from "./wire.ts";

/** Answers one request. Never throws; every answer, also to nonsense, has the service's shape and a request id. */
export type Dispatch = (incoming: Incoming) => Promise<WireResponse>;

/**
 * Finds the endpoint of a request and lets it answer; decides unknown paths (404), wrong methods (405 with `Allow`), `OPTIONS` (204
 * with `Allow`) and targets that cannot be read (400), through the same hooks. `HEAD` is `GET` without its body.
 * Throws `TypeError` when two endpoints share a method and path.
 *
 * @example
 * ```ts
 * const dispatch = dispatcher(endpoints(routes, handlers, services, hooks), hooks);
 * const response = await dispatch({ method: "GET", target: "/widgets/1", headers: {}, body: new Uint8Array(), remoteAddress: "::1" });
 * ```
 */
export function dispatcher(list: readonly Endpoint[], hooks: Hooks): Dispatch {
  const seen = new Set<string>();
  for (const { route } of list) {
    const key = `${route.method} ${route.path.replace(/:[a-z0-9_]+/g, ":")}`;
    if (seen.has(key)) throw new TypeError(`two endpoints serve ${key}`);
    seen.add(key);
  }
  const match = router(list.map((endpoint) => ({ method: endpoint.route.method, path: endpoint.route.path, value: endpoint })));
  const plain = (id: string, answer: () => Payload) => bind({ id, route: UNMATCHED }, answer, undefined, hooks);

  return async (incoming) => {
    const { method, target, broken, headers, body, remoteAddress, peer, onClose } = incoming;
    let endpoint: Endpoint;
    let place: Target = { path: "", query: {} };
    let params: WireRequest["params"] = {};
    try {
      if (broken !== undefined) throw situation("invalid_request", broken);
      place = parseTarget(target);
      const found = match(method, place.path);
      if (found.kind === "found") {
        endpoint = found.value;
        params = found.params;
      } else {
        place = { ...place, query: {} };
        endpoint = found.kind === "none" ? unknownRoute(plain) : otherMethod(plain, method, found.allow);
      }
    } catch (error) {
      endpoint = plain("malformed", () => {
        throw error;
      });
    }
    const wire: WireRequest = {
      method,
      path: place.path,
      query: place.query,
      params,
      headers,
      body,
      remoteAddress,
      ...(peer && { peer }),
      ...(onClose && { onClose }),
    };
    const response = withReturn(await endpoint.handle(wire));
    return method === "HEAD" ? headOnly(response) : response;
  };
}

/** Seconds after which it is worth asking again, where nobody knows better. */
const RETURN_SECONDS = "5";

/** Whoever is told that something is not there for now is told when to return. */
function withReturn(response: WireResponse): WireResponse {
  if (response.status !== 503 || response.headers["retry-after"] !== undefined) return response;
  return { ...response, headers: { ...response.headers, "retry-after": RETURN_SECONDS } };
}

const UNMATCHED: Route = {
  method: "GET",
  path: "/",
  summary: "",
  tag: "",
  auth: "public",
  status: 204,
  produces: "application/json",
};

type Plain = (id: string, answer: () => Payload) => Endpoint;

function unknownRoute(plain: Plain): Endpoint {
  return plain("unmatched", () => {
    throw situation("not_found", "no such route");
  });
}

function otherMethod(plain: Plain, method: string, allow: readonly string[]): Endpoint {
  const header = { allow: allow.join(", ") };
  if (method === "OPTIONS") return plain("options", () => ({ headers: header, body: "" }));
  const refuse = plain("unmatched", () => {
    throw situation("method_not_allowed", "the path does not take this method", { allow });
  });
  return {
    ...refuse,
    async handle(wire) {
      const response = await refuse.handle(wire);
      return response.status === 405 ? { ...response, headers: { ...response.headers, ...header } } : response;
    },
  };
}

/** A streamed reply is given up before it starts. */
async function headOnly(response: WireResponse): Promise<WireResponse> {
  const { body } = response;
  if (body instanceof Uint8Array) {
    const length = response.status === 204 || response.status === 304 ? {} : { "content-length": String(body.length) };
    return { ...response, headers: { ...response.headers, ...length }, body: new Uint8Array() };
  }
  await body[Symbol.asyncIterator]().return?.();
  return { ...response, body: new Uint8Array() };
}
