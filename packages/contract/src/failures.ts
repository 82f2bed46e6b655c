import { checkArgument } from "@seneschal/kernel";
import type { ErrorTable, HttpSituation } from "./error-table.ts";
import { keepsAnswers } from "./idempotency.ts";
import type { Route } from "./route.ts";
import { secretFields } from "./secret.ts";

/** Whether a request of a route can change what others see. */
export function changes(route: Route): boolean {
  checkArgument("route", route, "object");
  const { method, changesOnRead } = route;
  return changesOnRead === true || (method !== "GET" && method !== "HEAD");
}

/** Whether a route takes an `Idempotency-Key`, in a service that keeps answers or not. */
export function isKeyed(route: Route, keeps: boolean): boolean {
  return route.keyed === true || (keeps && keepsAnswers(route));
}

/** Codes that stand for one situation alone: where that cannot be, they are not. */
const SITUATIONS: readonly (readonly [HttpSituation, (route: Route, keyed: boolean) => boolean])[] = [
  ["precondition_failed", (route) => route.entity !== undefined && changes(route)],
  ["idempotency_mismatch", (_, keyed) => keyed],
  ["reply_not_kept", (route, keyed) => keyed && secretFields(route.reply).length > 0],
  ["method_not_allowed", () => false],
  ["rate_limited", (route) => route.uncounted !== true],
  ["payload_too_large", takesBody],
];

function takesBody({ body, consumes }: Route): boolean {
  return body !== undefined || consumes !== undefined;
}

/**
 * The codes that a route can fail with, by status. Statuses follow from what the route is and from its `errors`; of the codes of a
 * status those are left out that only other operations give (`ErrorTable.only`), or that stand for a situation that cannot be here.
 */
export function failuresOf(id: string, route: Route, errors: ErrorTable, keeps: boolean): ReadonlyMap<number, readonly string[]> {
  const keyed = isKeyed(route, keeps);
  const here = SITUATIONS.filter(([, holds]) => holds(route, keyed)).map(([name]) => name);
  const elsewhere = new Set(SITUATIONS.filter(([name]) => !here.includes(name)).map(([name]) => errors.find(name)?.code));
  const named = (names: readonly HttpSituation[]) => names.flatMap((name) => errors.find(name)?.status ?? []);
  const statuses = new Set([
    // Whoever sends a body that is not JSON is told so, also where none is expected.
    ...named(["validation_failed", "unsupported_media_type", "internal_error", "service_unavailable", ...here]),
    ...(route.auth === "public" ? [] : named(["unauthenticated", "forbidden", "not_found"])),
    ...(route.params === undefined ? [] : named(["not_found"])),
    ...(changes(route) ? named(["forbidden"]) : []),
    ...(keyed ? named(["idempotency_conflict"]) : []),
    ...(route.errors ?? []),
  ]);
  const found = new Map<number, string[]>();
  for (const [code, status] of Object.entries(errors.codes)) {
    const few = errors.only[code];
    const possible = few === undefined ? statuses.has(status) && !elsewhere.has(code) : few.includes(id);
    if (possible) found.set(status, [...(found.get(status) ?? []), code]);
  }
  return found;
}

/** All codes that a route can fail with. */
export function codesOf(id: string, route: Route, errors: ErrorTable, keeps: boolean): ReadonlySet<string> {
  return new Set([...failuresOf(id, route, errors, keeps).values()].flat());
}

/** A route failed with a code that its documents do not name: the contract is to be mended. */
export class UndocumentedCode extends Error {
  constructor(id: string, code: string) {
    super(`${id} answered ${code}, which its contract does not name`);
  }
}
