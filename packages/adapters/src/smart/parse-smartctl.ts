import type { SmartReading } from "@seneschal/core/storage";

/**
 * Reads the JSON of `smartctl --json -a` (smartmontools 7.x). NVMe: `percentage_used`, `media_errors`. ATA: reallocated
 * sectors (attribute 5), reported uncorrectable (187), wear from attribute 177, 202, 231 or 233 whose normalised value
 * counts down from 100.
 */
export function parseSmartctl(value: object): SmartReading {
  const nvme = path(value, "nvme_smart_health_information_log");
  const temperature = number(path(value, "temperature", "current"));
  const reading: { -readonly [K in keyof SmartReading]: SmartReading[K] } = {};
  if (temperature !== undefined) reading.temperatureCelsius = temperature;
  if (nvme !== undefined) {
    const wear = number(path(nvme, "percentage_used"));
    const errors = number(path(nvme, "media_errors"));
    if (wear !== undefined) reading.wearPercent = wear;
    if (errors !== undefined) reading.uncorrectableReads = errors;
    return reading;
  }
  const table = path(value, "ata_smart_attributes", "table");
  for (const row of Array.isArray(table) ? table : []) {
    const id = number(path(row, "id"));
    const raw = number(path(row, "raw", "value"));
    const normalised = number(path(row, "value"));
    if (id === 5 && raw !== undefined) reading.badSectors = raw;
    if (id === 187 && raw !== undefined) reading.uncorrectableReads = raw;
    if ((id === 177 || id === 202 || id === 231 || id === 233) && normalised !== undefined)
      reading.wearPercent = Math.max(reading.wearPercent ?? 0, 100 - normalised);
  }
  return reading;
}

function path(value: unknown, ...keys: readonly string[]): unknown {
  return keys.reduce<unknown>(
    (v, key) => (typeof v === "object" && v !== null ? (v as Record<string, unknown>)[key] : undefined),
    value,
  );
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
