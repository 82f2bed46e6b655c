import type { UsageBuffer } from "@seneschal/adapters/accounting";
import type { Accounting } from "@seneschal/kernel/ports";
import { usageEvents } from "@seneschal/quota";
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
    const used = events.flatMap(usageEvents);
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
      const news = answers.filter(({ tenant, remaining }) => remaining !== null || state.external.has(tenant));
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
