import { CodedError, checkArgument } from "@seneschal/kernel";
import { type Allocation, type AllocationState, isTerminal } from "./state/allocation.ts";
import type { QuotaState } from "./state/state.ts";

/** Who may do what. A caller may hold several. */
export const ROLES = ["user", "tenant-admin", "system-admin", "accounting", "auditor", "agent", "peer"] as const;
export type Role = (typeof ROLES)[number];

/** Who asks: `org` is the tenant, empty for who belongs to none. */
export interface Caller {
  readonly id: string;
  readonly org: string;
  readonly roles: readonly string[];
}

/** True for who holds one of the roles at least. */
export function hasRole(caller: Caller, ...roles: readonly Role[]): boolean {
  checkArgument("caller", caller, "object");
  return roles.some((role) => caller.roles.includes(role));
}

/** Sees every tenant. */
export function seesAll(caller: Caller): boolean {
  return hasRole(caller, "system-admin", "accounting");
}

/** The caller's own tenant, or for its administrator one below it. */
export function reachesTenant(state: QuotaState, caller: Caller, tenant: string): boolean {
  checkArgument("state", state, "object");
  checkArgument("tenant", tenant, "string");
  if (seesAll(caller) || (caller.org !== "" && caller.org === tenant)) return true;
  if (!hasRole(caller, "tenant-admin") || caller.org === "") return false;
  for (let next = state.tenants.get(tenant)?.parent ?? null; next !== null; next = state.tenants.get(next)?.parent ?? null)
    if (next === caller.org) return true;
  return false;
}

/** Whose work a caller may see: its own, its tenant's for the tenant's administrator, what runs on its nodes for an agent. */
export function seesAllocation(state: QuotaState, caller: Caller, allocation: Allocation): boolean {
  checkArgument("state", state, "object");
  checkArgument("allocation", allocation, "object");
  if (hasRole(caller, "system-admin")) return true;
  if (hasRole(caller, "tenant-admin") && reachesTenant(state, caller, allocation.tenant)) return true;
  if (hasRole(caller, "user") && allocation.user === caller.id && allocation.tenant === caller.org) return true;
  return hasRole(caller, "agent") && isAgentOf(state, caller, allocation.assigned);
}

function isAgentOf(state: QuotaState, caller: Caller, nodes: readonly string[]): boolean {
  return nodes.some((id) => state.nodes.get(id)?.agent === caller.id);
}

/** What an agent says of work on its nodes. */
export interface AgentReport {
  readonly to: AllocationState;
  readonly exitCode?: number | undefined;
  /** It comes under an `Idempotency-Key`, whose receipt may tell. */
  readonly keyed: boolean;
}

/**
 * Whether what an agent says moves the work (`move`, as anybody's move), is to be judged by the receipt of its key (`repeat`), or was done before
 * (`done`): whose answer was lost says it again, and is told that it was done when the work ended so. Of work that its nodes let go of and that
 * has not ended, the report is of an attempt that is over: it moves nothing. Throws `invalid_transition` for one that says otherwise.
 *
 * @example
 * ```ts
 * import { emptyState, judgeReport } from "@seneschal/quota";
 * const agent = { id: "agent-1", org: "", roles: ["agent"] };
 * console.log(judgeReport(emptyState(), agent, undefined, { to: "completed", keyed: false })); // move
 * ```
 */
export function judgeReport(
  state: QuotaState,
  caller: Caller,
  allocation: Allocation | undefined,
  report: AgentReport,
): "move" | "repeat" | "done" {
  checkArgument("state", state, "object");
  checkArgument("report", report, "object");
  if (allocation === undefined || !hasRole(caller, "agent") || !isAgentOf(state, caller, allocation.lastAssigned)) return "move";
  if (isAgentOf(state, caller, allocation.assigned)) return "move";
  const { to, exitCode, keyed } = report;
  const over = isTerminal(allocation.state);
  if (over && keyed) return "repeat";
  const same = allocation.state === to && (exitCode === undefined || exitCode === allocation.exitCode);
  if (same || (!over && to !== "completed")) return "done";
  throw new CodedError("invalid_transition", `allocation ${allocation.id} is ${allocation.state}`, {
    allocation: allocation.id,
    from: allocation.state,
    to,
  });
}
