/** A remaining budget as the accounting system answers it; absent metrics are not managed there. */
export interface RemainingBudget {
  readonly gpuHours?: number;
  readonly nodeHours?: number;
}

export interface UsageEvent {
  readonly id: string;
  readonly allocationId: string;
  readonly tenantId: string;
  readonly resourceType: string;
  readonly amount: number;
  /** Milliseconds since the epoch. */
  readonly periodStart: number;
  readonly periodEnd: number;
}

/**
 * The external accounting system.
 *
 * Laws: both calls end within their time-out. `remaining` throws `accounting_unavailable` when the answer is missing,
 * late or of the wrong shape: the caller falls back to its ledger. `push` is idempotent by event id.
 */
export interface Accounting {
  remaining(tenantId: string): Promise<RemainingBudget>;
  push(events: readonly UsageEvent[]): Promise<void>;
}
