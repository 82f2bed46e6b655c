import type { Handlers, Principal } from "@seneschal/contract";
import { requireMatch, versionTag, withHeaders } from "@seneschal/contract";
import type { SchedulerContract } from "@seneschal/contract/scheduler";
import { CodedError, isCoded } from "@seneschal/kernel";
import { type AuditRecord, type Command, type QuotaEvent, type QuotaState, reachesTenant, seesAll } from "@seneschal/quota";
import type { AuditArchive } from "../audit/open-audit-archive.ts";
import { forbidden } from "../auth/roles.ts";
import { eventStream } from "../events/stream.ts";
import { once } from "../keyed-work.ts";
import type { SchedulerServices } from "../services.ts";
import { stamp } from "../stamp.ts";
import { hashState } from "../storage/hash-state.ts";
import { asOf } from "../views/as-of.ts";
import { eventView } from "../views/event.ts";
import { iso, isoOrNull } from "../views/iso.ts";
import { json } from "../views/json.ts";

type SystemRoutes =
  | "healthz"
  | "health"
  | "ready"
  | "metrics"
  | "authDiscovery"
  | "raftStatus"
  | "getSystemQuotas"
  | "updateSystemQuotas"
  | "listEvents"
  | "watchEvents"
  | "listAudit"
  | "auditCheckpoint"
  | "runCycle"
  | "advanceClock"
  | "backup"
  | "verifyBackup"
  | "restoreBackup"
  | "forwardProposals";

export const systemHandlers: Pick<Handlers<SchedulerContract, SchedulerServices>, SystemRoutes> = {
  healthz: () => ({ status: "ok" }),

  async health({ health, version }) {
    const { status, ready, components } = await health();
    return withHeaders({}, { status, version, components: { ...components } }, ready ? 200 : 503);
  },

  async ready({ health }) {
    const { ready, components } = await health();
    const states = Object.fromEntries(Object.entries(components).map(([name, { status }]) => [name, status]));
    return withHeaders({}, { ready, components: states }, ready ? 200 : 503);
  },

  metrics: async ({ metrics }) => ({ mediaType: metrics.contentType, body: await metrics.text() }),

  authDiscovery({ config }) {
    const { jwt, oidc } = config.auth;
    return {
      issuer: oidc.issuer_url ?? jwt.issuer ?? "",
      audiences: [...jwt.audiences, ...(oidc.client_id === undefined ? [] : [oidc.client_id])],
      schemes: ["bearer"],
    };
  },

  async raftStatus({ log, quotas, nodeId, config, applied, holder }, { query }) {
    const status = await log.status();
    const sequencer = holder();
    const role = sequencer === undefined ? status.role : sequencer.id === nodeId ? ("leader" as const) : ("follower" as const);
    const leader = sequencer?.id ?? (status.role === "leader" ? nodeId : status.leaderId);
    return {
      node_id: nodeId,
      role,
      term: sequencer?.term ?? status.term,
      leader_id: leader,
      leader,
      members: [...status.members],
      commit_index: status.head.seq,
      last_applied: applied(),
      available: status.available,
      state: role,
      storage: config.storage.kind === "memory" ? ("memory only" as const) : ("durable" as const),
      state_hash: query.hash === true ? await hashState(quotas.state()) : null,
    };
  },

  async getSystemQuotas({ quotas }) {
    return systemView(await quotas.read());
  },

  async updateSystemQuotas({ quotas, random }, input) {
    const { reason, sensitive_pool_size: pool, budget_period_days: days } = input.body;
    const before = await quotas.read();
    const guarded = input.request.headers["if-match"] !== undefined;
    if (guarded) requireMatch(input.request.headers, versionTag(before.system.version));
    await quotas.propose({
      kind: "system.update",
      ...stamp(random, "updateSystemQuotas", { ...input, request: { ...input.request, headers: {} } }, reason),
      ...(pool === undefined ? {} : { sensitivePoolSize: pool }),
      ...(days === undefined ? {} : { budgetPeriodDays: days }),
      ...(guarded ? { ifVersion: before.system.version } : {}),
    });
    return systemView(quotas.state());
  },

  listEvents(services, { principal, query }) {
    const state = services.quotas.state();
    const sees = watcher(state, principal, query.tenant);
    const { since = 0, after = 0, type, limit } = query;
    const found = [];
    for (const event of state.events.values()) {
      if (event.seq <= after || event.at < since || (type !== undefined && event.type !== type) || !sees(event)) continue;
      found.push(eventView(event));
      if (found.length === limit) break;
    }
    return asOf(services, found);
  },

  watchEvents({ quotas, feed }, { principal, query, request }) {
    const sees = watcher(quotas.state(), principal, query.tenant);
    return eventStream((send, end) => {
      const stops = [
        feed.subscribe((event) => {
          if (sees(event) && (query.type === undefined || event.type === query.type)) send(eventView(event));
        }),
        feed.onClose(end),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    }, request);
  },

  async listAudit({ quotas, auditArchive }, { query }) {
    const { user_id: user, action, tenant_id: tenant, through, limit, offset } = query;
    const state = quotas.state();
    const newer = through === undefined ? 0 : Math.max(0, state.nextAudit - 1 - through);
    const wanted = (entry: AuditRecord): boolean =>
      (user === undefined || entry.user === user) &&
      (action === undefined || entry.action === action) &&
      (tenant === undefined || tenantOf(state, entry) === tenant);
    const all = user === undefined && action === undefined && tenant === undefined;
    const entries = all
      ? await auditArchive.newest(state, newer + offset, limit)
      : await matching(auditArchive, state, wanted, { newer, offset, limit });
    return entries.map((entry) => ({
      id: String(entry.seq),
      timestamp: iso(entry.at),
      action: entry.action,
      user_id: entry.user,
      resource_type: entry.resourceType,
      resource_id: entry.resourceId,
      details: json(entry.details),
      hash: entry.hash,
    }));
  },

  async auditCheckpoint({ quotas, signer }, { now }) {
    const { nextAudit, auditHead } = await quotas.read();
    const timestamp = iso(now);
    const signed = `seneschal-scheduler-audit\n${nextAudit - 1}\n${auditHead}\n${timestamp}\n`;
    const entries = nextAudit - 1;
    const noted = entries === 0 ? {} : { note: await signer.note(entries, auditHead), verifier_key: signer.verifierKey };
    return { entries, head: auditHead, timestamp, signature: signer.sign(signed), public_key: signer.publicKey, ...noted };
  },

  runCycle: (services, input) =>
    once(services, "runCycle", input, async () => {
      const { proposed, started, refused, waiting } = await services.cycle.run();
      return {
        proposed,
        started,
        refused,
        waiting: waiting.slice(0, 1000).map(({ allocation, code, text, details }) => ({
          allocation_id: allocation,
          code,
          reason: text,
          details: json(details),
        })),
      };
    }),

  advanceClock: (services, input) =>
    once(services, "advanceClock", input, async () => {
      const { advance, clock } = services;
      if (advance === undefined) throw forbidden("the test clock is switched off");
      advance(Math.round(input.body.advance_seconds * 1000));
      return { now: iso(clock.now()) };
    }),

  backup: (services, input) =>
    once(services, "backup", input, async () => {
      const { backups, quotas, auditArchive } = services;
      const into = withBackups(backups);
      const state = await quotas.read();
      const id = await into.write(state, auditArchive.pieces(state), input.now);
      return { success: true, message: "backup written", backup_id: id, timestamp: iso(input.now) };
    }),

  async verifyBackup({ backups }, { body, now }) {
    const from = withBackups(backups);
    const id = body.backup_id ?? (await from.newest());
    const good = await from
      .read(id)
      .then(() => true)
      .catch((error: unknown) => {
        if (isCoded(error, "snapshot_invalid")) return false;
        throw error;
      });
    const message = good ? "backup is intact" : "backup is damaged";
    return { success: good, message, backup_id: id, timestamp: iso(now) };
  },

  restoreBackup: (services, input) => once(services, "restoreBackup", input, () => restore(services, input)),

  async forwardProposals({ proposeHere }, { body }) {
    return { body: JSON.stringify({ answers: await proposeHere(body.commands as unknown as readonly Command[]) }) };
  },
};

/** Puts a backup in place of the present state, part by part. */
async function restore(
  { backups, quotas, auditArchive, random }: SchedulerServices,
  { body, principal, now }: Parameters<Handlers<SchedulerContract, SchedulerServices>["restoreBackup"]>[1],
) {
  const from = withBackups(backups);
  const id = body.backup_id ?? (await from.newest());
  const { state, text, hash, audit } = await from.read(id).catch((error: unknown) => {
    if (isCoded(error, "snapshot_invalid")) throw new CodedError("invalid_argument", error.message, { field: "backup_id" });
    throw error;
  });
  const present = await quotas.read();
  const chainless = present.nextAudit === 1;
  if (!chainless && !(await holds(auditArchive, present, state))) throw otherChain();
  const history = chainless && audit !== undefined;
  const nonce = Buffer.from(random(8)).toString("hex");
  const parts = Math.max(1, Math.ceil(text.length / PART));
  for (let part = 0; part < parts; part++)
    await quotas.propose({
      kind: "state.restore",
      id: `restore:${nonce}:${part}`,
      by: principal.id,
      backup: hash,
      part,
      parts,
      text: text.slice(part * PART, (part + 1) * PART),
      ...(history ? { history } : {}),
    });
  // Behind the state: who was interrupted here restores again, and what is missing is archived then.
  if (audit !== undefined) await auditArchive.adopt(audit, await quotas.read());
  const message =
    chainless && !history ? "backup restored; its audit chain was not saved whole and begins anew" : "backup restored";
  return { success: true, message, backup_id: id, timestamp: iso(now) };
}

/** The tenant that an entry is about: the one that was changed, or whose claim or work it was. */
function tenantOf(state: QuotaState, { resourceType, resourceId, details }: AuditRecord): string | undefined {
  if (resourceType === "tenant") return resourceId;
  if (resourceType === "allocation") return state.allocations.get(resourceId)?.tenant;
  return typeof details["tenant"] === "string" ? details["tenant"] : undefined;
}

/** Entries that are looked through at once. */
const AUDIT_PAGE = 1024;

/** Those of the chain that are wanted, newest first, page by page. */
async function matching(
  archive: AuditArchive,
  state: QuotaState,
  wanted: (entry: AuditRecord) => boolean,
  { newer, offset, limit }: { readonly newer: number; readonly offset: number; readonly limit: number },
): Promise<readonly AuditRecord[]> {
  const found: AuditRecord[] = [];
  for (let at = newer; found.length < offset + limit; at += AUDIT_PAGE) {
    const page = await archive.newest(state, at, AUDIT_PAGE);
    found.push(...page.filter(wanted));
    if (page.length < AUDIT_PAGE) break;
  }
  return found.slice(offset, offset + limit);
}

/** Characters of a backup per command: with escapes well below what a command may take. */
const PART = 100_000;

/** Whether the audit chain of this log has that of a backup in it. */
async function holds(archive: AuditArchive, present: QuotaState, saved: QuotaState): Promise<boolean> {
  if (saved.nextAudit === 1) return true;
  if (present.nextAudit < saved.nextAudit) return false;
  const [entry] = await archive.newest(present, present.nextAudit - saved.nextAudit, 1);
  return entry?.hash === saved.auditHead;
}

function otherChain(): CodedError {
  const message = "the audit chain of this log is not the backup's, and one would be lost: restore into an empty log";
  return new CodedError("ownership_conflict", message, { reason: "audit_chain" });
}

/** Which events a caller may see: its tenants', and those of no tenant for who sees all. */
function watcher(state: QuotaState, principal: Principal, tenant: string | undefined): (event: QuotaEvent) => boolean {
  if (tenant !== undefined && !reachesTenant(state, principal, tenant)) throw forbidden("the tenant is not yours");
  return (event) => {
    if (tenant !== undefined && event.tenant !== tenant) return false;
    return event.tenant === null ? seesAll(principal) : reachesTenant(state, principal, event.tenant);
  };
}

function systemView(state: QuotaState) {
  const { system, claimed } = state;
  return withHeaders(
    { etag: versionTag(system.version) },
    {
      sensitive_pool_size: system.sensitivePoolSize,
      sensitive_claimed: claimed,
      budget_period_days: system.budgetPeriodDays,
      version: system.version,
      updated_at: isoOrNull(system.updatedAt === 0 ? null : system.updatedAt),
      updated_by: system.updatedBy,
      update_reason: system.updateReason,
    },
  );
}

function withBackups(backups: SchedulerServices["backups"]): NonNullable<SchedulerServices["backups"]> {
  if (backups === undefined) throw new CodedError("not_implemented", "no backup directory is configured (storage.backups)");
  return backups;
}
