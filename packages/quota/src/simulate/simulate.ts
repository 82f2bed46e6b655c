import { checkArgument, checkOptions } from "@seneschal/kernel";
import { apply } from "../apply/apply.ts";
import type { Command } from "../command.ts";
import { type PlanOptions, plan } from "../plan/plan.ts";
import type { AllocationRequest } from "../state/allocation.ts";
import { holdingOf } from "../state/holdings.ts";
import { emptyState, type QuotaState } from "../state/state.ts";
import type { Job, LeftOut, Workload } from "./workload.ts";

export interface SimulationOptions {
  /** Seconds between scheduling cycles; default 60. */
  readonly cycle?: number;
  /** Seconds after which users submit again what a quota refused, once the tenant has capacity again; default 60. */
  readonly resubmit?: number;
  readonly plan?: PlanOptions;
  /** Of jobs whose trace does not say; `none` and `never`, as the server takes it. */
  readonly checkpoint?: AllocationRequest["checkpoint"];
  readonly requeue?: AllocationRequest["requeuePolicy"];
}

/** The cluster at one moment. Shares are fractions of all nodes. */
export interface Sample {
  /** Seconds from the start. */
  readonly at: number;
  readonly utilisation: number;
  readonly shares: Readonly<Record<string, number>>;
  readonly waiting: number;
}

/** What became of one job; times in seconds, null for what did not happen. */
export interface JobOutcome {
  readonly id: string;
  readonly tenant: string;
  readonly submit: number;
  readonly start: number | null;
  readonly end: number | null;
  /** Times that a quota refused it. */
  readonly refusals: number;
  /** Times that it had to give way, and the seconds of its work that were lost by that. */
  readonly preemptions: number;
  readonly lost: number;
  /** Why it did not finish; null when it did. */
  readonly unfinished: string | null;
}

export interface Simulation {
  readonly samples: readonly Sample[];
  readonly jobs: readonly JobOutcome[];
  /** Allocations that had to give way. */
  readonly preemptions: number;
  /** Jobs of the trace that never came into the simulation, and why. */
  readonly leftOut: readonly LeftOut[];
}

/**
 * Runs a workload through the very functions that the service runs, in simulated time: submissions are judged by `apply`,
 * started by `plan`, ended after their runtime. Deterministic. A tenant that the trace does not limit has no limit. What gives way
 * keeps what it has done if it writes checkpoints, begins anew if it is only requeued, and else has ended. Nothing is dropped without a
 * word: every job of the trace is in `jobs`, with why it did not finish, or in `leftOut`.
 *
 * @example
 * ```ts
 * import { parseTrace, simulate } from "@seneschal/quota/simulate";
 * const { jobs } = simulate(parseTrace("cluster nodes=2\ntenant name=t\nsubmit at=0 id=a tenant=t runtime=60"));
 * console.log(jobs[0]?.end); // 60
 * ```
 */
export function simulate(workload: Workload, options: SimulationOptions = {}): Simulation {
  checkOptions("options", options, {
    cycle: "number?",
    resubmit: "number?",
    plan: "object?",
    checkpoint: ["none", "auto", "manual", undefined],
    requeue: ["never", "on_node_failure", "always", undefined],
  });
  checkArgument("workload", workload, "object");
  checkArgument("workload.jobs", workload.jobs, "array");
  const { cycle = 60, resubmit = 60 } = options;
  const jobs: Job[] = [];
  const leftOut: LeftOut[] = [...(workload.leftOut ?? [])];
  for (const job of workload.jobs)
    if (job.nodes <= workload.nodes)
      jobs.push({ checkpoint: options.checkpoint ?? "none", requeue: options.requeue ?? "never", ...job });
    else leftOut.push({ id: job.id, why: `asks for ${job.nodes} nodes of a cluster of ${workload.nodes}` });
  const cluster = new Cluster({ ...workload, jobs });
  const agenda = new Agenda();
  for (const change of workload.quotas)
    agenda.add(change.at, 0, () => {
      cluster.setQuota(change.tenant, change.settings);
      retryLater(change.tenant);
    });
  for (const job of jobs) agenda.add(job.submit, 2, () => submit(job));
  const samples: Sample[] = [];
  let lastCycle = Number.NEGATIVE_INFINITY;
  let cycleDue = false;

  const refused = new Map<string, Job[]>();
  const retrying = new Set<string>();

  function submit(job: Job): void {
    const answer = cluster.submit(job);
    if (answer === "taken") wake();
    if (answer === "later") refused.set(job.tenant, [...(refused.get(job.tenant) ?? []), job]);
  }
  /** There is no waiting queue for what a quota refused: its users come back when there is capacity. */
  function retryLater(tenant: string): void {
    if (retrying.has(tenant) || !refused.has(tenant)) return;
    retrying.add(tenant);
    agenda.add(agenda.now + resubmit, 2, () => {
      retrying.delete(tenant);
      const jobs = refused.get(tenant) ?? [];
      refused.delete(tenant);
      let misses = 0;
      for (const [i, job] of jobs.entries()) {
        const answer = cluster.submit(job);
        if (answer === "taken") wake();
        if (answer !== "later") continue;
        refused.set(tenant, [...(refused.get(tenant) ?? []), job]);
        if (++misses < PATIENCE) continue;
        refused.set(tenant, [...(refused.get(tenant) ?? []), ...jobs.slice(i + 1)]);
        return;
      }
    });
  }
  /** A cycle at the next multiple of the interval that has had none. */
  function wake(): void {
    if (cycleDue) return;
    cycleDue = true;
    agenda.add(Math.max(Math.ceil(agenda.now / cycle) * cycle, lastCycle + cycle), 3, runCycle);
  }
  function runCycle(): void {
    lastCycle = agenda.now;
    cycleDue = false;
    const { proposals } = plan(cluster.state, agenda.now * 1000, options.plan);
    for (const proposal of proposals) {
      if (proposal.kind === "allocation.assign") {
        if (!cluster.start(proposal)) continue;
        const attempt = cluster.attemptOf(proposal.allocation);
        agenda.add(agenda.now + cluster.remainingOf(proposal.allocation), 1, () => {
          if (!cluster.finish(proposal.allocation, attempt)) return;
          wake();
          retryLater(cluster.tenantOf(proposal.allocation));
        });
      } else if (proposal.kind === "allocation.preempt" && cluster.preempt(proposal)) wake();
    }
    samples.push(cluster.sample(agenda.now));
  }

  while (agenda.step((at) => cluster.setTime(at)));
  samples.push(cluster.sample(agenda.now));
  return { samples, jobs: cluster.outcomes(), preemptions: cluster.preemptions, leftOut };
}

/** Refusals in a row after which the users of a tenant stop trying until more ends. */
const PATIENCE = 20;

/** What happens when; at one time first quotas (0), then ends (1), submissions (2), cycles (3). */
class Agenda {
  now = 0;
  readonly #heap: { at: number; order: number; seq: number; work: () => void }[] = [];
  #seq = 0;

  add(at: number, order: number, work: () => void): void {
    const heap = this.#heap;
    let i = heap.push({ at, order, seq: this.#seq++, work }) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!this.#before(i, parent)) break;
      this.#swap(i, parent);
      i = parent;
    }
  }

  /** Does the next thing; false when nothing is left. */
  step(arrive: (at: number) => void): boolean {
    const heap = this.#heap;
    const [next] = heap;
    const last = heap.pop();
    if (next === undefined || last === undefined) return false;
    if (heap.length > 0) {
      heap[0] = last;
      for (let i = 0; ; ) {
        let least = i;
        for (const child of [2 * i + 1, 2 * i + 2]) if (child < heap.length && this.#before(child, least)) least = child;
        if (least === i) break;
        this.#swap(i, least);
        i = least;
      }
    }
    this.now = next.at;
    arrive(next.at);
    next.work();
    return true;
  }

  #before(a: number, b: number): boolean {
    const [x, y] = [this.#heap[a], this.#heap[b]];
    if (x === undefined || y === undefined) return false;
    return x.at !== y.at ? x.at < y.at : x.order !== y.order ? x.order < y.order : x.seq < y.seq;
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    [heap[a], heap[b]] = [heap[b] as (typeof heap)[0], heap[a] as (typeof heap)[0]];
  }
}

interface Running {
  readonly job: Job;
  start: number | null;
  end: number | null;
  refusals: number;
  /** What the last refusal said. */
  refusal: string;
  preemptions: number;
  lost: number;
  /** Seconds of work left, and since when it runs. */
  left: number;
  since: number;
  attempt: number;
}

/** The quota state and what the simulation knows beside it. */
class Cluster {
  state: QuotaState = emptyState();
  preemptions = 0;
  readonly #nodes: number;
  readonly #jobs = new Map<string, Running>();
  #at = 0;
  #ids = 0;

  constructor({ nodes, jobs, quotas }: Workload) {
    this.#nodes = nodes;
    const limits = new Map(quotas.filter(({ at }) => at === 0).map(({ tenant, settings }) => [tenant, settings]));
    const tenants = new Set([...quotas.map(({ tenant }) => tenant), ...jobs.map(({ tenant }) => tenant)]);
    for (const tenant of [...tenants].sort())
      this.#send({
        kind: "tenant.create",
        tenant,
        settings: { maxNodes: Number.MAX_SAFE_INTEGER, fairShareTarget: 1 / tenants.size, ...limits.get(tenant) },
      });
    for (let i = 0; i < nodes; i++)
      this.#send({
        kind: "node.register",
        node: `n${String(i).padStart(7, "0")}`,
        agent: null,
        inventory: {
          group: `g${i >> 5}`,
          gpuType: null,
          gpuCount: 0,
          cpuCores: 1,
          memoryGb: 1,
          agentAddress: null,
          conformance: null,
          energyPrice: null,
          datasets: [],
        },
      });
    for (const job of jobs)
      this.#jobs.set(job.id, {
        job,
        start: null,
        end: null,
        refusals: 0,
        refusal: "",
        preemptions: 0,
        lost: 0,
        left: job.runtime,
        since: 0,
        attempt: 0,
      });
  }

  setTime(at: number): void {
    this.#at = at;
  }

  setQuota(tenant: string, settings: Workload["quotas"][number]["settings"]): void {
    if (Object.keys(settings).length > 0) this.#send({ kind: "tenant.update", tenant, settings });
  }

  /** `later`: a quota refused it, and it can fit some time. */
  submit(job: Job): "taken" | "later" | "never" {
    const outcome = this.#try({ kind: "allocation.submit", allocation: job.id, request: requestOf(job) });
    if (outcome.ok) return "taken";
    const known = this.#jobs.get(job.id);
    if (known !== undefined) {
      known.refusals++;
      known.refusal = outcome.message;
    }
    return outcome.details["retriable"] === true ? "later" : "never";
  }

  start(proposal: object & { readonly allocation: string }): boolean {
    if (!this.#try(proposal as never).ok) return false;
    const job = this.#of(proposal.allocation);
    job.start ??= this.#at;
    job.since = this.#at;
    job.attempt++;
    return true;
  }

  attemptOf(id: string): number {
    return this.#of(id).attempt;
  }

  tenantOf(id: string): string {
    return this.#of(id).job.tenant;
  }

  remainingOf(id: string): number {
    return this.#of(id).left;
  }

  finish(id: string, attempt: number): boolean {
    const job = this.#of(id);
    if (job.attempt !== attempt || this.state.allocations.get(id)?.state !== "running") return false;
    job.end = this.#at;
    this.#send({ kind: "allocation.move", allocation: id, to: "completed" });
    return true;
  }

  preempt(proposal: object & { readonly victims: readonly { readonly allocation: string }[] }): boolean {
    if (!this.#try(proposal as never).ok) return false;
    for (const { allocation } of proposal.victims) {
      const job = this.#of(allocation);
      const done = Math.min(job.left, this.#at - job.since);
      job.attempt++;
      job.preemptions++;
      this.preemptions++;
      if (this.state.allocations.get(allocation)?.state === "checkpointing") {
        job.left -= done;
        this.#send({ kind: "allocation.move", allocation, to: "suspended" });
      } else job.lost += done;
    }
    return true;
  }

  sample(at: number): Sample {
    const shares: Record<string, number> = {};
    let busy = 0;
    for (const { id } of this.state.tenants.values()) {
      const { nodes } = holdingOf(this.state, id);
      shares[id] = nodes / this.#nodes;
      busy += nodes;
    }
    let waiting = 0;
    for (const id of this.state.live.keys()) if (this.state.allocations.get(id)?.state === "pending") waiting++;
    return { at, utilisation: busy / this.#nodes, shares, waiting };
  }

  outcomes(): readonly JobOutcome[] {
    return [...this.#jobs.values()].map(({ job: { id, tenant, submit }, start, end, refusals, refusal, preemptions, lost }) => ({
      id,
      tenant,
      submit,
      start,
      end,
      refusals,
      preemptions,
      lost,
      unfinished: end === null ? (this.#why(id) ?? refusal) : null,
    }));
  }

  /** Why work that came in did not end; undefined where it never came in. */
  #why(id: string): string | undefined {
    const allocation = this.state.allocations.get(id);
    if (allocation === undefined) return undefined;
    return allocation.statusReason ?? allocation.state;
  }

  #of(id: string): Running {
    return this.#jobs.get(id) as Running;
  }

  #try(command: Draft): ReturnType<typeof apply> {
    const outcome = apply(this.state, { ...command, id: `s${this.#ids++}`, by: "simulation" } as Command, this.#at * 1000);
    if (outcome.ok) this.state = outcome.state;
    return outcome;
  }

  #send(command: Draft): void {
    const outcome = this.#try(command);
    if (!outcome.ok) throw new Error(outcome.message);
  }
}

type Draft = Command extends infer C ? (C extends Command ? Omit<C, "id" | "by"> : never) : never;

function requestOf(job: Job): AllocationRequest {
  return {
    tenant: job.tenant,
    user: job.user,
    project: null,
    vcluster: "default",
    entrypoint: "",
    nodes: job.nodes,
    minNodes: job.nodes,
    walltimeHours: Math.max(job.walltime, 1) / 3600,
    lifecycle: "bounded",
    requeuePolicy: job.requeue ?? "never",
    maxRequeue: 100,
    image: null,
    sensitive: false,
    priorityClass: job.priority,
    checkpoint: job.checkpoint ?? "none",
    gpuType: null,
    gpusPerNode: null,
    datasets: [],
    labels: {},
  };
}
