import { checkArgument, type JsonObject } from "@seneschal/kernel";

/** Where a job stands. `succeeded`, `failed` and `cancelled` are for good. */
export type JobState = "queued" | "running" | "succeeded" | "failed" | "cancelled";

/** A long piece of work that survives a restart. Times are milliseconds since the epoch. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly state: JobState;
  /** 0..1 */
  readonly progress: number;
  readonly params: JsonObject;
  /** What the work noted to go on from after a restart. */
  readonly checkpoint: JsonObject | null;
  readonly result: JsonObject | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly created_by: string;
  /** Whose job it is: an organisation for the gateway. */
  readonly owner: string;
  readonly created_at: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  readonly cancel_requested: boolean;
  /** How often the work was begun since its last checkpoint. */
  readonly attempts: number;
}

/** The states in which nothing can change any more. */
export const overStates: readonly JobState[] = ["succeeded", "failed", "cancelled"];

/** Whether nothing can change a job any more. */
export function isOver(job: Job): boolean {
  checkArgument("job", job, "object");
  return overStates.includes(job.state);
}

/** A job as it begins. */
export function newJob(facts: Pick<Job, "id" | "kind" | "params" | "created_by" | "owner"> & { readonly now: number }): Job {
  checkArgument("facts", facts, "object");
  const { id, kind, params, created_by, owner, now } = facts;
  return {
    id,
    kind,
    state: "queued",
    progress: 0,
    params,
    checkpoint: null,
    result: null,
    error: null,
    created_by,
    owner,
    created_at: now,
    started_at: null,
    finished_at: null,
    cancel_requested: false,
    attempts: 0,
  };
}

/** What happens to a job: its work begins, gets on and ends; somebody asks it to end, and it does. */
export type JobEvent =
  | { readonly kind: "begin" }
  | { readonly kind: "progress"; readonly fraction: number; readonly checkpoint?: JsonObject }
  | { readonly kind: "succeed"; readonly result: JsonObject }
  | { readonly kind: "fail"; readonly code: string; readonly message: string }
  | { readonly kind: "request-cancel" }
  | { readonly kind: "cancelled" };

/**
 * The transition table. `undefined`: the event does not apply to the state. Progress never goes back.
 *
 * @example
 * ```ts
 * import { newJob, stepJob } from "@seneschal/core/jobs";
 * const queued = newJob({ id: "j1", kind: "scrub", params: {}, created_by: "ada", owner: "", now: 0 });
 * const running = stepJob(queued, { kind: "begin" }, 1000);
 * const half = running && stepJob(running, { kind: "progress", fraction: 0.5, checkpoint: { at: "k7" } }, 2000);
 * console.log(half?.state, half?.progress); // running 0.5
 * console.log(stepJob(queued, { kind: "succeed", result: {} }, 1000)); // undefined
 * ```
 */
export function stepJob(job: Job, event: JobEvent, now: number): Job | undefined {
  checkArgument("event", event, "object");
  checkArgument("now", now, "number");
  if (isOver(job)) return undefined;
  switch (event.kind) {
    case "begin":
      return { ...job, state: "running", started_at: job.started_at ?? now, attempts: job.attempts + 1 };
    case "progress": {
      if (job.state !== "running") return undefined;
      const progress = Math.min(1, Math.max(job.progress, event.fraction));
      // A checkpoint is headway: only attempts that got nowhere count against the job.
      if (event.checkpoint === undefined) return { ...job, progress };
      return { ...job, progress, checkpoint: event.checkpoint, attempts: 1 };
    }
    case "succeed":
      if (job.state !== "running") return undefined;
      return { ...job, state: "succeeded", progress: 1, result: event.result, finished_at: now };
    case "fail":
      if (job.state !== "running") return undefined;
      return { ...job, state: "failed", error: { code: event.code, message: event.message }, finished_at: now };
    case "request-cancel":
      if (job.state === "queued") return { ...job, state: "cancelled", cancel_requested: true, finished_at: now };
      return { ...job, cancel_requested: true };
    case "cancelled":
      if (job.state !== "running" || !job.cancel_requested) return undefined;
      return { ...job, state: "cancelled", finished_at: now };
  }
}
