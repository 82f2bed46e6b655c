import { gatewayContract } from "@seneschal/contract/gateway";
import type * as z from "zod";
import { sampleOf } from "../platform/sample-of.ts";
import type { Answer, Caller } from "./rig.ts";
import { pathOf, type Targets } from "./samples.ts";

interface AnyRoute {
  readonly method: string;
  readonly path: string;
  readonly auth: string;
  readonly action?: string;
  readonly params?: object;
  readonly body?: z.ZodType;
}

/** Every route of the contract that asks who calls. */
export const guardedRoutes: readonly (readonly [id: string, route: AnyRoute])[] = Object.entries(
  gatewayContract as Readonly<Record<string, AnyRoute>>,
).filter(([, route]) => route.auth !== "public");

/** Calls a route with parameters and a body that it accepts. */
export function callRoute(caller: Caller, [id, route]: (typeof guardedRoutes)[number], targets: Targets): Promise<Answer> {
  const body = route.body === undefined ? undefined : (targets.bodies[id] ?? sampleOf(route.body));
  return caller(route.method, pathOf(route.path, targets), body);
}
