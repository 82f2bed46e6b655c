import { join } from "node:path";
import { openMemoryStore } from "@seneschal/adapters/memory";
import type { JsonObject } from "@seneschal/kernel";
import type { AuditEntry, DocumentStore } from "@seneschal/kernel/ports";
import { openDatabase } from "../../compose/open-database.ts";
import {
  type AuditSource,
  auditSinkCollections,
  type BuiltService,
  openAuditSinks,
  type Platform,
} from "../../platform/index.ts";
import type { Quotas } from "../quotas.ts";
import type { SchedulerConfig } from "../settings.ts";
import { iso } from "../views/iso.ts";
import type { AuditArchive } from "./open-audit-archive.ts";

interface Told {
  readonly config: SchedulerConfig;
  readonly platform: Platform;
  readonly instance: string;
  readonly quotas: Quotas;
  readonly archive: AuditArchive;
}

/**
 * The scheduler with the sinks of its audit chain. How far each was told is this process's own, beside its keys: every process of a log that has
 * sinks tells them the whole chain, so that none depends on another.
 */
export async function toldToSinks(
  built: BuiltService,
  { config, platform, instance, quotas, archive }: Told,
): Promise<BuiltService> {
  const { audit_sinks: settings, storage } = config;
  const schema = { collections: auditSinkCollections };
  let opened: DocumentStore | undefined;
  /** With the first sink: a process that has none keeps nothing, and may share its directory with others. */
  const store = async (): Promise<DocumentStore> => {
    opened ??=
      storage.kind === "memory" || storage.path === undefined
        ? openMemoryStore(schema)
        : await openDatabase({ kind: "level", path: join(storage.path, "audit-sinks") }, schema, storage.path);
    return opened;
  };
  try {
    const source = sourceOf(quotas, archive);
    const sinks = await openAuditSinks({ settings, store, platform, service: "scheduler", instance, describe, source });
    return sinks.around({
      ...built,
      async stop() {
        await built.stop?.();
        await opened?.close();
      },
    });
  } catch (error) {
    await opened?.close();
    await built.stop?.();
    throw error;
  }
}

/** The chain as this process has applied it, which holds what a quorum has; what left the state is read from the log's archive. */
function sourceOf(quotas: Quotas, archive: AuditArchive): AuditSource {
  const newest = (): number => quotas.state().nextAudit - 1;
  return {
    newest: async () => newest(),
    async read(after, limit) {
      const state = quotas.state();
      const through = Math.min(after + limit, state.nextAudit - 1);
      if (through <= after) return [];
      const records = await archive.newest(state, state.nextAudit - 1 - through, through - after);
      return [...records].reverse().map(
        (record): AuditEntry => ({
          seq: record.seq,
          stream: "scheduler",
          streamSeq: record.seq,
          event: record as unknown as JsonObject,
        }),
      );
    },
  };
}

/** The chain holds what was done; what was refused is not in it. */
function describe({ seq, event }: AuditEntry) {
  const { at, action, user } = event as { readonly at: number; readonly action: string; readonly user: string };
  return { id: String(seq), time: iso(at), type: action, actor: user, outcome: "success" as const };
}
