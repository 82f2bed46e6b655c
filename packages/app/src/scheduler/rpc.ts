import type { HandlerInput, Principal, RateLimit, WireRequest } from "@seneschal/contract";
import {
  type AdminServiceCall,
  type AdminServiceHandlers,
  type SchedulerContract,
  schedulerContract,
} from "@seneschal/contract/scheduler";
import { CodedError } from "@seneschal/kernel";
import type * as z from "zod";
import type { Authorise } from "./auth/authorise.ts";
import { tenantHandlers } from "./handlers/tenants.ts";
import type { SchedulerServices } from "./services.ts";

/** Who is let in: the very hooks of the dispatcher. */
export interface Door {
  readonly authenticate: (wire: Pick<WireRequest, "headers">) => Promise<Principal | undefined>;
  readonly authorise: Authorise;
  readonly rateLimit: RateLimit;
}
type Operation = "updateTenant" | "getTenantUsage" | "getUserUsage";

/** Fields that a caller may clear by name; proto has no null. */
const CLEARABLE: readonly string[] = ["max_concurrent_allocations", "gpu_hours_budget", "node_hours_budget", "burst_allowance"];

/** The AdminService: the same schemas, roles, rate limits and handlers as REST, behind another wire. */
export function adminHandlers(services: SchedulerServices, { authenticate, authorise, rateLimit }: Door): AdminServiceHandlers {
  /** Authenticates, counts and authorises like the dispatcher does for the operation's route: bad credentials count too. */
  const admit = async (operation: Operation, { authorization, address }: AdminServiceCall): Promise<Principal> => {
    const route = schedulerContract[operation];
    const headers = authorization === undefined ? {} : { authorization };
    const wire = { method: route.method, path: route.path, params: {}, query: {}, headers, remoteAddress: address };
    let refused: unknown = new CodedError("unauthenticated", "authentication required");
    const principal = await authenticate(wire).catch((error: unknown) => {
      refused = error;
      return undefined;
    });
    const verdict = await rateLimit(wire as WireRequest, { id: operation, route }, principal);
    if (verdict?.allowed === false) throw new CodedError("rate_limited", "too many requests", verdict.details);
    if (principal === undefined) throw refused;
    await authorise({ route, principal, now: services.clock.now() });
    return principal;
  };
  const input = <O extends Operation>(principal: Principal, parts: object): HandlerInput<SchedulerContract[O]> =>
    ({
      query: {},
      params: {},
      body: undefined,
      ...parts,
      principal,
      now: services.clock.now(),
      requestId: Buffer.from(services.random(8)).toString("hex"),
      request: { remoteAddress: "grpc", headers: {}, rawBody: new Uint8Array() },
    }) as unknown as HandlerInput<SchedulerContract[O]>;
  const body = (returned: object): Readonly<Record<string, unknown>> =>
    ("body" in returned ? returned.body : returned) as Readonly<Record<string, unknown>>;

  return {
    async UpdateTenant(call) {
      const { request } = call;
      const principal = await admit("updateTenant", call);
      const { tenant_id: id, clear = [], ...fields } = request;
      const cleared = (clear as readonly string[]).map((field) => {
        if (!CLEARABLE.includes(field))
          throw new CodedError("invalid_argument", `clear: expected some of ${CLEARABLE.join(", ")}`, { field: "clear" });
        return [field, null] as const;
      });
      const { updateTenant } = schedulerContract;
      const params = parse(updateTenant.params, { id });
      const parts = { params, body: parse(updateTenant.body, { ...fields, ...Object.fromEntries(cleared) }) };
      return body(await tenantHandlers.updateTenant(services, input<"updateTenant">(principal, parts)));
    },
    async GetTenantUsage(call) {
      const { request } = call;
      const principal = await admit("getTenantUsage", call);
      const params = parse(schedulerContract.getTenantUsage.params, { id: request["tenant_id"] });
      const query = parse(schedulerContract.getTenantUsage.query, daysOf(request));
      return body(await tenantHandlers.getTenantUsage(services, input<"getTenantUsage">(principal, { params, query })));
    },
    async GetUserUsage(call) {
      const { request } = call;
      const principal = await admit("getUserUsage", call);
      const query = parse(schedulerContract.getUserUsage.query, { user: request["user"], ...daysOf(request) });
      return body(await tenantHandlers.getUserUsage(services, input<"getUserUsage">(principal, { query })));
    },
  };
}

function daysOf({ days }: Readonly<Record<string, unknown>>): { days?: string } {
  return days === undefined ? {} : { days: String(days) };
}

function parse<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.join(".") ?? "";
  throw new CodedError("invalid_argument", `${field}: ${issue?.message ?? "invalid"}`, { field });
}
