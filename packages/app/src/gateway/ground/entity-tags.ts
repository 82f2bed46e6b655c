import { createHash } from "node:crypto";
import { type Contract, type Handlers, type Route, requireMatch, withHeaders } from "@seneschal/contract";
import { canonicalJson } from "@seneschal/crypto";
import type { Call, GatewayUnit } from "./call.ts";
import type { GroundServices } from "./services.ts";

interface Input<Params = unknown> extends Call {
  readonly params: Params;
  readonly request: { readonly headers: Readonly<Record<string, string | undefined>> };
}

type AnyHandler = (services: GroundServices, input: Input) => unknown;

/** How an entity is read where its `GET` does more than that. */
export interface EntityReading<Params = unknown> {
  /** Only reads, and gives what the `GET` gives. Default: the `GET` itself. */
  read?(services: Pick<GroundServices, "read">, input: Pick<Input<Params>, "principal" | "params" | "now">): Promise<object>;
  /** Whether an answer of the `GET` is the entity and nothing more; one that is more has no tag. Default: all are. */
  isPlain?(body: object): boolean;
  /** What of the answer the tag stands for: without what changes by itself. Default: all. */
  tagged?(body: object): object;
}

/**
 * The same handlers with optimistic concurrency, by the contract's `entity` alone. The route that reads an entity answers an
 * `ETag` of the representation, and so does a change that answers the entity itself. A change that sends `If-Match` is judged
 * inside its own transaction on what its caller would read at that moment, so nothing can come between: `precondition_failed`
 * when it differs, and nothing is changed.
 */
export function taggedHandlers<C extends Contract, Services extends GroundServices>(
  contract: C,
  handlers: Handlers<C, Services>,
  readings: Readonly<Record<string, EntityReading<never>>> = {},
): Handlers<C, Services> {
  const plain = handlers as Readonly<Record<string, AnyHandler>>;
  const wrapped = Object.entries(plain).map(([id, handler]) => {
    const route = contract[id];
    const source = route?.entity === undefined ? undefined : readerOf(contract, route.entity);
    const reading = readings[route?.entity ?? ""] as EntityReading | undefined;
    const read = source === undefined ? undefined : (reading?.read ?? plain[source.id]);
    if (route === undefined || source === undefined || read === undefined) return [id, handler];
    const answersIt = route.reply === source.route.reply;
    const tag = (body: unknown): string => tagOf(reading?.tagged?.(body as object) ?? body);
    const tagged: AnyHandler = async (services, input) => {
      const guarded = route.method === "GET" ? services : guardedServices(services, input, read, tag);
      const body = await handler(guarded, input);
      return answersIt && reading?.isPlain?.(body as object) !== false ? withHeaders({ etag: tag(body) }, body) : body;
    };
    return [id, tagged];
  });
  return Object.fromEntries(wrapped) as Handlers<C, Services>;
}

function readerOf(contract: Contract, entity: string): { readonly id: string; readonly route: Route } | undefined {
  const found = Object.entries(contract).find(([, route]) => route.entity === entity && route.method === "GET");
  return found && { id: found[0], route: found[1] };
}

/** Services whose first transaction begins with the caller's precondition, at every attempt. */
function guardedServices(
  services: GroundServices,
  input: Input,
  read: AnyHandler,
  tag: (body: unknown) => string,
): GroundServices {
  const { headers } = input.request;
  if (headers["if-match"] === undefined) return services;
  let judged = false;
  return {
    ...services,
    async transact<R>(call: Call, work: (unit: GatewayUnit) => Promise<R>): Promise<R> {
      if (judged) return services.transact(call, work);
      const answer = await services.transact(call, async (unit) => {
        requireMatch(headers, tag(await read({ ...services, read: unit }, input)));
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
