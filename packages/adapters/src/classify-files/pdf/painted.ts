/** What a reader made of the operators of a page. */
export interface Operators {
  readonly fnArray: readonly number[];
  readonly argsArray: readonly unknown[];
}

export interface Painted {
  /** Every letter that is painted, in the order of the file: what stands on one line as one word ... */
  readonly tight: string;
  /** ... and with a blank wherever the place was set anew. */
  readonly loose: string;
  readonly pictures: boolean;
  /** Lines, areas or single points were drawn. */
  readonly drawn: boolean;
  /** Several letters in a row of which nobody knows what they are. */
  readonly strangeLetters: boolean;
}

interface Glyph {
  readonly unicode?: string;
  readonly isSpace?: boolean;
}

/** So many letters in a row that are nothing may be a value; single ones are bullets and ornaments. */
const STRANGE = 3;
/** A move to the left by so many thousandths of the size of letters is a blank. */
const BLANK = -200;
/** Characters for private use, for control, and for what could not be read. */
const UNKNOWN = /^[\p{Co}\p{Cc}\p{Cn}\ufffd]|^$/u;

/** What operators paint, with those of patterns and of letters that are drawings; `font` finds a font by the name that the reader gave it. */
export function paintedOf(
  operators: Operators,
  ops: Readonly<Record<string, number>>,
  font: (name: string) => object | null,
): Painted {
  const names = new Map(Object.entries(ops).map(([name, number]) => [number, name]));
  const fonts = new Set<string>();
  let tight = "";
  let loose = "";
  let pictures = false;
  let drawn = false;
  let strangeLetters = false;
  let strange = 0;
  let guessed = false;
  const pieces: Operators[] = [operators];
  for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
    let baseline: number | undefined;
    for (const [i, fn] of piece.fnArray.entries()) {
      const name = names.get(fn) ?? "";
      const args = piece.argsArray[i];
      const list: readonly unknown[] = Array.isArray(args) ? args : [];
      if (name === "setFont") useFont(String(list[0]));
      else if (name === "beginText") move("\n", "\n");
      else if (name === "moveText") move(list[1] === 0 ? "" : "\n", list[1] === 0 ? " " : "\n");
      else if (name === "setLeadingMoveText" || name.startsWith("nextLine")) move("\n", "\n");
      else if (name === "setTextMatrix") {
        const at = numbersOf(list)[5];
        move(at === baseline ? "" : "\n", at === baseline ? " " : "\n");
        baseline = at;
      } else if (/^paint(?:Inline|Solid|Jpeg|Image)/.test(name)) drawn = true;
      else if (name === "constructPath" || name === "shadingFill") drawn = true;
      if (/^paint(?:Inline)?Image(?:X|Mask)/.test(name) && !isPoint(list)) pictures = true;
      for (const arg of list) {
        if (isOperators(arg)) pieces.push(arg);
        if (/showText|ShowText|showSpacedText/.test(name) && Array.isArray(arg)) show(arg as readonly (Glyph | number | null)[]);
      }
    }
    move("\n", "\n");
  }
  return { tight, loose, pictures, drawn, strangeLetters };

  function useFont(name: string): void {
    const found = font(name) as { readonly toUnicode?: object; readonly charProcOperatorList?: object } | null;
    // The reader takes the numbers of letters for letters where nothing says what they are.
    guessed = found === null || !("_map" in (found.toUnicode ?? {}));
    if (fonts.has(name)) return;
    fonts.add(name);
    for (const drawing of Object.values(found?.charProcOperatorList ?? {})) if (isOperators(drawing)) pieces.push(drawing);
  }

  function move(tightly: string, loosely: string): void {
    tight += tightly;
    loose += loosely;
  }

  function show(glyphs: readonly (Glyph | number | null)[]): void {
    for (const glyph of glyphs) {
      if (typeof glyph === "number") {
        if (glyph < BLANK) move(" ", " ");
        continue;
      }
      const { unicode = "", isSpace = false } = glyph ?? {};
      if (!isSpace) strange = guessed || UNKNOWN.test(unicode) ? strange + 1 : 0;
      strangeLetters ||= strange >= STRANGE;
      move(unicode, unicode);
    }
  }
}

/** A picture of one point, which shows nothing. */
function isPoint(args: readonly unknown[]): boolean {
  const [image, width, height] = args;
  if (typeof image !== "object" || image === null) return width === 1 && height === 1;
  return (image as { width?: unknown }).width === 1 && (image as { height?: unknown }).height === 1;
}

/** The letters of a text, by whatever they are kept apart. */
export function lettersOf(text: string): string {
  return text.replace(/\s+/g, "");
}

function isOperators(value: unknown): value is Operators {
  return typeof value === "object" && value !== null && "fnArray" in value && "argsArray" in value;
}

function numbersOf(list: readonly unknown[]): readonly number[] {
  return list.flatMap((one) =>
    typeof one === "number" ? [one] : ArrayBuffer.isView(one) || Array.isArray(one) ? [...(one as Iterable<number>)] : [],
  );
}
