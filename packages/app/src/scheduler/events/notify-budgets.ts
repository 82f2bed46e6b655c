import { isCoded } from "@seneschal/kernel";
import type { Notifier } from "@seneschal/kernel/ports";
import type { Quotas } from "../quotas.ts";
import { payloadView } from "../views/event.ts";

/** What tenants' administrators are notified of. */
const NOTIFIED: readonly string[] = ["budget_exhausted", "budget_warning"];

export interface BudgetNotifications {
  /** Delivers what was not delivered yet, in order, and stops at the first failure. */
  deliver(): Promise<void>;
}

/**
 * Budget events to the webhook. How far delivery has come is part of the replicated state: after a restart or under another
 * leader it goes on where it was. A message whose acknowledgement was lost is sent again under the same id.
 */
export function budgetNotifications(
  quotas: Quotas,
  notifier: Notifier,
  newId: () => string,
  told: (result: "delivered" | "failed") => void,
): BudgetNotifications {
  return {
    async deliver() {
      const { events, delivered } = quotas.state();
      for (const event of events.values()) {
        if (event.seq <= delivered || !NOTIFIED.includes(event.type)) continue;
        try {
          await notifier.notify({
            id: String(event.payload["id"]),
            type: event.type,
            at: event.at,
            payload: payloadView(event.payload),
          });
        } catch (error) {
          told("failed");
          if (isCoded(error, "notify_failed")) return; // the next turn tries again, in order
          throw error;
        }
        told("delivered");
        await quotas.proposeAll([{ kind: "event.delivered", id: newId(), by: "system", through: event.seq }]);
      }
    },
  };
}
