import { checkArgument } from "@seneschal/kernel";
import type { UsageEvent } from "@seneschal/kernel/ports";
import type { QuotaEvent } from "../state/state.ts";

/** What the accounting system hears: hours at the end of each stretch of work, and what was claimed or changed. */
export function usageEvents(event: QuotaEvent): readonly UsageEvent[] {
  checkArgument("event", event, "object");
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
