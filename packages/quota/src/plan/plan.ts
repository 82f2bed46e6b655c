import { checkArgument, checkOptions } from "@seneschal/kernel";
import { apply } from "../apply/apply.ts";
import { fits } from "../apply/assign.ts";
import type { AssignAllocation, GrowAllocation, PreemptAllocations } from "../command.ts";
import type { Rejection } from "../errors.ts";
import { checkQuotas } from "../hard-quota.ts";
import { burstAllocations, effectiveShare, shareDeficit } from "../soft/fair-share.ts";
import { budgetStatus } from "../soft/ledger.ts";
import { budgetPenalty, PENALTY_FLOOR } from "../soft/penalty.ts";
import {
  backlogTerm,
  checkpointTerm,
  energyTerm,
  PROFILES,
  type Score,
  scoreOf,
  UNKNOWN,
  type Weights,
  waitTerm,
} from "../soft/score.ts";
import { type Allocation, holdsNodes, isSensitive } from "../state/allocation.ts";
import { holdingOf } from "../state/holdings.ts";
import { type ComputeNode, isSchedulable, ownerOf, versionOf } from "../state/node.ts";
import type { QuotaState } from "../state/state.ts";
import { PREEMPTION_MODES, type PreemptionMode } from "../state/tenant.ts";
import { FreePool } from "./free-pool.ts";
import { because, REASON_TEXT, type Reason } from "./reason.ts";
import { admits, endsBy, type Reservation, reserveFor, usableNodes } from "./reserve.ts";
import { type Candidate, chooseVictims, compareCandidates, givesWay, mayPreempt, preemptionCost } from "./victims.ts";

/** What the planner cannot read from the state. */
export interface PlanOptions {
  /** Weights by virtual cluster; one that is not named uses the profile of its name, else the default profile. */
  readonly weights?: Readonly<Record<string, Weights>>;
  /** Weight of the number of groups against tightness in the topology term, 0..1. */
  readonly topologyBlend?: number;
  /** Keeps nodes for the first allocation that cannot start for want of them. Default true. */
  readonly reservations?: boolean;
  /** How running work gives way where its tenant does not say; default `requeue`. */
  readonly preemption?: PreemptionMode;
  /** Milliseconds that running work is left alone, where its tenant does not say; default 0. */
  readonly preemptionExemptMs?: number;
  /** Pending allocations per cycle for which others are looked at to give way, those of the highest score first; default 64. */
  readonly maxPreemptions?: number;
}

export type Proposal =
  | Pick<AssignAllocation, "kind" | "allocation" | "nodes" | "to" | "expected" | "wipe">
  | Pick<GrowAllocation, "kind" | "allocation" | "nodes" | "expected">
  | Pick<PreemptAllocations, "kind" | "victims" | "for">;

/** What one cycle would do, and why the rest waits. */
export interface Plan {
  /** To be proposed in this order. */
  readonly proposals: readonly Proposal[];
  /** One per pending allocation that is not proposed. */
  readonly reasons: readonly Reason[];
  /** Reasons that differ from what the state says: the payload of `allocation.reasons`. */
  readonly changed: readonly (readonly [string, string])[];
  readonly scores: ReadonlyMap<string, Score>;
  /** Running allocations beyond their tenant's share. */
  readonly burst: ReadonlySet<string>;
  readonly schedulable: number;
  readonly busy: number;
  /** When the first that waits for nodes will have them, by the walltimes of what runs; no one behind it may delay that. */
  readonly reservation: { readonly allocation: string; readonly at: number } | undefined;
}

/**
 * One scheduling cycle: scores what waits, gives it nodes in that order, and says why the rest must wait. Pure; nothing
 * is decided here: the proposals name the versions they were planned on, and `apply` judges them again. What a proposal
 * would be refused for is held back and not proposed (quota brief, section 5).
 *
 * @example
 * ```ts
 * import { emptyState, plan } from "@seneschal/quota";
 * const { proposals, reasons } = plan(emptyState(), Date.parse("2026-01-01T00:00:00Z"));
 * console.log(proposals.length, reasons.length); // 0 0
 * ```
 */
export function plan(state: QuotaState, now: number, options: PlanOptions = {}): Plan {
  checkOptions("options", options, {
    weights: "object?",
    topologyBlend: "number?",
    reservations: "boolean?",
    preemption: [...PREEMPTION_MODES, undefined],
    preemptionExemptMs: "number?",
    maxPreemptions: "number?",
  });
  checkArgument("state", state, "object");
  checkArgument("now", now, "number");
  const cycle = survey(state, now, options);
  const queue = cycle.pending
    .map((allocation) => ({ allocation, score: cycle.score(allocation) }))
    .sort(
      (a, b) =>
        b.score.score - a.score.score ||
        a.allocation.createdAt - b.allocation.createdAt ||
        (a.allocation.id < b.allocation.id ? -1 : 1),
    );
  const proposals: Proposal[] = [];
  const reasons: Reason[] = [];
  for (const { allocation, score } of options.reservations === false ? queue : holderFirst(queue)) {
    const found = place(cycle, allocation, score);
    if ("code" in found) reasons.push(found);
    else proposals.push(found);
  }
  for (const allocation of cycle.running) {
    const grown = allocation.lifecycle === "reactive" ? grow(cycle, allocation) : undefined;
    if (grown !== undefined) proposals.push(grown);
  }
  return {
    proposals: [...proposals, ...cycle.preemptions],
    reasons,
    changed: reasons
      .filter(({ allocation, text }) => state.allocations.get(allocation)?.statusReason !== text)
      .map(({ allocation, text }) => [allocation, text]),
    scores: new Map(queue.map(({ allocation, score }) => [allocation.id, score])),
    burst: cycle.burst,
    schedulable: cycle.schedulable,
    busy: cycle.busy,
    reservation: cycle.reserved === undefined ? undefined : { allocation: cycle.reserved.head.id, at: cycle.reserved.at },
  };
}

/**
 * Who holds the reservation comes before all but work of a higher class, whatever the scores say by now: fit is a part of them, and
 * what does not fit would lose its place to whatever does. The state says who holds it, by the reason that it shows.
 */
function holderFirst<Q extends { readonly allocation: Allocation }>(queue: readonly Q[]): readonly Q[] {
  const holder = queue.find(({ allocation }) => allocation.statusReason === REASON_TEXT.nodes_held);
  if (holder === undefined) return queue;
  const before = ({ allocation }: Q): boolean => allocation.priorityClass > holder.allocation.priorityClass;
  return [...queue.filter(before), holder, ...queue.filter((other) => other !== holder && !before(other))];
}

interface Cycle {
  /** The state as it would be with the proposals so far. */
  spec: QuotaState;
  readonly now: number;
  readonly pool: FreePool;
  readonly pending: readonly Allocation[];
  readonly running: readonly Allocation[];
  readonly burst: ReadonlySet<string>;
  /** Nodes that are on their way to a pending allocation, from work that is writing its checkpoint. */
  readonly coming: ReadonlyMap<string, number>;
  readonly schedulable: number;
  readonly busy: number;
  readonly score: (allocation: Allocation) => Score;
  /** In the order of compareCandidates; made when first needed. */
  candidates: readonly Candidate[] | undefined;
  readonly gone: Set<string>;
  readonly preemptions: Proposal[];
  preemptionsLeft: number;
  readonly preemption: PreemptionMode;
  readonly preemptionExemptMs: number;
  readonly reserves: boolean;
  /** Made for the first that waits for nodes. */
  reserved: Reservation | undefined;
  /** By kind of work: see {@link carriersOf}. */
  readonly carriers: Map<string, Carriers>;
  /** Placed in this cycle. */
  readonly started: Allocation[];
}

/** Reads from the state what every decision of the cycle needs. */
function survey(state: QuotaState, now: number, options: PlanOptions): Cycle {
  const pending: Allocation[] = [];
  const running: Allocation[] = [];
  for (const id of state.live.keys()) {
    const allocation = state.allocations.get(id) as Allocation;
    if (allocation.state === "pending") pending.push(allocation);
    else if (holdsNodes(allocation.state)) running.push(allocation);
  }
  let schedulable = 0;
  let busy = 0;
  let declared = 0;
  const prices = { least: Number.POSITIVE_INFINITY, greatest: 0 };
  const fingerprints = new Map<string, number>();
  const free: ComputeNode[] = [];
  for (const node of state.nodes.values()) {
    const owner = ownerOf(state, node);
    if (isSchedulable(state, node)) {
      schedulable++;
      if (owner !== null) busy++;
      if (node.energyPrice !== null) {
        prices.least = Math.min(prices.least, node.energyPrice);
        prices.greatest = Math.max(prices.greatest, node.energyPrice);
      }
    }
    if (node.state === "ready" && owner === null) {
      free.push(node);
      if (node.conformance !== null) {
        declared++;
        fingerprints.set(node.conformance, (fingerprints.get(node.conformance) ?? 0) + 1);
      }
    }
  }
  const pool = new FreePool(free);
  const alike = Math.max(0, ...fingerprints.values());
  const utilisation = schedulable === 0 ? 1 : busy / schedulable;
  const shareOf = (tenant: string): number => (schedulable === 0 ? 0 : holdingOf(state, tenant).nodes / schedulable);
  const tenants = new Map<string, { readonly fairShare: number; readonly penalty: number }>();
  const standing = (id: string): { readonly fairShare: number; readonly penalty: number } => {
    const known = tenants.get(id);
    if (known !== undefined) return known;
    const tenant = state.tenants.get(id);
    const fresh =
      tenant === undefined
        ? { fairShare: UNKNOWN, penalty: 1 }
        : {
            fairShare: shareDeficit(shareOf(id), effectiveShare(tenant.fairShareTarget, tenant.burstAllowance, utilisation)),
            penalty: budgetPenalty(budgetStatus(state, tenant, now).fraction),
          };
    tenants.set(id, fresh);
    return fresh;
  };
  const blend = options.topologyBlend ?? 0.7;
  const fitting = new Map<string, Readonly<Record<"topology" | "data" | "energy", number>>>();
  const fitted = (a: Allocation): Readonly<Record<"topology" | "data" | "energy", number>> => {
    const key = [a.desiredNodes, a.gpuType, a.gpusPerNode, isSensitive(a) ? a.user : "", ...a.datasets].join("\u0000");
    let values = fitting.get(key);
    if (values === undefined) {
      const { groups, tightness, data, price } = pool.fit(a, a.desiredNodes);
      values = {
        topology: groups === 0 ? 0 : blend / groups + (1 - blend) * tightness,
        data: data ?? UNKNOWN,
        energy: energyTerm(price, prices),
      };
      fitting.set(key, values);
    }
    return values;
  };
  const backlog = backlogTerm(pending.length, running.length);
  const score = (a: Allocation): Score => {
    const { fairShare, penalty } = standing(a.tenant);
    return scoreOf(
      {
        priority: a.priorityClass / 10,
        wait: waitTerm(a.createdAt, now),
        fairShare,
        ...fitted(a),
        backlog,
        checkpoint: checkpointTerm(a.checkpoint),
        conformance: declared === 0 ? UNKNOWN : Math.min(1, alike / a.desiredNodes),
      },
      weightsOf(a.vcluster, options),
      isSensitive(a) ? 1 : penalty,
    );
  };
  const burst = new Set<string>();
  const byTenant = new Map<string, Allocation[]>();
  for (const allocation of running) {
    const mine = byTenant.get(allocation.tenant);
    if (mine === undefined) byTenant.set(allocation.tenant, [allocation]);
    else mine.push(allocation);
  }
  for (const [id, mine] of byTenant) {
    const target = state.tenants.get(id)?.fairShareTarget ?? 0;
    if (target > 0) for (const allocation of burstAllocations(mine, target, schedulable)) burst.add(allocation);
  }
  const coming = new Map<string, number>();
  for (const { state: is, preemptedFor, assigned } of running)
    if (is === "checkpointing" && preemptedFor !== null)
      coming.set(preemptedFor, (coming.get(preemptedFor) ?? 0) + assigned.length);
  return {
    spec: state,
    now,
    pool,
    pending,
    running,
    burst,
    coming,
    schedulable,
    busy,
    score,
    candidates: undefined,
    gone: new Set(),
    preemptions: [],
    preemptionsLeft: options.maxPreemptions ?? 64,
    preemption: options.preemption ?? "requeue",
    preemptionExemptMs: options.preemptionExemptMs ?? 0,
    reserves: options.reservations ?? true,
    reserved: undefined,
    carriers: new Map(),
    started: [],
  };
}

function weightsOf(vcluster: string, options: PlanOptions): Weights {
  const named = options.weights;
  if (named !== undefined && Object.hasOwn(named, vcluster)) return named[vcluster] as Weights;
  return Object.hasOwn(PROFILES, vcluster) ? PROFILES[vcluster as keyof typeof PROFILES] : PROFILES.default;
}

/** Nodes for one allocation, or why not. */
function place(cycle: Cycle, allocation: Allocation, score: Score): Proposal | Reason {
  const { pool } = cycle;
  const tenant = cycle.spec.tenants.get(allocation.tenant);
  if (tenant === undefined) return because(allocation.id, "tenant_missing", { tenant: allocation.tenant });
  const headroom = largestWithin(cycle, allocation, { from: allocation.minNodes, to: allocation.desiredNodes, allocations: 1 });
  if (typeof headroom !== "number") return held(allocation, headroom);
  const { reserved } = cycle;
  const free = pool.free(allocation);
  const kept = reserved?.pool.free(allocation) ?? 0;
  const brief = reserved !== undefined && endsBy(allocation, cycle.now, reserved.at);
  const lent = brief ? kept : 0;
  if (free + lent < allocation.minNodes)
    return free + kept < allocation.minNodes ? makeRoom(cycle, allocation, score, free) : behind(allocation, reserved);
  const count = Math.min(headroom, free + lent);
  const own = pool.take(allocation, Math.min(count, free));
  const borrowed = count > own.length && reserved !== undefined ? reserved.pool.take(allocation, count - own.length) : [];
  const nodes = [...own, ...borrowed];
  const proposal = {
    kind: "allocation.assign" as const,
    allocation: allocation.id,
    nodes: nodes.map(({ id }) => id),
    to: "running" as const,
    expected: {
      tenant: tenant.version,
      allocation: allocation.version,
      nodes: nodes.map((node) => versionOf(cycle.spec, node)),
    },
    ...(tenant.isolationLevel === "strict" ? { wipe: true } : {}),
  };
  const outcome = apply(cycle.spec, { ...proposal, id: `plan:${allocation.id}`, by: "system" }, cycle.now);
  if (!outcome.ok) return held(allocation, outcome);
  if (reserved !== undefined && !brief && !admits(outcome.state, reserved)) {
    pool.give(own);
    return behind(allocation, reserved);
  }
  cycle.spec = outcome.state;
  cycle.started.push(outcome.state.allocations.get(allocation.id) as Allocation);
  return proposal;
}

/** Further nodes for reactive work that asks for more than it holds, of those that nobody who waits was given. */
function grow(cycle: Cycle, { id }: Allocation): Proposal | undefined {
  const { pool, spec, reserved } = cycle;
  const allocation = spec.allocations.get(id);
  const tenant = spec.tenants.get(allocation?.tenant ?? "");
  if (allocation?.state !== "running" || tenant === undefined || cycle.gone.has(id)) return;
  const wanted = Math.min(allocation.desiredNodes - allocation.assigned.length, pool.free(allocation));
  if (wanted < 1) return;
  const count = largestWithin(cycle, allocation, { from: 1, to: wanted, allocations: 0 });
  if (typeof count !== "number") return;
  const nodes = pool.take(allocation, count);
  const proposal = {
    kind: "allocation.grow" as const,
    allocation: id,
    nodes: nodes.map((node) => node.id),
    expected: {
      tenant: tenant.version,
      allocation: allocation.version,
      nodes: nodes.map((node) => versionOf(spec, node)),
    },
  };
  const outcome = apply(spec, { ...proposal, id: `plan:grow:${id}`, by: "system" }, cycle.now);
  if (!outcome.ok || (reserved !== undefined && !admits(outcome.state, reserved))) {
    pool.give(nodes);
    return;
  }
  cycle.spec = outcome.state;
  return proposal;
}

/** It would fit, were it not for the one that nodes are kept for. */
function behind(allocation: Allocation, reserved: Reservation | undefined): Reason {
  return because(allocation.id, "nodes_reserved", { for: reserved?.head.id ?? "", at: reserved?.at ?? 0 });
}

/** The most nodes of a range that the quotas leave room for; else the refusal of the fewest. */
function largestWithin(
  cycle: Cycle,
  allocation: Allocation,
  { from, to, allocations }: { readonly from: number; readonly to: number; readonly allocations: number },
): number | Rejection {
  const { tenant, user, gpuType, gpusPerNode } = allocation;
  const claims = cycle.pool.claimedFor(allocation);
  const refusal = (nodes: number): Rejection | undefined =>
    checkQuotas(cycle.spec, {
      tenant,
      user,
      nodes,
      allocations,
      sensitive: isSensitive(allocation) ? Math.max(0, nodes - claims) : 0,
      gpus: gpuType === null ? {} : { [gpuType]: nodes * (gpusPerNode ?? 1) },
    });
  if (refusal(to) === undefined) return to;
  const refused = refusal(from);
  if (refused !== undefined) return refused;
  let low = from;
  let high = to - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (refusal(middle) === undefined) low = middle;
    else high = middle - 1;
  }
  return low;
}

function held(allocation: Allocation, refusal: Rejection): Reason {
  const { quota, current, requested, limit, tenant } = refusal.details as Record<string, string | number>;
  const details = quota === undefined ? { code: refusal.code } : { tenant, quota, current, requested, limit };
  return because(
    allocation.id,
    quota === "sensitive_pool_size" ? "sensitive_pool" : "quota_headroom",
    details as Reason["details"],
  );
}

/** How many nodes of the cluster could carry one kind of work, were they free and in service; the others by the first constraint that excludes them. */
interface Carriers {
  readonly fitting: number;
  readonly excluded: { readonly gpu_type: number; readonly gpus_per_node: number };
}

/** Counted once a cycle for each kind: many that wait are alike, and the cluster has many nodes. */
function carriersOf({ spec, carriers }: Cycle, { gpuType, gpusPerNode }: Allocation): Carriers {
  const kind = `${gpuType}\u0000${gpusPerNode}`;
  const known = carriers.get(kind);
  if (known !== undefined) return known;
  let fitting = 0;
  const excluded = { gpu_type: 0, gpus_per_node: 0 };
  for (const node of spec.nodes.values()) {
    if (fits(node, { gpuType, gpusPerNode })) fitting++;
    else if (fits(node, { gpuType, gpusPerNode: null })) excluded.gpus_per_node++;
    else excluded.gpu_type++;
  }
  const counted = { fitting, excluded };
  carriers.set(kind, counted);
  return counted;
}

/** Why the nodes of the cluster could never carry the allocation, were they all free and in service; undefined when they could. */
function unsatisfiable(cycle: Cycle, allocation: Allocation): Reason | undefined {
  const { id, gpuType, gpusPerNode, minNodes: need } = allocation;
  const { fitting, excluded } = carriersOf(cycle, allocation);
  if (fitting >= need) return undefined;
  const nodes = cycle.spec.nodes.size;
  return because(id, "unsatisfiable", { need, fitting, nodes, excluded, gpu_type: gpuType, gpus_per_node: gpusPerNode });
}

/** There are too few free nodes: see whether others must give way, or are doing so already. */
function makeRoom(cycle: Cycle, pending: Allocation, score: Score, free: number): Reason {
  const need = pending.minNodes;
  const never = unsatisfiable(cycle, pending);
  if (never !== undefined) return never;
  const coming = cycle.coming.get(pending.id) ?? 0;
  if (coming > 0 && free + coming >= need) {
    cycle.pool.take(pending, free); // keeps its place
    return because(pending.id, "nodes_being_freed", { free, coming, need });
  }
  const victims = cycle.preemptionsLeft-- > 0 ? findVictims(cycle, pending, need - free - coming) : [];
  if (victims.length > 0) {
    cycle.pool.take(pending, free);
    for (const { allocation } of victims) cycle.gone.add(allocation.id);
    cycle.preemptions.push({
      kind: "allocation.preempt",
      victims: victims.map(({ allocation: { id, version } }) => ({ allocation: id, version })),
      for: pending.id,
    });
    return because(pending.id, "nodes_being_freed", {
      free,
      need,
      victims: victims.map(({ allocation }) => allocation.id),
    });
  }
  if (cycle.reserves && cycle.reserved === undefined)
    cycle.reserved = reserveFor(pending, { ...cycle, running: [...cycle.running, ...cycle.started] });
  const { reserved } = cycle;
  const held = reserved?.head.id === pending.id;
  // What only a budget holds back keeps no place against work that has one.
  const code = score.penalty <= PENALTY_FLOOR ? "budget_exhausted" : held ? "nodes_held" : "nodes";
  return because(pending.id, code, { free, need, ...(held ? { starts_by: reserved.at } : {}) });
}

function findVictims(cycle: Cycle, pending: Allocation, need: number): readonly Candidate[] {
  const { spec, now } = cycle;
  cycle.candidates ??= cycle.running
    .filter((allocation) => {
      const tenant = spec.tenants.get(allocation.tenant);
      const exemptHours = tenant?.preemptionExemptHours ?? null;
      return givesWay(allocation, {
        mode: tenant?.preemption ?? cycle.preemption,
        exemptMs: exemptHours === null ? cycle.preemptionExemptMs : exemptHours * 3_600_000,
        now,
      });
    })
    .map((allocation) => ({
      allocation,
      burst: cycle.burst.has(allocation.id),
      cost: preemptionCost(allocation, now),
      frees: allocation.assigned.length,
    }))
    .sort(compareCandidates);
  const target = spec.tenants.get(pending.tenant)?.fairShareTarget ?? 0;
  const belowShare = holdingOf(spec, pending.tenant).nodes < target * cycle.schedulable;
  const eligible = cycle.candidates
    .filter(({ allocation, burst }) => !cycle.gone.has(allocation.id) && mayPreempt(pending, allocation, { burst, belowShare }))
    .map((candidate) => ({ ...candidate, frees: usableNodes(spec, pending, candidate.allocation) }));
  return chooseVictims(eligible, need);
}
