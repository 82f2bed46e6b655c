/** Allocation states, lower case on the wire. */
export const ALLOCATION_STATES = [
  "pending",
  "staging",
  "running",
  "checkpointing",
  "suspended",
  "completed",
  "failed",
  "cancelled",
] as const;
export type AllocationState = (typeof ALLOCATION_STATES)[number];

/** The one transition table; every path uses it (quota brief, section 2). */
export const TRANSITIONS: Readonly<Record<AllocationState, readonly AllocationState[]>> = {
  pending: ["staging", "running", "cancelled", "failed"],
  staging: ["running", "failed", "cancelled"],
  running: ["checkpointing", "completed", "failed", "cancelled"],
  checkpointing: ["suspended", "completed", "failed", "cancelled"],
  suspended: ["pending", "cancelled", "failed"],
  failed: ["pending"],
  completed: [],
  cancelled: [],
};

export function canMove(from: AllocationState, to: AllocationState): boolean {
  return TRANSITIONS[from].includes(to);
}

/** Holds nodes: counted by max_nodes. */
export function holdsNodes(state: AllocationState): boolean {
  return state === "staging" || state === "running" || state === "checkpointing";
}

/** Committed and not terminal: counted by max_concurrent_allocations. */
export function isActive(state: AllocationState): boolean {
  return holdsNodes(state) || state === "suspended";
}

export function isTerminal(state: AllocationState): boolean {
  return state === "completed" || state === "failed" || state === "cancelled";
}

/** What a user asks for. */
export interface AllocationRequest {
  readonly tenant: string;
  /** The authenticated submitter. */
  readonly user: string;
  readonly project: string | null;
  readonly vcluster: string;
  readonly entrypoint: string;
  /** The upper end of the range; quotas are judged by it at submission. */
  readonly nodes: number;
  /** The lower end: the scheduler may start with as few. */
  readonly minNodes: number;
  readonly walltimeHours: number;
  readonly lifecycle: "bounded" | "unbounded" | "reactive";
  readonly requeuePolicy: "never" | "on_node_failure" | "always";
  /** 0..100. */
  readonly maxRequeue: number;
  readonly image: string | null;
  readonly sensitive: boolean;
  /** 0..10; 10 is never preempted. */
  readonly priorityClass: number;
  readonly checkpoint: "auto" | "manual" | "none";
  /** Only nodes of this flavour will do; null takes any. */
  readonly gpuType: string | null;
  readonly gpusPerNode: number | null;
  /** Names of the data sets that it reads, in order, each once. */
  readonly datasets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** One stretch of holding nodes. A requeue or suspend closes it and the next assignment opens another: no hours vanish. */
export interface Attempt {
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly nodes: number;
  readonly gpus: number;
}

/** An allocation as the state machine keeps it. */
export interface Allocation extends AllocationRequest {
  readonly id: string;
  readonly state: AllocationState;
  /** The nodes that it asks for now: those of the request, but for reactive work, which begins with minNodes and is scaled. */
  readonly desiredNodes: number;
  /** Its nodes are wiped when it has let go of them. */
  readonly wipes: boolean;
  /** Why it waits or how it ended; null when there is nothing to say. */
  readonly statusReason: string | null;
  /** Node ids held now; empty unless it holds nodes in its state. */
  readonly assigned: readonly string[];
  /** The places of these nodes among the owners. Derived; never encoded. */
  readonly places: readonly number[];
  /** GPU count of each held node as it was at the assignment; null is unknown. */
  readonly perNodeGpus: readonly (number | null)[];
  /** GPUs held by flavour, as counted against max_gpus; an unknown count is 1. */
  readonly gpusByType: Readonly<Record<string, number>>;
  readonly createdAt: number;
  /** Of the newest attempt. */
  readonly startedAt: number | null;
  readonly completedAt: number | null;
  readonly exitCode: number | null;
  readonly requeues: number;
  readonly attempts: readonly Attempt[];
  /** When the present state was entered. */
  readonly since: number;
  /** It gives way to this allocation while it is checkpointing. */
  readonly preemptedFor: string | null;
  /** The nodes that it held last, and their GPUs, once it has let go of them: where ended work ran. */
  readonly lastAssigned: readonly string[];
  readonly lastPerNodeGpus: readonly (number | null)[];
  readonly version: number;
}

/** Sensitive work: hard quotas only, never a preemption victim. */
export function isSensitive(request: Pick<AllocationRequest, "sensitive" | "labels">): boolean {
  return request.sensitive || request.labels["sensitive"] === "true";
}

/** The GPUs of one node for the ledger: unknown counts as 1. */
export function countedGpus(gpuCount: number | null): number {
  return gpuCount ?? 1;
}
