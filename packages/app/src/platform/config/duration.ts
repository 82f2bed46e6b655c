import * as z from "zod";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a duration such as `15m`: a number and ms, s, m, h or d. `undefined` when the text is none. */
export function parseDuration(text: string): number | undefined {
  const match = /^(0|[1-9][0-9]{0,9})(ms|s|m|h|d)$/.exec(text);
  if (match === null) return undefined;
  return Number(match[1]) * (UNITS[match[2] ?? ""] ?? Number.NaN);
}

/** A configured duration; milliseconds come out. */
export function duration(fallback: string) {
  return z
    .string()
    .default(fallback)
    .transform((text, context) => {
      const ms = parseDuration(text);
      if (ms !== undefined) return ms;
      context.addIssue({ code: "custom", message: "expected a duration such as 30s, 15m, 24h or 7d" });
      return z.NEVER;
    });
}
