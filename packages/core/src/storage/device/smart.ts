import { checkArgument } from "@seneschal/kernel";
import type { DeviceClass, DeviceState, SmartReading } from "./types.ts";

export type SmartFlag = "wear" | "bad_sectors" | "temperature_warning" | "temperature_throttle" | "uncorrectable_read";

/** What a reading asks for. `high` priority jumps the evacuation queue. */
export interface SmartVerdict {
  readonly action: "none" | "evacuate";
  readonly priority: "normal" | "high";
  readonly flags: readonly SmartFlag[];
  readonly reasons: readonly string[];
}

/** Spec 3 A, SMART evacuation triggers: SSD wear above 90 percent; HDD above 100 bad sectors. Both strict. */
export const smartLimits = { wearPercent: 90, badSectors: 100, temperatureWarning: 70, temperatureThrottle: 80 } as const;

/**
 * Judges a reading by the device's class: wear counts for SSD and NVMe only, bad sectors for HDD only; `custom` and
 * `mixed` devices are judged by whichever value they report.
 *
 * @example
 * ```ts
 * import { smartVerdict } from "@seneschal/core/storage";
 * console.log(smartVerdict("ssd", { wearPercent: 95 }).action, smartVerdict("hdd", { wearPercent: 95 }).action); // evacuate none
 * ```
 */
export function smartVerdict(deviceClass: DeviceClass, reading: SmartReading): SmartVerdict {
  checkArgument("deviceClass", deviceClass, "string");
  checkArgument("reading", reading, "object");
  const flags: SmartFlag[] = [];
  const reasons: string[] = [];
  let high = false;
  const wear = reading.wearPercent ?? 0;
  const bad = reading.badSectors ?? 0;
  const temperature = reading.temperatureCelsius ?? 0;
  if (deviceClass !== "hdd" && wear > smartLimits.wearPercent) {
    flags.push("wear");
    reasons.push(`wear ${wear}% is above ${smartLimits.wearPercent}%`);
  }
  if (deviceClass !== "ssd" && deviceClass !== "nvme" && bad >= 1) {
    flags.push("bad_sectors");
    if (bad > smartLimits.badSectors) {
      reasons.push(`${bad} bad sectors are above ${smartLimits.badSectors}`);
      high = true;
    }
  }
  if (temperature > smartLimits.temperatureThrottle) flags.push("temperature_throttle");
  else if (temperature > smartLimits.temperatureWarning) flags.push("temperature_warning");
  if ((reading.uncorrectableReads ?? 0) > 0) {
    flags.push("uncorrectable_read");
    reasons.push(`${reading.uncorrectableReads} uncorrectable reads`);
    high = true;
  }
  return { action: reasons.length > 0 ? "evacuate" : "none", priority: high ? "high" : "normal", flags, reasons };
}

/**
 * What is done, in this order, with a device that its readings condemn: one that is being emptied, or is gone, is left alone.
 *
 * @example
 * ```ts
 * import { afterVerdict } from "@seneschal/core/storage";
 * console.log(afterVerdict("Healthy", { action: "evacuate" }), afterVerdict("Evacuating", { action: "evacuate" })); // [ 'degrade', 'evacuate' ] []
 * ```
 */
export function afterVerdict(state: DeviceState, verdict: Pick<SmartVerdict, "action">): readonly ("degrade" | "evacuate")[] {
  checkArgument("state", state, "string");
  checkArgument("verdict", verdict, "object");
  if (verdict.action !== "evacuate") return [];
  return state === "Healthy" ? ["degrade", "evacuate"] : state === "Degraded" ? ["evacuate"] : [];
}
