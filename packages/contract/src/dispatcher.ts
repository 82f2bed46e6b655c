import { checkArgument } from "@seneschal/kernel";
import { below, isBasePath, rebased } from "./base-path.ts";
import { bind, type Endpoint } from "./endpoints.ts";
import { situation } from "./error-table.ts";
import type { Hooks } from "./hooks.ts";
import type { Payload, Route } from "./route.ts";
import { router } from "./router.ts";
import { parseTarget, type Target } from "./target.ts";
import type { Incoming, WireRequest, WireResponse } from "./wire.ts";

/** Answers one request. Never throws; every answer, also to nonsense, has the service's shape and a request id. */
export interface Dispatch {
  (incoming: Incoming): Promise<WireResponse>;
  /** Whether the path of a request target is one of the service's, whatever the method; asking leaves no trace. */
  serves(target: string, basePath?: string): boolean;
}

/**
 * Finds the endpoint of a request and lets it answer; decides unknown paths (404), wrong methods (405 with `Allow`), `OPTIONS` (204
 * with `Allow`) and targets that cannot be read (400), through the same hooks. `HEAD` is `GET` without its body. Below a base path
 * the service's paths and the paths in its replies' headers begin with that.
 * Throws `TypeError` when two endpoints share a method and path.
 *
 * @example
 * ```ts
 * import { contract, dispatcher, endpoints } from "@seneschal/contract";
 * import { gatewayErrors as errors } from "@seneschal/contract/gateway";
 * import * as z from "zod";
 * const routes = contract({
 *   getWidget: {
 *     method: "GET", path: "/widgets/:id", summary: "One widget", tag: "widgets", auth: "public",
 *     params: z.strictObject({ id: z.string() }), status: 200, reply: z.strictObject({ id: z.string() }),
 *   },
 * });
 * const hooks = {
 *   errors, now: Date.now, requestId: () => crypto.randomUUID(), rateLimit: "off", observe: "off", onError: console.error,
 * } as const;
 * const list = endpoints(routes, { getWidget: async (_services, { params }) => ({ id: params.id }) }, {}, hooks);
 * const dispatch = dispatcher(list, hooks);
 *
 * const request = { method: "GET", target: "/widgets/7", headers: {}, body: new Uint8Array(), remoteAddress: "::1" };
 * const { status, body } = await dispatch(request);
 * console.log(status, new TextDecoder().decode(body as Uint8Array)); // 200 {"id":"7"}
 * ```
 */
export function dispatcher(list: readonly Endpoint[], hooks: Hooks): Dispatch {
  checkArgument("list", list, "array");
  checkArgument("hooks", hooks, "object");
  const seen = new Set<string>();
  for (const { route } of list) {
    const key = `${route.method} ${route.path.replace(/:[a-z0-9_]+/g, ":")}`;
    if (seen.has(key)) throw new TypeError(`two endpoints serve ${key}`);
    seen.add(key);
  }
  const match = router(list.map((endpoint) => ({ method: endpoint.route.method, path: endpoint.route.path, value: endpoint })));
  const plain = (id: string, answer: () => Payload) => bind({ id, route: UNMATCHED }, answer, undefined, hooks);

  const serves = (target: string, basePath = ""): boolean => {
    try {
      const path = isBasePath(basePath) ? below(parseTarget(target).path, basePath) : undefined;
      return path !== undefined && match("", path).kind !== "none";
    } catch {
      return false;
    }
  };

  const dispatch = async (incoming: Incoming): Promise<WireResponse> => {
    checkArgument("incoming", incoming, "object");
    const { method, target, broken, headers, body, remoteAddress, peer, secure = false, onClose } = incoming;
    let basePath = "";
    let endpoint: Endpoint;
    let place: Target = { path: "", query: {} };
    let params: WireRequest["params"] = {};
    try {
      if (broken !== undefined) throw situation("invalid_request", broken);
      if (!isBasePath(incoming.basePath ?? "")) throw situation("invalid_request", "the base path of the service is malformed");
      basePath = incoming.basePath ?? "";
      const asked = parseTarget(target);
      const path = below(asked.path, basePath);
      place = { path: path ?? asked.path, query: asked.query };
      const found: ReturnType<typeof match> = path === undefined ? { kind: "none" } : match(method, path);
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
      basePath,
      query: place.query,
      params,
      headers,
      body,
      remoteAddress,
      secure,
      ...(peer && { peer }),
      ...(onClose && { onClose }),
    };
    const answer = withReturn(await endpoint.handle(wire));
    const response = basePath === "" ? answer : rebased(answer, basePath);
    return method === "HEAD" ? headOnly(response) : response;
  };
  return Object.assign(dispatch, { serves });
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
