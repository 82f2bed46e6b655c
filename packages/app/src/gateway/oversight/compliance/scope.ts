import type { Period } from "@seneschal/core/keys";

/** What a report may look at: an organisation's records, and its log up to the event `size` within a period. */
export interface Scope {
  readonly org: string;
  readonly period: Period;
  readonly size: number;
}
