import type { EntitySpan } from "@seneschal/kernel/ports";
import { partitionPoint } from "../../partition-point.ts";
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
    const { entity, start, end, score } = span;
    add(text, out, { entity, start, end, score, validator: "none", pattern: PATTERN });
  }
  return out;
}

/** Adds what a finding holds beside others, and its entity to the readings of those that it reaches into. */
function add(text: string, out: Finding[], finding: Finding): void {
  let from = finding.start;
  for (let at = firstEndingBehind(out, from); from < finding.end; at++) {
    const next = out[at];
    const to = Math.min(next?.start ?? finding.end, finding.end);
    if (from < to && WORD.test(text.slice(from, to))) out.splice(at++, 0, Object.assign({}, finding, { start: from, end: to }));
    if (next === undefined || next.start >= finding.end) break;
    out[at] = readingsOf(finding).reduce(alsoReadAs, next);
    from = next.end;
  }
}

/**
 * Findings of a text with those that say what stands there as a whole, of the same text with what is encoded in it written out, or by the names of its values, all by the offsets of the original. One that reaches over
 * others takes their place, and may be what they are, as does one of the same stretch where it is `surer`; else it adds to them as {@link withSpans}.
 */
export function withWhole(text: string, findings: readonly Finding[], whole: readonly Finding[], surer = false): Finding[] {
  if (whole.length === 0) return findings as Finding[];
  const out = [...findings];
  for (const finding of whole) {
    const { start, end, entity } = finding;
    const from = firstEndingBehind(out, start);
    const met = overlapping(out, start, end);
    if (met.some((other) => other.entity === entity && other.start <= start && other.end >= end)) continue;
    const within = met.every((other) => start <= other.start && other.end <= end);
    const same = met.length === 1 && met[0]?.start === start && met[0]?.end === end;
    if (within && (surer || !same)) out.splice(from, met.length, met.flatMap(readingsOf).reduce(alsoReadAs, finding));
    else add(text, out, finding);
  }
  return out;
}

/** Those of findings in the order of the text that have something of a stretch. */
export function overlapping(findings: readonly Finding[], start: number, end: number): readonly Finding[] {
  const from = firstEndingBehind(findings, start);
  let to = from;
  while (to < findings.length && (findings[to]?.start ?? end) < end) to++;
  return findings.slice(from, to);
}

type EntityScore = Pick<Finding, "entity" | "score">;

/** What a finding is, and what else it may be. */
function readingsOf({ entity, score, alternatives = [] }: Finding): readonly EntityScore[] {
  return [{ entity, score }, ...alternatives.map((other) => ({ entity: other.entity, score: score * other.probability }))];
}

/** A finding that may be what a span says as well. */
function alsoReadAs(finding: Finding, { entity, score }: EntityScore): Finding {
  if (
    entity === finding.entity ||
    finding.alternatives?.some((other) => other.entity === entity && other.probability >= COUNTS_FROM) === true
  )
    return finding;
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
  return partitionPoint(findings, ({ end }) => end <= start);
}
