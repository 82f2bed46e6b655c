import { createHash } from "node:crypto";
import { type Contract, type Handlers, type Route, requireMatch, withHeaders } from "@seneschal/contract";
import { canonicalJson } from "@seneschal/crypto";
import type { Call, GatewayUnit } from "./call.ts";
import type { GatewayServices } from "./services.ts";

interface Input extends Call {
  readonly request: { readonly headers: Readonly<Record<string, string | undefined>> };
}

type AnyHandler = (services: GatewayServices, input: Input) => unknown;

/**
 * The same handlers with optimistic concurrency, by the contract's `entity` alone. The route that reads an entity answers an
 * `ETag` of the representation, and so does a change that answers the entity itself. A change that sends `If-Match` is judged
 * inside its own transaction on what its caller would read at that moment, so nothing can come between: `precondition_failed`
 * when it differs, and nothing is changed.
 */
export function taggedHandlers<C extends Contract>(
  contract: C,
  handlers: Handlers<C, GatewayServices>,
): Handlers<C, GatewayServices> {
  const plain = handlers as Readonly<Record<string, AnyHandler>>;
  const wrapped = Object.entries(plain).map(([id, handler]) => {
    const route = contract[id];
    const source = route?.entity === undefined ? undefined : readerOf(contract, route.entity);
    const read = source === undefined ? undefined : plain[source.id];
    if (route === undefined || source === undefined || read === undefined) return [id, handler];
    const answersIt = route.reply === source.route.reply;
    const tagged: AnyHandler = async (services, input) => {
      const guarded = route.method === "GET" ? services : guardedServices(services, input, read);
      const body = await handler(guarded, input);
      return answersIt ? withHeaders({ etag: tagOf(body) }, body) : body;
    };
    return [id, tagged];
  });
  return Object.fromEntries(wrapped) as Handlers<C, GatewayServices>;
}

function readerOf(contract: Contract, entity: string): { readonly id: string; readonly route: Route } | undefined {
  const found = Object.entries(contract).find(([, route]) => route.entity === entity && route.method === "GET");
  return found && { id: found[0], route: found[1] };
}

/** Services whose first transaction begins with the caller's precondition, at every attempt. */
function guardedServices(services: GatewayServices, input: Input, read: AnyHandler): GatewayServices {
  const { headers } = input.request;
  if (headers["if-match"] === undefined) return services;
  let judged = false;
  return {
    ...services,
    async transact<R>(call: Call, work: (unit: GatewayUnit) => Promise<R>): Promise<R> {
      if (judged) return services.transact(call, work);
      const answer = await services.transact(call, async (unit) => {
        requireMatch(headers, tagOf(await read({ ...services, read: unit }, input)));
        return work(unit);
      });
      judged = true;
      return answer;
    },
  };
}

/** A strong entity tag: equal representations have equal tags, whatever the order of their fields. */
function tagOf(body: unknown): string {
  return `"${createHash("sha256").update(canonicalJson(body)).digest("base64url").slice(0, 27)}"`;
}
