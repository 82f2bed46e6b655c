/** A text without marks, and the way back to the offsets of the one that had them. */
interface Folded {
  readonly text: string;
  start(i: number): number;
  end(i: number): number;
}

const MARKS = /[\u0640\u064b-\u065f\u0670\u093c\u0958-\u095f\u0622\u0623\u0625\u0671]/;

/** Takes away what people write or leave out as they like: it tells no words apart. */
export function foldMarks(text: string): Folded {
  if (!MARKS.test(text)) return { text, start: (i) => i, end: (i) => i };
  const out: string[] = [];
  const starts: number[] = [];
  let copied = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const unit = isLeftOut(code) ? "" : isAlef(code) ? "\u0627" : isDotted(code) ? withoutDot(code) : undefined;
    if (unit !== "") starts.push(i);
    if (unit === undefined) continue;
    out.push(text.slice(copied, i), unit);
    copied = i + 1;
  }
  out.push(text.slice(copied));
  return { text: out.join(""), start: (i) => starts[i] ?? text.length, end: (i) => starts[i] ?? text.length };
}

/** Lengthening, vowels and hamza of Arabic; the dot below of Hindi. */
function isLeftOut(code: number): boolean {
  return code === 0x640 || (code >= 0x64b && code <= 0x65f) || code === 0x670 || code === 0x93c;
}

/** Alef with what is written above or below it. */
function isAlef(code: number): boolean {
  return code === 0x622 || code === 0x623 || code === 0x625 || code === 0x671;
}

/** Letters of Hindi with a dot below. */
function isDotted(code: number): boolean {
  return code >= 0x958 && code <= 0x95f;
}

function withoutDot(code: number): string {
  return String.fromCharCode(code).normalize("NFD")[0] ?? "";
}
