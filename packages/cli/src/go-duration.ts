import { InvalidArgumentError } from "commander";

const UNITS: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** A time as Go writes it (`5s`, `1m30s`, `1.5h`), in milliseconds. */
export function goDuration(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)];
  const milliseconds = parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
  if (parts.map(([part]) => part).join("") !== text || !(milliseconds > 0))
    throw new InvalidArgumentError("expected a time such as 5s, 500ms or 1m30s");
  return milliseconds;
}
