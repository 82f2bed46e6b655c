import { readFile } from "node:fs/promises";
import type { SmartReading } from "@seneschal/core/storage";
import { CodedError, checkArgument } from "@seneschal/kernel";
import { backEnd } from "../back-end.ts";
import { parseSmartctl } from "./parse-smartctl.ts";

const zod = backEnd<typeof import("zod")>("zod");

/** Our own four fields. */
interface PlainReading {
  readonly wear_percent?: number | undefined;
  readonly bad_sectors?: number | undefined;
  readonly temperature_celsius?: number | undefined;
  readonly uncorrectable_reads?: number | undefined;
}

const plain = () => {
  const z = zod();
  return z.strictObject({
    wear_percent: z.number().min(0).max(255).optional(),
    bad_sectors: z.int().min(0).optional(),
    temperature_celsius: z.number().min(-50).max(200).optional(),
    uncorrectable_reads: z.int().min(0).optional(),
  });
};

/**
 * One device's reading from a JSON file: either our own four fields (`wear_percent`, `bad_sectors`,
 * `temperature_celsius`, `uncorrectable_reads`) or the output of `smartctl --json -a`. Absent file: `undefined`.
 *
 * @throws CodedError `smart_invalid` when the file is neither.
 */
export async function readSmartFile(path: string): Promise<SmartReading | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CodedError("smart_invalid", "the SMART file is not JSON", {}, error);
  }
  if (typeof value === "object" && value !== null && "smartctl" in value) return parseSmartctl(value);
  const parsed = plain().safeParse(value);
  if (!parsed.success) throw new CodedError("smart_invalid", `SMART file: ${zod().prettifyError(parsed.error)}`);
  return smartReadingOf(parsed.data);
}

/** A reading from its wire form, `wear_percent` and the other three; absent stays absent. */
export function smartReadingOf(wire: PlainReading): SmartReading {
  checkArgument("wire", wire, "object");
  return {
    ...(wire.wear_percent === undefined ? {} : { wearPercent: wire.wear_percent }),
    ...(wire.bad_sectors === undefined ? {} : { badSectors: wire.bad_sectors }),
    ...(wire.temperature_celsius === undefined ? {} : { temperatureCelsius: wire.temperature_celsius }),
    ...(wire.uncorrectable_reads === undefined ? {} : { uncorrectableReads: wire.uncorrectable_reads }),
  };
}
