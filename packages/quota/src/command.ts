import type { JsonObject } from "@seneschal/kernel";
import type { AllocationRequest, AllocationState } from "./state/allocation.ts";
import type { NodeInventory } from "./state/node.ts";
import type { TenantSettings } from "./state/tenant.ts";

/** What every command carries. Everything that varies is in it: `apply` reads no clock and draws no random number. */
interface Envelope {
  /** Unique per logical command: a repeat is answered, not applied twice. */
  readonly id: string;
  /** Hash of the request behind it, when the id was chosen by a caller: another digest under the same id is refused. */
  readonly digest?: string;
  /** When it was asked for, milliseconds: refused where receipts of that time are gone, as it may have been answered. */
  readonly asked?: number;
  /** The principal that asked; `system` is the scheduler itself. */
  readonly by: string;
  /** The reason that was given. */
  readonly why?: string;
}

export interface CreateTenant extends Envelope {
  readonly kind: "tenant.create";
  readonly tenant: string;
  readonly parent?: string;
  readonly settings: Partial<TenantSettings>;
}

/** Sets the present fields and leaves the others alone. */
export interface UpdateTenant extends Envelope {
  readonly kind: "tenant.update";
  readonly tenant: string;
  readonly settings: Partial<TenantSettings>;
  /** Refuse unless this is the tenant's version. */
  readonly ifVersion?: number;
}

/** Ends a tenant that has no work, no claims and no children: its quotas are free, its usage and the records of its ended work go with it. */
export interface DeleteTenant extends Envelope {
  readonly kind: "tenant.delete";
  readonly tenant: string;
  /** Refuse unless this is the tenant's version. */
  readonly ifVersion?: number;
}

export interface UpdateSystem extends Envelope {
  readonly kind: "system.update";
  readonly sensitivePoolSize?: number;
  readonly budgetPeriodDays?: number;
  readonly ifVersion?: number;
}

export interface RegisterNode extends Envelope {
  readonly kind: "node.register";
  readonly node: string;
  readonly inventory: NodeInventory;
  readonly agent: string | null;
}

/** Operator verbs on a node. `fail` also ends the allocation on it; `wiped` makes a released sensitive node ready again. */
export interface OperateNode extends Envelope {
  readonly kind: "node.operate";
  readonly node: string;
  readonly verb: "drain" | "undrain" | "enable" | "disable" | "fail" | "wiped";
}

/** The heartbeats that one process gathered since its last report: one entry for many nodes. */
export interface ReportHeartbeats extends Envelope {
  readonly kind: "node.heartbeats";
  /** Node id and time of its last heartbeat. */
  readonly beats: readonly (readonly [string, number])[];
}

export interface ClaimNode extends Envelope {
  readonly kind: "node.claim";
  readonly node: string;
  readonly tenant: string;
}

export interface ReleaseNode extends Envelope {
  readonly kind: "node.release";
  readonly node: string;
  /** A system administrator may release what another claimed. */
  readonly asAdmin: boolean;
  /** No way leads past the wiping. Absent in commands of release 0.1, where a drained or dead node came back without it. */
  readonly wipe?: boolean;
}

export interface SubmitAllocation extends Envelope {
  readonly kind: "allocation.submit";
  readonly allocation: string;
  readonly request: AllocationRequest;
  /** Create an unknown tenant with these settings (`scheduler.auto_create_tenants`). */
  readonly createTenant?: Partial<TenantSettings>;
}

/** Gives nodes to a pending allocation: owner, nodes, GPU counts, state and start in one command. */
export interface AssignAllocation extends Envelope {
  readonly kind: "allocation.assign";
  readonly allocation: string;
  readonly nodes: readonly string[];
  readonly to: "staging" | "running";
  /** Versions of the objects that the plan was made from; an absent one is not judged. */
  readonly expected: {
    readonly tenant?: number;
    readonly allocation?: number;
    readonly system?: number;
    readonly nodes?: readonly number[];
  };
  /** Work of a tenant with strict isolation: its nodes are wiped before anybody gets them. Absent in commands of release 0.1. */
  readonly wipe?: boolean;
}

/** Asks for another number of nodes for reactive work. What it holds beyond that is free at once, the nodes that it got last first. */
export interface ScaleAllocation extends Envelope {
  readonly kind: "allocation.scale";
  readonly allocation: string;
  /** minNodes to nodes of the request. */
  readonly nodes: number;
  readonly ifVersion?: number;
}

/** Gives further nodes to reactive work that runs on fewer than it asks for. */
export interface GrowAllocation extends Envelope {
  readonly kind: "allocation.grow";
  readonly allocation: string;
  /** Beside those that it holds. */
  readonly nodes: readonly string[];
  readonly expected: AssignAllocation["expected"];
}

/** Moves an allocation along the transition table. */
export interface MoveAllocation extends Envelope {
  readonly kind: "allocation.move";
  readonly allocation: string;
  readonly to: AllocationState;
  readonly exitCode?: number;
  readonly reason?: string;
  /** A failed allocation is requeued only if it has been requeued this many times. */
  readonly expectedRequeues?: number;
  readonly ifVersion?: number;
}

/** Writes down why allocations wait; sent only for reasons that changed. */
export interface SetReasons extends Envelope {
  readonly kind: "allocation.reasons";
  readonly reasons: readonly (readonly [string, string | null])[];
}

/** Makes running allocations give way to a pending one: all of them or none. */
export interface PreemptAllocations extends Envelope {
  readonly kind: "allocation.preempt";
  readonly victims: readonly { readonly allocation: string; readonly version: number }[];
  readonly for: string;
}

/** A budget metric that stands at another level than the one recorded. */
export interface Crossing {
  readonly tenant: string;
  readonly metric: "gpu_hours" | "node_hours";
  readonly level: "none" | "warning" | "exhausted";
  readonly used: number;
  readonly budget: number;
  readonly fraction: number;
  readonly periodStart: number;
  readonly periodEnd: number;
  readonly source: "external" | "ledger";
}

export interface RecordCrossings extends Envelope {
  readonly kind: "budget.record";
  readonly crossings: readonly Crossing[];
}

/** The accounting system's answers; null hands the tenant back to the ledger. */
export interface RecordExternal extends Envelope {
  readonly kind: "accounting.record";
  readonly answers: readonly {
    readonly tenant: string;
    readonly remaining: { readonly gpuHours: number | null; readonly nodeHours: number | null } | null;
  }[];
}

/** Notes that every event up to this one was delivered to who must be notified. */
export interface RecordDelivery extends Envelope {
  readonly kind: "event.delivered";
  readonly through: number;
}

/** Drops the records of allocations that ended before; their hours stay in the ledger. */
export interface PruneAllocations extends Envelope {
  readonly kind: "allocation.prune";
  readonly allocations: readonly string[];
}

/** Notes that audit entries up to this one are archived: they leave the state. */
export interface ArchiveAudit extends Envelope {
  readonly kind: "audit.archive";
  readonly through: number;
}

/** Keeps what a request that changes nothing of the quotas was answered: its receipt is all that it leaves. */
export interface KeepAnswer extends Envelope {
  readonly kind: "answer.keep";
  readonly answer: JsonObject;
}

/** Puts the state of a backup in place of the present one. It comes in parts, in order; the last one does it. */
export interface RestoreState extends Envelope {
  readonly kind: "state.restore";
  /** Hex SHA-256 of the whole text. */
  readonly backup: string;
  /** From 0. */
  readonly part: number;
  readonly parts: number;
  readonly text: string;
  /** Into a log that has audited nothing yet: the backup's audit chain goes on, and its events. */
  readonly history?: boolean;
}

/** Everything that can be asked of the quota state machine. */
export type Command =
  | CreateTenant
  | UpdateTenant
  | DeleteTenant
  | UpdateSystem
  | RegisterNode
  | OperateNode
  | ReportHeartbeats
  | ClaimNode
  | ReleaseNode
  | SubmitAllocation
  | AssignAllocation
  | ScaleAllocation
  | GrowAllocation
  | MoveAllocation
  | SetReasons
  | PreemptAllocations
  | RecordCrossings
  | RecordExternal
  | PruneAllocations
  | RecordDelivery
  | ArchiveAudit
  | KeepAnswer
  | RestoreState;

export type CommandKind = Command["kind"];

/** A command without what its sender adds. */
export type CommandDraft = Command extends infer C ? (C extends Command ? Omit<C, "id" | "by"> : never) : never;
