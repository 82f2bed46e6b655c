import type { UsageBuffer } from "@seneschal/adapters/accounting";
import type { Accounting, UsageEvent } from "@seneschal/kernel/ports";
import type { QuotaEvent, QuotaState } from "@seneschal/quota";
import type { Quotas } from "../quotas.ts";

/** The two ways of the accounting system: what is left comes in, what was used goes out. */
export interface AccountingLink {
  /** Asks for every budgeted tenant and stores the answers in the replicated state; no answer hands it back to the ledger. */
  refresh(): Promise<void>;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Tenants that are asked about at once. */
const PARALLEL = 8;

/**
 * Links the quotas to an accounting system. Neither way is ever waited for by a submission or a cycle: the answers are part
 * of the replicated state, the usage goes through a buffer.
 */
export function accountingLink(
  quotas: Quotas,
  accounting: Accounting,
  buffer: UsageBuffer,
  newId: () => string,
  onError: (error: unknown) => void,
): AccountingLink {
  const stop = quotas.subscribe((events) => {
    const used = events.flatMap(usageOf);
    if (used.length > 0) buffer.add(used).catch(onError);
  });
  return {
    async refresh() {
      const state = quotas.state();
      const tenants = [...state.tenants.values()].filter((t) => t.gpuHoursBudget !== null || t.nodeHoursBudget !== null);
      const answers: { tenant: string; remaining: { gpuHours: number | null; nodeHours: number | null } | null }[] = [];
      for (let i = 0; i < tenants.length; i += PARALLEL)
        answers.push(
          ...(await Promise.all(
            tenants.slice(i, i + PARALLEL).map(async ({ id }) => ({ tenant: id, remaining: await ask(id) })),
          )),
        );
      const news = answers.filter(({ tenant, remaining }) => remaining !== null || isExternal(state, tenant));
      if (news.length > 0) await quotas.proposeAll([{ kind: "accounting.record", id: newId(), by: "system", answers: news }]);
    },
    flush: () => buffer.flush((events) => accounting.push(events)),
    async close() {
      stop();
      await buffer.close();
    },
  };

  async function ask(tenant: string) {
    try {
      const { gpuHours = null, nodeHours = null } = await accounting.remaining(tenant);
      return { gpuHours, nodeHours };
    } catch {
      return null; // the ledger is the fallback; the change of source is an event
    }
  }
}

function isExternal(state: QuotaState, tenant: string): boolean {
  return state.external.has(tenant);
}

/** What the accounting system hears: hours at the end of each stretch of work, and what was claimed or changed. */
function usageOf(event: QuotaEvent): readonly UsageEvent[] {
  const { type, tenant, at, payload } = event;
  const allocation = String(payload["allocation_id"] ?? payload["node"] ?? "");
  const base = { allocationId: allocation, tenantId: tenant ?? "", periodEnd: at };
  const started = payload["started_at"];
  const holds = (state: unknown): boolean => state === "staging" || state === "running" || state === "checkpointing";
  if (type.startsWith("allocation.") && typeof started === "number") {
    const hours = (at - started) / 3_600_000;
    const resized = type === "allocation.resized";
    if (resized && hours === 0) return [];
    if (!resized && !holds(payload["from"]) && holds(payload["to"]))
      return [
        { ...base, id: `${allocation}:started:${started}`, resourceType: "allocation.started", amount: 0, periodStart: at },
      ];
    if (!resized && (!holds(payload["from"]) || holds(payload["to"]))) return [];
    const amount = (count: unknown): number => hours * (typeof count === "number" ? count : 0);
    const name = payload["to"] === "suspended" ? "checkpointed" : "completed";
    const used: readonly UsageEvent[] = [
      {
        ...base,
        id: `${allocation}:${started}:node_hours`,
        resourceType: "node_hours",
        amount: amount(payload["nodes"]),
        periodStart: started,
      },
      {
        ...base,
        id: `${allocation}:${started}:gpu_hours`,
        resourceType: "gpu_hours",
        amount: amount(payload["gpus"]),
        periodStart: started,
      },
    ];
    const end = { ...base, id: `${allocation}:${name}:${started}`, resourceType: `allocation.${name}`, amount: 0 };
    return resized ? used : [...used, { ...end, periodStart: started }];
  }
  if (type === "node.claimed" || type === "node.released" || type === "quota.updated")
    return [{ ...base, id: `${type}:${event.seq}`, resourceType: type, amount: 0, periodStart: at }];
  return [];
}
