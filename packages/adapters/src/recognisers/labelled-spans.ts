import type { EntitySpan } from "@seneschal/kernel/ports";
import type { WordPiece } from "./word-pieces.ts";

/** What a label of a model says of a piece: that an entity is there, and whether one begins; `undefined`: none is. */
export type LabelMeaning = { readonly entity: string; readonly begins: boolean } | undefined;

/** Of labels as `B-PER`, `I-PER` (BIO, BIOES, BILOU), or plain names. */
export function meaningOfLabel(label: string): { readonly name: string; readonly begins: boolean } {
  const [, prefix, name] = /^([BIESLU])[-_](.+)$/.exec(label) ?? [];
  return { name: name ?? label, begins: prefix === "B" || prefix === "S" || prefix === "U" };
}

/**
 * Spans of words of which a model says that they are an entity. What it says of a word is the mean over its pieces; an entity is as likely as its labels together. Words of one entity behind one another are one span, unless a
 * word begins another; its score is the mean over its words.
 *
 * `logits` of a piece: one for each label.
 */
export function labelledSpans(
  pieces: readonly WordPiece[],
  logits: (piece: number) => Float32Array,
  labels: readonly LabelMeaning[],
): readonly EntitySpan[] {
  const spans: { entity: string; start: number; end: number; scores: number[] }[] = [];
  let word = -2;
  for (let from = 0, to = 0; from < pieces.length; from = to) {
    const first = pieces[from] as WordPiece;
    while (pieces[to]?.word === first.word) to++;
    const likely = new Map<string, number>();
    let none = 0;
    let begins = 0;
    for (let piece = from; piece < to; piece++)
      for (const [label, p] of probabilities(logits(piece)).entries()) {
        const meaning = labels[label];
        const share = p / (to - from);
        if (meaning === undefined) none += share;
        else {
          likely.set(meaning.entity, (likely.get(meaning.entity) ?? 0) + share);
          // Of the first piece of a word alone: those behind it never begin one.
          if (piece === from && meaning.begins) begins += p;
        }
      }
    const [entity, score] = [...likely].reduce((best, next) => (next[1] > best[1] ? next : best), ["", none] as const);
    if (entity === "") continue;
    const end = (pieces[to - 1] as WordPiece).end;
    const last = spans.at(-1);
    if (last?.entity === entity && word === first.word - 1 && begins * 2 < 1) {
      last.end = end;
      last.scores.push(score);
    } else spans.push({ entity, start: first.start, end, scores: [score] });
    word = first.word;
  }
  return spans.map(({ scores, ...span }) => ({
    ...span,
    score: Math.min(1, scores.reduce((a, b) => a + b, 0) / scores.length),
  }));
}

/** Softmax. */
function probabilities(logits: Float32Array): readonly number[] {
  const most = Math.max(...logits);
  const weights = [...logits].map((logit) => Math.exp(logit - most));
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => weight / sum);
}
