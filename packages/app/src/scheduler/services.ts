import type { GuardedLog } from "@seneschal/adapters/log";
import type { Metrics } from "@seneschal/adapters/metrics";
import type { Proposed } from "@seneschal/kernel/log";
import type { Clock, Random } from "@seneschal/kernel/ports";
import type { Command, PlanOptions, Verdict } from "@seneschal/quota";
import type { Health } from "../platform/index.ts";
import type { AuditArchive } from "./audit/open-audit-archive.ts";
import type { Backups } from "./backups.ts";
import type { Cycle } from "./cycle/cycle.ts";
import type { Heartbeats } from "./cycle/heartbeats.ts";
import type { Feed } from "./events/feed.ts";
import type { Quotas } from "./quotas.ts";
import type { SchedulerConfig } from "./settings.ts";
import type { InstanceName } from "./storage/instance-name.ts";
import type { LogSpace } from "./storage/log-space.ts";

/** Lines that running work wrote. */
interface OutputLine {
  readonly at: number;
  readonly level: string;
  readonly message: string;
  readonly source: string;
}

/** Where the output of work can be read; the local runner is one. */
export interface Outputs {
  /** The newest lines, oldest first; absent when this process does not run it. */
  tail(allocation: string, lines: number): readonly OutputLine[] | undefined;
  follow(allocation: string, callback: (line: OutputLine) => void): () => void;
}

/** Signs the head of the audit chain. */
export interface AuditSigner {
  readonly publicKey: string;
  sign(text: string): string;
  /** The key as C2SP signed-note writes it. */
  readonly verifierKey: string;
  /** The chain of `size` entries whose newest hash (hex) is `head`, as a signed note. */
  note(size: number, head: string): Promise<string>;
}

/** Everything that the scheduler's handlers are given. */
export interface SchedulerServices {
  readonly version: string;
  readonly config: SchedulerConfig;
  readonly quotas: Quotas;
  readonly log: GuardedLog;
  readonly space: LogSpace;
  /** Proposes in this process, whoever sequences: for what other processes forward. */
  readonly proposeHere: (commands: readonly Command[]) => Promise<readonly Proposed<Verdict>[]>;
  /** The process that sequences, where several do. */
  readonly holder: () => { readonly id: string; readonly term: number } | undefined;
  /** How far this process has applied the log. */
  readonly applied: () => number;
  readonly cycle: Cycle;
  readonly planOptions: PlanOptions;
  readonly heartbeats: Heartbeats;
  readonly feed: Feed;
  readonly name: InstanceName;
  readonly outputs: Outputs | undefined;
  readonly backups: Backups | undefined;
  readonly signer: AuditSigner;
  readonly auditArchive: AuditArchive;
  readonly clock: Clock;
  /** Advances the clock; only with the test control. */
  readonly advance: ((ms: number) => void) | undefined;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly health: () => Promise<Health>;
  readonly nodeId: string;
}
