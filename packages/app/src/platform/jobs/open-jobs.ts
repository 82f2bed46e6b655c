import type { Logger } from "@seneschal/adapters/logging";
import { type Job, type JobEvent, type JobState, newJob, overStates, stepJob } from "@seneschal/core/jobs";
import { CodedError, checkOptions, isCoded, type JsonObject } from "@seneschal/kernel";
import type { AuditDraft, Clock, DocumentStore, Page, Put, Random, Stored } from "@seneschal/kernel/ports";
import type { Background } from "../background.ts";
import type { Stoppable } from "../repeat.ts";
import { Lease } from "./lease.ts";

/** What the work of a job is given. */
export interface JobContext {
  readonly job: Job;
  readonly params: JsonObject;
  /** What the last attempt noted; `null` at first. */
  readonly checkpoint: JsonObject | null;
  /** Aborted when the job is to be cancelled, the process stops, or another process took over. */
  readonly signal: AbortSignal;
  /** Notes how far the work is (0..1) and from where it can go on. Rejects when the signal is aborted. */
  progress(fraction: number, checkpoint?: JsonObject): Promise<void>;
}

/** Does the work of one kind of job. It may be begun again from its checkpoint after a crash: it must be repeatable. */
export type JobRunner = (context: JobContext) => Promise<JsonObject>;

export interface JobsOptions {
  readonly store: DocumentStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Where it is seen that jobs cannot be looked for. */
  readonly background: Background;
  readonly kinds: Readonly<Record<string, JobRunner>>;
  /** Audit events of a job's state change, written in the same commit. */
  readonly audit?: (job: Job) => readonly AuditDraft[];
  /** Jobs at the same time; default 4. */
  readonly concurrency?: number;
  /** Default 30,000. Another process takes over this long after the holder died. */
  readonly leaseMs?: number;
  /** Attempts without a new checkpoint before a job counts as failed; default 5. */
  readonly maxAttempts?: number;
}

export type JobRequest = Pick<Job, "kind" | "params" | "created_by" | "owner">;

/** Durable jobs of a service on its document store; see {@link openJobs}. */
export interface Jobs {
  submit(request: JobRequest): Promise<Job>;
  /** A new job as part of the caller's own commit. */
  draft(request: JobRequest): { readonly job: Job; readonly put: Put };
  get(id: string): Promise<Job | undefined>;
  /** Newest first. */
  list(filter: {
    readonly owner?: string;
    readonly state?: JobState;
    readonly limit: number;
    readonly offset?: number;
  }): Promise<readonly Job[]>;
  /** Asks a job to end. Throws `not_found`, or `conflict` when it is over. */
  cancel(id: string): Promise<Job>;
  /** Forgets jobs that ended before a time, a hundred of each outcome at most. */
  forget(before: number): Promise<void>;
  /** Begins to run jobs, also those that a dead process left. */
  start(): void;
  /** One round: takes or renews the lease, passes on cancel requests, begins what is queued. */
  tick(): Promise<void>;
  /** Ticks until nothing is queued or running here. */
  drain(): Promise<void>;
  /** Interrupts running work, which goes on after the next start, and gives the lease back. */
  stop(): Promise<void>;
}

/** So many jobs are looked at, and forgotten in one commit. */
const FORGOTTEN = 100;

/**
 * Runs long work as jobs that survive a restart: every change is a conditional commit, one process at a time holds the lease and
 * its writes carry the lease as a condition. The store must be opened with {@link jobCollections}.
 */
export function openJobs(options: JobsOptions): Jobs {
  checkOptions("options", options, {
    store: "object",
    clock: "object",
    random: "function",
    log: "object",
    background: "object",
    kinds: "object",
    audit: "function?",
    concurrency: "number?",
    leaseMs: "number?",
    maxAttempts: "number?",
  });
  const { store, clock, random, log, background, kinds, concurrency = 4, leaseMs = 30_000, maxAttempts = 5 } = options;
  const randomId = (): string => Buffer.from(random(16)).toString("hex");
  const lease = new Lease(store, "jobs", randomId(), leaseMs);
  const active = new Map<string, { readonly controller: AbortController; readonly done: Promise<void> }>();
  let stopping = false;
  let beat: Stoppable | undefined;
  let unsubscribe: (() => void) | undefined;
  let round: Promise<void> = Promise.resolve();

  /** Applies an event; `undefined` when it does not apply. Repeats when another writer came first. */
  async function apply(id: string, event: JobEvent, fenced: boolean): Promise<Job | undefined> {
    for (;;) {
      const stored = await store.get("jobs", id);
      if (stored === undefined) throw new CodedError("not_found", "no such job");
      const before = jobOf(stored);
      const after = stepJob(before, event, clock.now());
      if (after === undefined) return undefined;
      const check = lease.check();
      const changed = after.state !== before.state || after.cancel_requested !== before.cancel_requested;
      const result = await store.commit({
        commitId: randomId(),
        puts: [{ ...putOf(after), ifVersion: stored.version }],
        checks: fenced ? [check] : [],
        audit: changed ? (options.audit?.(after) ?? []) : [],
      });
      if (result.ok) return after;
      // A renewal in between moves the lease's version; only a lease that is not ours any more ends the work.
      const lost = result.failed.some(({ coll }) => coll === "leases") && check.version === lease.check().version;
      if (fenced && lost) throw new CodedError("job_interrupted", "another process took the job over");
    }
  }

  async function run(job: Job, controller: AbortController): Promise<void> {
    const begun = await apply(job.id, { kind: "begin" }, true);
    if (begun === undefined) return;
    const { signal } = controller;
    const context: JobContext = {
      job: begun,
      params: begun.params,
      checkpoint: begun.checkpoint,
      signal,
      async progress(fraction, checkpoint) {
        signal.throwIfAborted();
        const noted = await apply(job.id, { kind: "progress", fraction, ...(checkpoint && { checkpoint }) }, true);
        if (noted?.cancel_requested === true) controller.abort(new CodedError("job_cancelled", "the job was cancelled"));
        signal.throwIfAborted();
      },
    };
    try {
      const runner = kinds[job.kind];
      if (runner === undefined) throw new CodedError("job_unknown", "this version does not know the kind of job");
      if (begun.attempts > maxAttempts) throw new CodedError("job_abandoned", `given up after ${maxAttempts} attempts`);
      await apply(job.id, { kind: "succeed", result: await runner(context) }, true);
    } catch (error) {
      await settle(begun, signal, error);
    }
  }

  /** Ends a job whose work threw. What was interrupted stays `running` and is begun again. */
  async function settle(job: Job, signal: AbortSignal, error: unknown): Promise<void> {
    if (isCoded(error, "job_interrupted") || isCoded(signal.reason, "job_interrupted")) return;
    if (signal.aborted || isCoded(error, "job_cancelled")) {
      if ((await apply(job.id, { kind: "cancelled" }, true)) !== undefined) return;
    }
    log.error({ error, job: job.id, kind: job.kind }, "job failed");
    const coded = isCoded(error);
    await apply(
      job.id,
      { kind: "fail", code: coded ? error.code : "internal_error", message: coded ? error.message : "internal error" },
      true,
    );
  }

  function begin(job: Job): void {
    const controller = new AbortController();
    const done = run(job, controller)
      .catch((error: unknown) => log.error({ error, job: job.id }, "a job could not be recorded"))
      .finally(() => active.delete(job.id));
    active.set(job.id, { controller, done });
  }

  async function oneRound(): Promise<void> {
    if (stopping) return;
    if (!(await lease.hold(clock.now(), randomId()))) {
      for (const { controller } of active.values()) {
        controller.abort(new CodedError("job_interrupted", "another process holds the lease"));
      }
      return;
    }
    for (const stored of await store.getMany("jobs", [...active.keys()])) {
      if (stored?.doc["cancel_requested"] !== true) continue;
      active.get(stored.id)?.controller.abort(new CodedError("job_cancelled", "the job was cancelled"));
    }
    // What is `running` but not here was left by a process that died.
    for (const state of ["running", "queued"] as const) {
      const { items } = await store.list("jobs", "state", [state], { limit: concurrency * 2 });
      for (const item of items) if (active.size < concurrency && !active.has(item.id)) begin(jobOf(item));
    }
  }

  /** Rounds never overlap. */
  function tick(): Promise<void> {
    round = round.then(oneRound, oneRound);
    return round;
  }

  const wake = (): void => {
    void background.step("jobs", tick);
  };

  const draft = (request: JobRequest) => {
    const job = newJob({ ...request, id: randomId(), now: clock.now() });
    return { job, put: { ...putOf(job), ifVersion: 0 } };
  };

  return {
    draft,
    async submit(request) {
      const { job, put } = draft(request);
      const result = await store.commit({ commitId: randomId(), puts: [put], audit: options.audit?.(job) ?? [] });
      if (!result.ok) throw new Error("a fresh job id is taken");
      return job;
    },
    async get(id) {
      const stored = await store.get("jobs", id);
      return stored && jobOf(stored);
    },
    async list({ owner, state, limit, offset = 0 }) {
      const page = { limit, offset, reverse: true };
      if (owner === undefined) {
        const found =
          state === undefined ? await store.list("jobs", "created", [], page) : await store.list("jobs", "state", [state], page);
        return jobsOf(found);
      }
      if (state === undefined) return jobsOf(await store.list("jobs", "owner", [owner], page));
      return jobsOf(await store.list("jobs", "owner_state", [owner, state], page));
    },
    async cancel(id) {
      const job = await apply(id, { kind: "request-cancel" }, false);
      if (job === undefined) throw new CodedError("conflict", "the job is over");
      return job;
    },
    async forget(before) {
      for (const state of overStates) {
        // By when they were begun: no job ends before that. An index of their ends would keep older processes of the same database from writing.
        const { items } = await store.list("jobs", "state", [state], { to: [before], limit: FORGOTTEN });
        const ended = items.filter((item) => (jobOf(item).finished_at ?? Number.POSITIVE_INFINITY) < before);
        if (ended.length === 0) continue;
        // One that another process forgets at the same time is gone either way: the next call goes on.
        const dels = ended.map(({ id, version }) => ({ coll: "jobs", id, ifVersion: version }));
        await store.commit({ commitId: randomId(), dels });
      }
    },
    start() {
      beat ??= background.every("jobs", leaseMs / 3, tick);
      unsubscribe ??= store.subscribe(() => {
        // Progress of our own jobs wakes nobody.
        if (active.size < concurrency) wake();
      });
      wake();
    },
    tick,
    async drain() {
      for (;;) {
        await tick();
        if (active.size === 0) return;
        await Promise.race([...active.values()].map(({ done }) => done));
      }
    },
    async stop() {
      stopping = true;
      unsubscribe?.();
      await beat?.stop();
      await round.catch(() => {});
      for (const { controller } of active.values()) {
        controller.abort(new CodedError("job_interrupted", "the process stops"));
      }
      await Promise.all([...active.values()].map(({ done }) => done));
      await lease.release(randomId());
    },
  };
}

function jobsOf(page: Page): readonly Job[] {
  return page.items.map(jobOf);
}

function jobOf(stored: Stored): Job {
  return stored.doc as unknown as Job;
}

function putOf(job: Job): Put {
  return { coll: "jobs", id: job.id, doc: job as unknown as JsonObject };
}
