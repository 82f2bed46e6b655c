import { checkArgument } from "@seneschal/kernel";
import { checkRoutes } from "./check-routes.ts";
import type { Contract } from "./route.ts";

/**
 * A contract: its routes by operation id, with their literal types kept. Routes and handlers are separate objects, so that
 * OpenAPI and clients import no service code.
 *
 * Throws `TypeError` for a route that could not be served safely: a path that clashes or whose parameters differ from its
 * `params`, a guarded route without an `action`, a request schema with an object that would drop unknown fields silently.
 *
 * @example
 * ```ts
 * import { contract } from "@seneschal/contract";
 * import * as z from "zod";
 * const routes = contract({
 *   getWidget: {
 *     method: "GET", path: "/widgets/:id", summary: "One widget", tag: "widgets", auth: "principal", action: "widget:read",
 *     params: z.strictObject({ id: z.string() }), status: 200, reply: z.strictObject({ id: z.string() }),
 *   },
 * });
 * console.log(routes.getWidget.path); // /widgets/:id
 * ```
 */
export function contract<const C extends Contract>(routes: C): C {
  checkArgument("routes", routes, "object");
  checkRoutes(routes);
  return routes;
}
