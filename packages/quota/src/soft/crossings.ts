import { checkArgument } from "@seneschal/kernel";
import { markKey } from "../apply/budget.ts";
import type { Crossing } from "../command.ts";
import type { BudgetLevel, QuotaState } from "../state/state.ts";
import { type BudgetMetric, budgetStatus } from "./ledger.ts";

/** From here on a budget is nearly used up. */
const WARNING_FRACTION = 0.8;

/** The budget metrics that stand at another level than the state has recorded: what the next `budget.record` must carry. */
export function budgetCrossings(state: QuotaState, now: number): readonly Crossing[] {
  checkArgument("state", state, "object");
  checkArgument("now", now, "number");
  const crossings: Crossing[] = [];
  for (const tenant of state.tenants.values()) {
    const marked = (metric: string): BudgetLevel => state.budgetMarks.get(markKey(tenant.id, metric)) ?? "none";
    const budgeted = tenant.gpuHoursBudget !== null || tenant.nodeHoursBudget !== null;
    if (!budgeted && marked("gpu_hours") === "none" && marked("node_hours") === "none") continue;
    const status = budgetStatus(state, tenant, now);
    for (const [metric, at] of [
      ["gpu_hours", status.gpu],
      ["node_hours", status.node],
    ] as const) {
      const level = levelOf(at);
      if (level === marked(metric)) continue;
      crossings.push({
        tenant: tenant.id,
        metric,
        level,
        used: at.used,
        budget: at.budget ?? 0,
        fraction: at.fraction ?? 0,
        periodStart: status.from,
        periodEnd: status.to,
        source: status.source,
      });
    }
  }
  return crossings;
}

function levelOf({ fraction }: BudgetMetric): BudgetLevel {
  if (fraction === null || fraction < WARNING_FRACTION) return "none";
  return fraction < 1 ? "warning" : "exhausted";
}
