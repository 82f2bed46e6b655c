import type { AllocationRequest } from "../state/allocation.ts";
import type { TenantSettings } from "../state/tenant.ts";

/** One job of a workload. Times in seconds from the start of the trace. */
export interface Job {
  readonly id: string;
  readonly submit: number;
  /** How long it runs once it has its nodes. */
  readonly runtime: number;
  /** What it asked for; at least the runtime. */
  readonly walltime: number;
  readonly tenant: string;
  readonly user: string;
  readonly nodes: number;
  readonly priority: number;
  /** Whether it can write a checkpoint, and whether it comes back after a failure; as the server takes it: `none`, `never`. */
  readonly checkpoint?: AllocationRequest["checkpoint"];
  readonly requeue?: AllocationRequest["requeuePolicy"];
}

/** What a trace has and a simulation leaves out. */
export interface LeftOut {
  readonly id: string;
  readonly why: string;
}

/** A change of a tenant's quotas during the trace; at 0 and before any job it sets the tenant up. */
export interface QuotaChange {
  readonly at: number;
  readonly tenant: string;
  readonly settings: Partial<TenantSettings>;
}

/** What a simulation runs: a cluster, tenants and jobs in order of submission. */
export interface Workload {
  readonly nodes: number;
  readonly quotas: readonly QuotaChange[];
  readonly jobs: readonly Job[];
  /** Jobs of the trace that are not among these. */
  readonly leftOut?: readonly LeftOut[];
}
