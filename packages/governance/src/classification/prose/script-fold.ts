/** A text without marks, and the way back to the offsets of the one that had them. */
interface Folded {
  readonly text: string;
  start(i: number): number;
  end(i: number): number;
}

const MARKS = /[\u0640\u064b-\u065f\u0670\u093c\u0958-\u095f\u0622\u0623\u0625\u0671]/;
/** Lengthening, vowels and hamza of Arabic; the dot below of Hindi. */
const LEFT_OUT = /[\u0640\u064b-\u065f\u0670\u093c]/;
const ALEF = /[\u0622\u0623\u0625\u0671]/;
const DOTTED = /[\u0958-\u095f]/;

/** Takes away what people write or leave out as they like: it tells no words apart. */
export function foldMarks(text: string): Folded {
  if (!MARKS.test(text)) return { text, start: (i) => i, end: (i) => i };
  const out: string[] = [];
  const starts: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const c = text[i] ?? "";
    if (LEFT_OUT.test(c)) continue;
    out.push(ALEF.test(c) ? "ا" : DOTTED.test(c) ? (c.normalize("NFD")[0] ?? c) : c);
    starts.push(i);
  }
  return { text: out.join(""), start: (i) => starts[i] ?? text.length, end: (i) => starts[i] ?? text.length };
}
