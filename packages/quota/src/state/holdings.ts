import { checkArgument } from "@seneschal/kernel";
import type { Draft, Holding, QuotaState, UserHolding } from "./state.ts";
import { userKey } from "./state.ts";
import { guaranteedNodes, type Tenant } from "./tenant.ts";

/** A difference in what is held. */
export interface HoldingDelta {
  readonly nodes: number;
  readonly allocations: number;
  readonly gpus: Readonly<Record<string, number>>;
}

const NOTHING: Holding = { nodes: 0, allocations: 0, reserved: 0, gpus: {} };
const NOBODY: UserHolding = { nodes: 0, allocations: 0 };

export function holdingOf(state: QuotaState, tenant: string): Holding {
  checkArgument("state", state, "object");
  checkArgument("tenant", tenant, "string");
  return state.holdings.get(tenant) ?? NOTHING;
}

export function userHoldingOf(state: QuotaState, user: string, tenant: string): UserHolding {
  return state.userHoldings.get(userKey(user, tenant)) ?? NOBODY;
}

/** The tenant and its ancestors, nearest first. */
export function* lineage(state: QuotaState, tenant: string): IterableIterator<Tenant> {
  for (let next: string | null = tenant; next !== null; ) {
    const found: Tenant | undefined = state.tenants.get(next);
    if (found === undefined) return;
    yield found;
    next = found.parent;
  }
}

/** What a child takes from its parent's pool: what it holds, or what is guaranteed to it if that is more. */
export function contribution(tenant: Tenant, reserved: number): number {
  return Math.max(reserved, guaranteedNodes(tenant));
}

/** Adds a difference to the tenant, its ancestors and the user. */
export function addHolding(draft: Draft, tenant: string, user: string, delta: HoldingDelta): void {
  let reserved = delta.nodes;
  for (const level of lineage(draft, tenant)) {
    const now = holdingOf(draft, level.id);
    const next: Holding = {
      nodes: now.nodes + delta.nodes,
      allocations: now.allocations + delta.allocations,
      reserved: now.reserved + reserved,
      gpus: addGpus(now.gpus, delta.gpus),
    };
    draft.holdings = draft.holdings.set(level.id, next);
    reserved = contribution(level, next.reserved) - contribution(level, now.reserved);
  }
  const mine = userHoldingOf(draft, user, tenant);
  draft.userHoldings = draft.userHoldings.set(userKey(user, tenant), {
    nodes: mine.nodes + delta.nodes,
    allocations: mine.allocations + delta.allocations,
  });
}

/** Carries a tenant's changed guarantee up to its ancestors. `before` is what it took from its parent until now. */
export function carryGuarantee(draft: Draft, tenant: Tenant, before: number): void {
  let reserved = contribution(tenant, holdingOf(draft, tenant.id).reserved) - before;
  if (tenant.parent === null) return;
  for (const level of lineage(draft, tenant.parent)) {
    if (reserved === 0) return;
    const now = holdingOf(draft, level.id);
    const next = { ...now, reserved: now.reserved + reserved };
    draft.holdings = draft.holdings.set(level.id, next);
    reserved = contribution(level, next.reserved) - contribution(level, now.reserved);
  }
}

function addGpus(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const types = Object.keys(b);
  if (types.length === 0) return a;
  const sum: Record<string, number> = { ...a };
  for (const type of types) sum[type] = (sum[type] ?? 0) + (b[type] as number);
  return sum;
}
