import { type WithHeaders, withHeaders } from "@seneschal/contract";
import type { SchedulerServices } from "../services.ts";
import { iso } from "./iso.ts";

/**
 * A list from what this process has seen of the log, which need not be the newest: says how far that is, by the time of the
 * newest entry (`as-of`) and its sequence (`as-of-seq`).
 */
export function asOf<T>({ quotas, applied }: SchedulerServices, list: T): WithHeaders<T> {
  return withHeaders({ "as-of": iso(quotas.state().at), "as-of-seq": String(applied()) }, list);
}
