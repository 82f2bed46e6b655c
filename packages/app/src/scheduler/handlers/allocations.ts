import type { Handlers, Principal } from "@seneschal/contract";
import type { SchedulerContract } from "@seneschal/contract/scheduler";
import { CodedError } from "@seneschal/kernel";
import {
  type Allocation,
  type AllocationRequest,
  type AllocationState,
  apply,
  isTerminal,
  judgeReport,
  type MoveAllocation,
  plan,
  type QuotaState,
  type Score,
  type SubmitAllocation,
  seesAllocation,
} from "@seneschal/quota";
import { requireTenant } from "../auth/roles.ts";
import { eventStream } from "../events/stream.ts";
import { proposeTraced } from "../quotas.ts";
import type { SchedulerServices } from "../services.ts";
import { type Asked, allocationId, stamp } from "../stamp.ts";
import { allocationView } from "../views/allocation.ts";
import { asOf } from "../views/as-of.ts";
import { iso, isoOrNull } from "../views/iso.ts";
import { json } from "../views/json.ts";
import { unknownTenant } from "./tenants.ts";

type AllocationRoutes =
  | "submitAllocation"
  | "listAllocations"
  | "getAllocation"
  | "cancelAllocation"
  | "suspendAllocation"
  | "resumeAllocation"
  | "requeueAllocation"
  | "scaleAllocation"
  | "completeAllocation"
  | "failAllocation"
  | "checkpointedAllocation"
  | "diagnoseAllocation"
  | "watchAllocation"
  | "allocationLogs";

const success = { success: true } as const;

/** All that can be in a state, newest first: work that has not ended is listed without passing by what has. */
function* newestFirst(state: QuotaState, wanted: AllocationState | undefined): IterableIterator<Allocation> {
  if (wanted === undefined || isTerminal(wanted)) for (const [, allocation] of state.allocations.reversed()) yield allocation;
  else for (const [id] of state.live.reversed()) yield state.allocations.get(id) as Allocation;
}

/** The allocation, if the caller may see it; what others own looks like what does not exist. */
function visible(state: QuotaState, principal: Principal, id: string): Allocation {
  const allocation = state.allocations.get(id);
  if (allocation === undefined || !seesAllocation(state, principal, allocation))
    throw new CodedError("not_found", `allocation not found: ${id}`, { allocation: id });
  return allocation;
}

interface MoveInput extends Asked {
  readonly params: { readonly id: string };
}

type More = Partial<Pick<MoveAllocation, "exitCode" | "reason" | "expectedRequeues">>;

/** Moves an allocation that the caller may see. */
async function move(services: SchedulerServices, input: MoveInput, operation: string, to: AllocationState, more: More = {}) {
  const found = visible(await services.quotas.read(), input.principal, input.params.id);
  return propose(services, input, found, operation, to, more);
}

/** What an agent says of work on its nodes, once or again. */
async function report(services: SchedulerServices, input: MoveInput, operation: string, to: AllocationState, more: More = {}) {
  const { principal, params, request } = input;
  const state = await services.quotas.read();
  const known = state.allocations.get(params.id);
  const keyed = request.headers["idempotency-key"] !== undefined;
  const judged = judgeReport(state, principal, known, { to, exitCode: more.exitCode, keyed });
  if (judged === "done") return success;
  if (judged === "move" || known === undefined) return move(services, input, operation, to, more);
  return propose(services, input, known, operation, to, more);
}

async function propose(
  { quotas, random }: SchedulerServices,
  input: MoveInput,
  found: Allocation,
  operation: string,
  to: AllocationState,
  more: More,
): Promise<typeof success> {
  await quotas.propose({
    kind: "allocation.move",
    ...stamp(random, `${operation} ${found.id}`, input),
    allocation: found.id,
    to,
    ...more,
  });
  return success;
}

export const allocationHandlers: Pick<Handlers<SchedulerContract, SchedulerServices>, AllocationRoutes> = {
  async submitAllocation(services, input) {
    const { quotas, random, config, clock, space } = services;
    const { body, principal, query, requestId } = input;
    const state = quotas.state();
    requireTenant(state, principal, body.tenant);
    space.requireRoom();
    const { auto_create_tenants: create, auto_create_max_nodes: maxNodes } = config.scheduling;
    if (!create && !state.tenants.has(body.tenant) && !(await quotas.read()).tenants.has(body.tenant))
      throw unknownTenant(body.tenant);
    const command: SubmitAllocation = {
      kind: "allocation.submit",
      ...stamp(random, "submitAllocation", input),
      allocation: allocationId(clock.now(), random),
      request: requestOf(body, principal.id),
      ...(create ? { createTenant: { maxNodes } } : {}),
    };
    if (query.dry_run === true) return dryRun(services, command);
    const { allocation } = await proposeTraced(quotas, command, requestId);
    return { allocation_id: String(allocation), id: String(allocation) };
  },

  listAllocations(services, { principal, query }) {
    const { quotas, cycle } = services;
    const { tenant = query.tenant_id, user, state: wanted, vcluster, limit, offset } = query;
    const state = quotas.state();
    const burst = cycle.last()?.plan.burst;
    const page = [];
    let skip = offset;
    for (const allocation of newestFirst(state, wanted)) {
      if (tenant !== undefined && allocation.tenant !== tenant) continue;
      if (query.tenant_id !== undefined && allocation.tenant !== query.tenant_id) continue;
      if (user !== undefined && allocation.user !== user) continue;
      if (wanted !== undefined && allocation.state !== wanted) continue;
      if (vcluster !== undefined && allocation.vcluster !== vcluster) continue;
      if (!seesAllocation(state, principal, allocation) || skip-- > 0) continue;
      page.push(allocationView(allocation, burst?.has(allocation.id) ?? false));
      if (page.length === limit) break;
    }
    return asOf(services, page);
  },

  async getAllocation({ quotas, cycle }, { params, principal }) {
    const found = visible(await quotas.read(), principal, params.id);
    return allocationView(found, cycle.last()?.plan.burst.has(found.id) ?? false);
  },

  cancelAllocation: (services, input) =>
    move(services, input, "cancelAllocation", "cancelled", {
      reason: input.body.message ?? `cancelled by ${input.principal.id}`,
    }),
  suspendAllocation: (services, input) =>
    move(services, input, "suspendAllocation", "checkpointing", {
      reason: input.body.message ?? `suspended by ${input.principal.id}`,
    }),
  resumeAllocation: (services, input) =>
    move(services, input, "resumeAllocation", "pending", { reason: input.body.message ?? `resumed by ${input.principal.id}` }),

  async requeueAllocation(services, input) {
    const found = visible(await services.quotas.read(), input.principal, input.params.id);
    return move(services, input, "requeueAllocation", "pending", {
      expectedRequeues: input.body.expected_requeue_count ?? found.requeues,
      reason: `requeued by ${input.principal.id}`,
    });
  },

  async scaleAllocation({ quotas, random }, input) {
    const found = visible(await quotas.read(), input.principal, input.params.id);
    const envelope = stamp(random, `scaleAllocation ${found.id}`, input);
    await quotas.propose({ kind: "allocation.scale", ...envelope, allocation: found.id, nodes: input.body.nodes });
    return success;
  },

  completeAllocation(services, input) {
    const { exit_code: exitCode, message } = input.body;
    const failed = exitCode !== 0;
    const reason = message ?? (failed ? `exit code ${exitCode}` : undefined);
    return report(services, input, "completeAllocation", failed ? "failed" : "completed", {
      exitCode,
      ...(reason === undefined ? {} : { reason }),
    });
  },

  failAllocation(services, input) {
    const { exit_code: exitCode, message } = input.body;
    return report(services, input, "failAllocation", "failed", {
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(message === undefined ? {} : { reason: message }),
    });
  },

  checkpointedAllocation: (services, input) =>
    report(services, input, "checkpointedAllocation", "suspended", {
      ...(input.body.message === undefined ? {} : { reason: input.body.message }),
    }),

  diagnoseAllocation({ quotas, cycle, planOptions, clock }, { params, principal }) {
    const state = quotas.state();
    const found = visible(state, principal, params.id);
    const now = Math.max(clock.now(), state.at);
    const last = cycle.last();
    const planned = found.state === "pending" ? plan(state, now, planOptions) : undefined;
    const reason = planned?.reasons.find(({ allocation }) => allocation === found.id);
    const score = planned?.scores.get(found.id) ?? cycle.scored(found.id)?.score;
    return {
      allocation_id: found.id,
      state: found.state,
      node_assignments: found.assigned.map((node, i) => ({ node, gpus: found.perNodeGpus[i] ?? null })),
      scheduler_decisions: [
        {
          timestamp: iso(planned === undefined ? (cycle.scored(found.id)?.at ?? found.since) : now),
          code: reason?.code ?? (planned === undefined ? found.state : "would_start"),
          message: reason?.text ?? found.statusReason ?? "",
          details: json(reason?.details ?? {}),
          score: score === undefined ? null : scoreView(score),
        },
      ],
      resource_utilization: {
        node_hours: hoursOf(found, now, "nodes"),
        gpu_hours: hoursOf(found, now, "gpus"),
        attempts: found.attempts.map(({ startedAt, endedAt, nodes, gpus }) => ({
          started_at: iso(startedAt),
          ended_at: isoOrNull(endedAt),
          nodes,
          gpus,
        })),
      },
      warnings: warningsOf(found, last?.plan.burst.has(found.id) ?? false),
    };
  },

  watchAllocation({ quotas, feed, cycle }, { params, principal, request, now }) {
    const first = visible(quotas.state(), principal, params.id);
    const view = (allocation: Allocation) => allocationView(allocation, cycle.last()?.plan.burst.has(allocation.id) ?? false);
    return eventStream((send, end) => {
      send({ event_type: "snapshot", allocation: view(first), timestamp: iso(now) });
      if (isTerminal(first.state)) end();
      const stops = [
        feed.subscribe((event) => {
          if (event.payload["allocation_id"] !== first.id) return;
          const allocation = quotas.state().allocations.get(first.id);
          if (allocation === undefined) return end();
          send({ event_type: event.type, allocation: view(allocation), timestamp: iso(event.at) });
          if (isTerminal(allocation.state)) end();
        }),
        feed.onClose(end),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    }, request);
  },

  allocationLogs({ quotas, outputs, feed }, { params, principal, query, request }) {
    const found = visible(quotas.state(), principal, params.id);
    const line = ({ at, level, message, source }: { at: number; level: string; message: string; source: string }) => ({
      timestamp: iso(at),
      level,
      message,
      source,
    });
    const lines = (outputs?.tail(found.id, query.lines ?? 1000) ?? []).map(line);
    if (query.follow !== true) return { body: JSON.stringify(lines) };
    return eventStream((send, end) => {
      for (const known of lines) send(known);
      if (outputs === undefined || isTerminal(found.state)) end();
      const stops = [
        outputs?.follow(found.id, (next) => send(line(next))) ?? (() => undefined),
        feed.subscribe((event) => {
          const { allocation_id: id, to } = event.payload;
          if (id === found.id && typeof to === "string" && isTerminal(to as AllocationState)) end();
        }),
        feed.onClose(end),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    }, request);
  },
};

type SubmitBody = Parameters<(typeof allocationHandlers)["submitAllocation"]>[1]["body"];

/** The user is the authenticated caller; nothing in the body can say otherwise. */
function requestOf(body: SubmitBody, user: string): AllocationRequest {
  return {
    tenant: body.tenant,
    user,
    project: body.project ?? null,
    vcluster: body.vcluster,
    entrypoint: body.entrypoint,
    nodes: body.nodes,
    minNodes: body.min_nodes ?? body.nodes,
    walltimeHours: body.walltime_hours,
    lifecycle: body.lifecycle,
    requeuePolicy: body.requeue_policy,
    maxRequeue: body.max_requeue,
    image: body.image ?? null,
    sensitive: body.sensitive,
    priorityClass: body.priority_class,
    checkpoint: body.checkpoint,
    gpuType: body.gpu_type ?? null,
    gpusPerNode: body.gpus_per_node ?? null,
    datasets: body.datasets,
    labels: body.labels,
  };
}

/** Runs the very functions that would decide, on the present state, and stores nothing. */
async function dryRun({ quotas, planOptions, clock }: SchedulerServices, command: SubmitAllocation) {
  const state = await quotas.read();
  const now = Math.max(clock.now(), state.at);
  const outcome = apply(state, command, now);
  const answer = { dry_run: true as const, would_start: false, nodes: [] as string[], score: null as number | null };
  if (!outcome.ok) {
    const reasons = [{ code: outcome.code, message: outcome.message, details: json(outcome.details) }];
    return { ...answer, decision: "rejected" as const, reasons };
  }
  const planned = plan(outcome.state, now, planOptions);
  const reason = planned.reasons.find(({ allocation }) => allocation === command.allocation);
  const start = planned.proposals.find((p) => p.kind === "allocation.assign" && p.allocation === command.allocation);
  return {
    ...answer,
    decision: "accepted" as const,
    would_start: start !== undefined,
    nodes: start?.kind === "allocation.assign" ? [...start.nodes] : [],
    reasons: reason === undefined ? [] : [{ code: reason.code, message: reason.text, details: json(reason.details) }],
    score: planned.scores.get(command.allocation)?.score ?? null,
  };
}

function scoreView({ score, penalty, terms }: Score) {
  return { total: score, penalty, terms: { ...terms } };
}

function hoursOf(allocation: Allocation, now: number, what: "nodes" | "gpus"): number {
  const ms = allocation.attempts.reduce(
    (sum, attempt) => sum + ((attempt.endedAt ?? now) - attempt.startedAt) * attempt[what],
    0,
  );
  return ms / 3_600_000;
}

function warningsOf(allocation: Allocation, burst: boolean): string[] {
  const warnings = [];
  if (burst) warnings.push("beyond the tenant's fair share: first to give way");
  if (allocation.checkpoint === "none" && allocation.requeuePolicy === "never" && !isTerminal(allocation.state))
    warnings.push("has no checkpoint and no requeue policy: a failed node ends it");
  return warnings;
}
