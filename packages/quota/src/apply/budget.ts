import type { JsonObject } from "@seneschal/kernel";
import type { RecordCrossings, RecordDelivery, RecordExternal } from "../command.ts";
import { reject } from "../errors.ts";
import type { BudgetLevel } from "../state/state.ts";
import { type Handled, record, type Work } from "./work.ts";

/** The key of a crossing mark. */
export function markKey(tenant: string, metric: string): string {
  return `${tenant}\u0000${metric}`;
}

const RANK: Readonly<Record<BudgetLevel, number>> = { none: 0, warning: 1, exhausted: 2 };

/**
 * Records at which level each budget metric stands. An upward crossing is told once, because the mark that it leaves is
 * part of the replicated state; a fall re-arms it.
 */
export function recordCrossings(work: Work, command: RecordCrossings): Handled {
  let changed = 0;
  for (const crossing of command.crossings) {
    const { tenant, metric, level } = crossing;
    const key = markKey(tenant, metric);
    const before = work.draft.budgetMarks.get(key) ?? "none";
    if (before === level || !work.draft.tenants.has(tenant)) continue;
    changed++;
    work.draft.budgetMarks = level === "none" ? work.draft.budgetMarks.delete(key) : work.draft.budgetMarks.set(key, level);
    if (RANK[level] <= RANK[before]) continue;
    const type = level === "exhausted" ? "budget_exhausted" : "budget_warning";
    const payload: JsonObject = {
      event: type,
      id: `${type}:${tenant}:${metric}:${work.draft.nextEvent}`,
      tenant,
      metric,
      used: crossing.used,
      budget: crossing.budget,
      fraction: crossing.fraction,
      period_start: crossing.periodStart,
      period_end: crossing.periodEnd,
      source: crossing.source,
      timestamp: work.at,
    };
    record(work, type, tenant, payload);
  }
  return changed === 0 ? reject("stale_state", "no budget level changed") : { ok: true, result: { changed } };
}

/** Stores what the accounting system said, so that every replica scores by the same numbers. A change of source is told once. */
export function recordExternal(work: Work, command: RecordExternal): Handled {
  let changed = 0;
  for (const { tenant, remaining } of command.answers) {
    if (!work.draft.tenants.has(tenant)) continue;
    const before = work.draft.external.get(tenant);
    if (before === undefined && remaining === null) continue;
    changed++;
    work.draft.external =
      remaining === null ? work.draft.external.delete(tenant) : work.draft.external.set(tenant, { ...remaining, at: work.at });
    if ((before === undefined) !== (remaining === null))
      record(work, "accounting.source_changed", tenant, { tenant, source: remaining === null ? "ledger" : "external" });
  }
  return changed === 0 ? reject("stale_state", "no answer changed") : { ok: true, result: { changed } };
}

/** The mark only moves forward; a second sender that delivered the same is told so. */
export function recordDelivery(work: Work, { through }: RecordDelivery): Handled {
  if (!Number.isSafeInteger(through) || through >= work.draft.nextEvent)
    return reject("invalid_argument", "through must be the sequence of an event", { field: "through" });
  if (through <= work.draft.delivered) return reject("stale_state", "delivered before");
  work.draft.delivered = through;
  return { ok: true, result: { delivered: through } };
}
