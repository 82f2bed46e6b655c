import { checkArgument } from "@seneschal/kernel";
import type { Placeholders } from "./placeholders.ts";

/** A stretch of a text that was found, and what the rule for it does. */
export interface Found {
  readonly entity: string;
  readonly start: number;
  readonly end: number;
  /** What the rule puts there; `undefined` where the value is to come back, and a placeholder stands for it. */
  readonly written?: string;
}

/** Parts of one text after what was found in them is hidden. A value that lies over a border stands in the first part it touches. */
export function hidden(parts: readonly string[], found: readonly Found[], placeholders: Placeholders): string[] {
  checkArgument("parts", parts, "array");
  checkArgument("found", found, "array");
  checkArgument("placeholders", placeholders, "object");
  const whole = parts.join("");
  const spans = united(found);
  const out = parts.map(() => "");
  let part = 0;
  let partEnd = parts[0]?.length ?? 0;
  const copy = (from: number, to: number): void => {
    let at = from;
    while (at < to) {
      while (partEnd <= at && part < parts.length - 1) partEnd += parts[++part]?.length ?? 0;
      const end = Math.min(to, partEnd);
      out[part] += whole.slice(at, end);
      at = end;
    }
  };
  let last = 0;
  for (const { entity, start, end, written } of spans) {
    copy(last, start);
    while (partEnd <= start && part < parts.length - 1) partEnd += parts[++part]?.length ?? 0;
    out[part] += written ?? placeholders.of(entity, whole.slice(start, end));
    last = end;
  }
  copy(last, whole.length);
  return out;
}

/** Stretches that overlap become one, named after the first; what cannot come back makes the whole of it gone. */
function united(found: readonly Found[]): Found[] {
  const spans: Found[] = [];
  for (const next of [...found].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = spans.at(-1);
    if (last === undefined || next.start >= last.end) spans.push(next);
    else if (next.end > last.end || (next.written !== undefined && last.written === undefined)) {
      const { entity, start } = last;
      const gone = last.written !== undefined || next.written !== undefined;
      spans[spans.length - 1] = { entity, start, end: Math.max(last.end, next.end), ...(gone ? { written: `<${entity}>` } : {}) };
    }
  }
  return spans;
}
