import type { EntitySpan } from "@seneschal/kernel/ports";
import { COUNTS_FROM, TOLD_FROM } from "./odds.ts";
import type { Alternative, Finding } from "./recogniser.ts";

/** How findings that rest on such a span are called in reasons. */
const PATTERN = "recogniser";
const WORD = /[\p{L}\p{N}]/u;

/**
 * Findings in the order of the text, with the spans that somebody else found in it. What a span holds beside findings is a finding; a finding that it reaches into has its entity as a further
 * reading. Nothing is lost by that: a finding keeps its name, and the readings that counted count.
 */
export function withSpans(text: string, findings: readonly Finding[], spans: readonly EntitySpan[]): Finding[] {
  const out = [...findings];
  for (const span of [...spans].sort((a, b) => a.start - b.start || b.end - a.end || b.score - a.score)) {
    let at = firstEndingBehind(out, span.start);
    for (let from = span.start; from < span.end; at++) {
      const next = out[at];
      const to = Math.min(next?.start ?? span.end, span.end);
      if (from < to && WORD.test(text.slice(from, to))) {
        const { entity, score } = span;
        out.splice(at++, 0, { entity, start: from, end: to, score, validator: "none", pattern: PATTERN });
      }
      if (next === undefined || next.start >= span.end) break;
      out[at] = alsoReadAs(next, span);
      from = next.end;
    }
  }
  return out;
}

/** A finding that may be what a span says as well. */
function alsoReadAs(finding: Finding, { entity, score }: EntitySpan): Finding {
  if (entity === finding.entity) return finding;
  const { probability = 1, alternatives = [] } = finding;
  const likely = score / (score + finding.score);
  const left = (before: number): number => {
    const less = rounded(before * (1 - likely));
    return before >= COUNTS_FROM ? Math.max(COUNTS_FROM, less) : less;
  };
  const others = alternatives.filter((other) => other.entity !== entity);
  const readings: readonly Alternative[] = [
    { entity, probability: Math.max(COUNTS_FROM, rounded(likely)) },
    ...others.map((other) => Object.assign({}, other, { probability: left(other.probability) })),
  ];
  return Object.assign({}, finding, {
    probability: left(probability),
    alternatives: readings.filter((other) => other.probability >= TOLD_FROM).sort((a, b) => b.probability - a.probability),
  });
}

function rounded(probability: number): number {
  return Math.round(probability * 100) / 100;
}

function firstEndingBehind(findings: readonly Finding[], start: number): number {
  let low = 0;
  let high = findings.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((findings[middle]?.end ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  return low;
}
