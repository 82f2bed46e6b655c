/** A piece of a word as a model knows it. Offsets are UTF-16 code units of the text, `end` exclusive. */
export interface WordPiece {
  readonly id: number;
  readonly start: number;
  readonly end: number;
  /** The word that it is a piece of: the number of it in the text. */
  readonly word: number;
}

/** A word that is longer is unknown as a whole, as in BERT. */
const LONGEST_WORD = 100;
const CONTINUED = "##";
/** BERT takes all of ASCII but letters and digits for punctuation. */
const PUNCTUATION = /[!-/:-@[-`{-~]|\p{P}/u;
const IDEOGRAPH =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b820}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/u;
const CONTROL = /\p{C}|\ufffd/u;

interface Unit {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * BERT's tokenizer (its normalizer, its words, WordPiece), with the place of each piece.
 *
 * Source: Devlin et al., BERT, 2018; Wu et al., Google's Neural Machine Translation System, 2016, for the pieces: the longest first.
 */
export class WordPieces {
  readonly #ids: ReadonlyMap<string, number>;
  readonly #unknown: number;
  readonly #lowerCase: boolean;
  readonly #longest: number;

  /** `vocabulary`: the tokens in the order of their ids. Throws RangeError for one without `[UNK]`, `[CLS]` and `[SEP]`. */
  constructor(vocabulary: readonly string[], lowerCase: boolean) {
    this.#ids = new Map(vocabulary.map((token, id) => [token, id]));
    this.#unknown = this.idOf("[UNK]");
    this.#lowerCase = lowerCase;
    this.#longest = vocabulary.reduce((longest, token) => Math.max(longest, token.length), 0);
  }

  /** The id of a token that is in the vocabulary. */
  idOf(token: string): number {
    const id = this.#ids.get(token);
    if (id === undefined) throw new RangeError(`the vocabulary has no ${token}`);
    return id;
  }

  of(text: string): readonly WordPiece[] {
    return this.#words(text).flatMap((word, number) => this.#pieces(word, number));
  }

  /** Words as lists of characters with their places: between blanks, each sign of punctuation and each ideograph alone. */
  #words(text: string): readonly (readonly Unit[])[] {
    const words: Unit[][] = [];
    let word: Unit[] = [];
    const close = (): void => {
      if (word.length > 0) words.push(word);
      word = [];
    };
    let start = 0;
    for (const character of text) {
      const end = start + character.length;
      if (/\s/u.test(character)) close();
      else if (!CONTROL.test(character)) {
        const alone = IDEOGRAPH.test(character);
        if (alone) close();
        for (const part of this.#folded(character)) {
          if (PUNCTUATION.test(part)) {
            close();
            words.push([{ text: part, start, end }]);
          } else word.push({ text: part, start, end });
        }
        if (alone) close();
      }
      start = end;
    }
    close();
    return words;
  }

  /** A model without capitals has no accents either. */
  #folded(character: string): readonly string[] {
    return this.#lowerCase ? [...character.toLowerCase().normalize("NFD")].filter((part) => !/\p{Mn}/u.test(part)) : [character];
  }

  #pieces(word: readonly Unit[], number: number): readonly WordPiece[] {
    const [first, last] = [word[0], word.at(-1)];
    if (first === undefined || last === undefined) return [];
    const unknown = [{ id: this.#unknown, start: first.start, end: last.end, word: number }];
    if (word.length > LONGEST_WORD) return unknown;
    const pieces: WordPiece[] = [];
    for (let from = 0; from < word.length; ) {
      let to = Math.min(word.length, from + this.#longest);
      let id: number | undefined;
      for (; to > from; to--) {
        const piece = word.slice(from, to).map((unit) => unit.text);
        id = this.#ids.get((from === 0 ? "" : CONTINUED) + piece.join(""));
        if (id !== undefined) break;
      }
      if (id === undefined) return unknown;
      pieces.push({ id, start: word[from]?.start ?? 0, end: word[to - 1]?.end ?? 0, word: number });
      from = to;
    }
    return pieces;
  }
}
