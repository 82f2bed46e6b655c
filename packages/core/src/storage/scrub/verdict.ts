import { checkArgument } from "@seneschal/kernel";
import type { Stripe } from "../pool/durability.ts";
import type { Severity } from "../watch/events.ts";

/** What a scrub found about one chunk. Critical: readable, but without any redundancy left. */
export const scrubVerdicts = ["Healthy", "Repair", "Critical", "Lost"] as const;
export type ScrubVerdict = (typeof scrubVerdicts)[number];

/**
 * What a chunk is found to be, by how many of its fragments are good.
 *
 * @example
 * ```ts
 * import { scrubVerdict } from "@seneschal/core/storage";
 * console.log(scrubVerdict({ data: 4, parity: 2 }, 6), scrubVerdict({ data: 4, parity: 2 }, 5), scrubVerdict({ data: 4, parity: 2 }, 3)); // Healthy Repair Lost
 * ```
 */
export function scrubVerdict(stripe: Stripe, good: number): ScrubVerdict {
  checkArgument("stripe", stripe, "object");
  checkArgument("good", good, "number");
  if (good < stripe.data) return "Lost";
  if (good >= stripe.data + stripe.parity) return "Healthy";
  return good === stripe.data ? "Critical" : "Repair";
}

/** The figures of one scrub. `repaired` counts chunks back at full redundancy; `repair_errors` those that could not be. */
export interface ScrubReport {
  readonly scanned: number;
  readonly healthy: number;
  readonly repaired: number;
  readonly critical: number;
  readonly lost: number;
  readonly orphans: number;
  readonly repair_errors: number;
}

export const emptyScrubReport: ScrubReport = {
  scanned: 0,
  healthy: 0,
  repaired: 0,
  critical: 0,
  lost: 0,
  orphans: 0,
  repair_errors: 0,
};

/**
 * Adds one chunk. `repair`: what came of the attempt, when one was made.
 *
 * @example
 * ```ts
 * import { countVerdict, emptyScrubReport } from "@seneschal/core/storage";
 * console.log(countVerdict(emptyScrubReport, "Repair", "repaired").repaired); // 1
 * ```
 */
export function countVerdict(report: ScrubReport, verdict: ScrubVerdict, repair?: "repaired" | "failed"): ScrubReport {
  checkArgument("report", report, "object");
  checkArgument("verdict", verdict, "string");
  return {
    ...report,
    scanned: report.scanned + 1,
    healthy: report.healthy + (verdict === "Healthy" ? 1 : 0),
    critical: report.critical + (verdict === "Critical" ? 1 : 0),
    lost: report.lost + (verdict === "Lost" ? 1 : 0),
    repaired: report.repaired + (repair === "repaired" ? 1 : 0),
    repair_errors: report.repair_errors + (repair === "failed" ? 1 : 0),
  };
}

/**
 * How grave it is what a scrub found.
 *
 * @example
 * ```ts
 * import { emptyScrubReport, scrubSeverity } from "@seneschal/core/storage";
 * console.log(scrubSeverity({ ...emptyScrubReport, scanned: 9, repaired: 1 })); // warning
 * ```
 */
export function scrubSeverity(report: ScrubReport): Severity {
  checkArgument("report", report, "object");
  if (report.lost > 0) return "critical";
  if (report.repair_errors > 0) return "error";
  return report.repaired > 0 ? "warning" : "info";
}
