import type { FileThreads } from "@seneschal/adapters/file-threads";
import type { Logger } from "@seneschal/adapters/logging";
import type { Metrics } from "@seneschal/adapters/metrics";
import type { ColumnClassifier, Redactor, SqlEnforcer, SqlReader, TaskClassifier, TierPolicy } from "@seneschal/governance";
import type { Clock, CompiledPolicy, DocumentStore, Random } from "@seneschal/kernel/ports";
import type { Health } from "../platform/index.ts";
import type { AuditLog } from "./audit/audit-log.ts";
import type { Persons } from "./audit/persons.ts";
import type { Catalogues } from "./catalogues.ts";
import type { GovernanceConfig } from "./settings.ts";
import type { Scans } from "./sources/types.ts";

/** What the handlers of data governance work with. */
export interface GovernanceServices {
  readonly config: GovernanceConfig;
  readonly store: DocumentStore;
  readonly catalogues: Catalogues;
  /** Whatever reads texts or SQL: no handler has a parser, as the thread that serves would wait for it. */
  readonly classifier: TaskClassifier & ColumnClassifier & SqlReader & SqlEnforcer & Redactor;
  readonly files: Pick<FileThreads, "classify" | "redact" | "restore">;
  readonly scans: Scans;
  /** The redaction key of an organisation. */
  readonly redactionKey: (org: string) => Promise<Uint8Array>;
  readonly tiers: TierPolicy;
  readonly policy: CompiledPolicy;
  /** SHA-256 of the policy sources, first twelve hex digits. */
  readonly policyRevision: string;
  readonly audit: AuditLog;
  readonly persons: Persons;
  /** Until when every sink that tells decisions has heard all of them; without such sinks none is kept. */
  readonly decisionsTold: () => number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: Metrics;
  readonly log: Pick<Logger, "warn">;
  readonly version: string;
  readonly health: () => Promise<Health>;
}
