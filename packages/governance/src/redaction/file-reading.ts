import { governanceError } from "../errors.ts";
import { isTelling, type KnownValues, knownValues, mayHold } from "./known-values.ts";
import { type Piece, type RedactionOptions, redactedPieces, type SearchOptions } from "./redact.ts";
import { redactionRuleFor } from "./rules.ts";
import { joinedPieces, placedPieces, type Written } from "./written-values.ts";

/** Rounds after which nothing new is hidden: each hides a value that only another one's absence has shown. */
const ROUNDS = 40;

/**
 * The values of one file while it is redacted. What is found in a value is remembered, since files say the same often; and what is hidden in one value is hidden in all of the file, where it is telling ({@link isTelling}).
 */
export class FileReading {
  readonly #found = new Map<SearchOptions, RememberedPieces>();
  readonly #held = new Map<RedactionOptions, Map<string, RedactionOptions>>();
  readonly #hidden = new Map<string, string>();
  #known: KnownValues | undefined;
  #learnt = 0;
  #withKnown = new Map<SearchOptions, { readonly under: SearchOptions; readonly pieces: RememberedPieces }>();

  /** A value redacted by what is found in it alone, in its own offsets. `under` is remembered as the object that it is. */
  alone(value: string, under: SearchOptions): readonly Piece[] {
    return rememberedIn(this.#found, under, newPieces).of(value, () => this.#noted(value, redactedPieces(value, under)));
  }

  /** The same with what is hidden elsewhere. */
  pieces(value: string, under: SearchOptions): readonly Piece[] {
    const pieces = this.alone(value, under);
    if (this.#known === undefined || !mayHold(textOf(pieces), this.#known)) return pieces;
    const again = this.#again(under);
    return again.pieces.of(value, () => this.#noted(value, redactedPieces(value, again.under)));
  }

  /** A value that is written in one place of a file or in several, redacted there. What is sealed is sealed anew in each place: that two are equal is not told. */
  written(
    file: string,
    parts: readonly { readonly written: Written; readonly alone: boolean }[],
    under: SearchOptions,
  ): readonly Piece[] {
    const [only] = parts;
    if (only !== undefined && parts.length === 1) {
      const { written } = only;
      const { value, keepsValue = false } = written;
      const pieces = this.pieces(value, under);
      const isKept = (operator: Piece["operator"]): boolean =>
        operator === "encrypt" ||
        (operator === "tokenise" && !keepsValue && file.slice(written.at(0), written.at(value.length)) !== value);
      if (!pieces.some(({ operator }) => isKept(operator))) return placedPieces(file, written, pieces);
    } else this.pieces(parts.map(({ written }) => written.value).join(""), under);
    return joinedPieces(file, parts, this.knowing(under));
  }

  /** The options of a place whose column is known to hold an entity as a whole: what the place's own name says goes before, unless that is kept. */
  heldBy(under: RedactionOptions, entity: string | undefined): RedactionOptions {
    if (entity === undefined) return under;
    const { policy, rules, whole } = under;
    if (whole !== undefined && redactionRuleFor(policy, rules, whole).operator !== "keep") return under;
    const held = rememberedIn(this.#held, under, () => new Map<string, RedactionOptions>());
    return rememberedIn(held, entity, () => Object.assign({}, under, { whole: entity }));
  }

  /** Takes up what was hidden since the last time. False where that was nothing. */
  learn(): boolean {
    if (this.#hidden.size === this.#learnt) return false;
    this.#learnt = this.#hidden.size;
    this.#known = knownValues(this.#hidden);
    this.#withKnown = new Map();
    return true;
  }

  /** Options with what is hidden elsewhere. */
  knowing(under: SearchOptions): SearchOptions {
    return this.#known === undefined ? under : this.#again(under).under;
  }

  #again(under: SearchOptions) {
    return rememberedIn(this.#withKnown, under, () => ({
      under: Object.assign({}, under, { known: this.#known }),
      pieces: new RememberedPieces(),
    }));
  }

  #noted(value: string, pieces: readonly Piece[]): readonly Piece[] {
    for (const { start, end, entity, text } of pieces) {
      if (entity === undefined) continue;
      const said = value.slice(start, end);
      if (text !== said && !this.#hidden.has(said) && isTelling(said)) this.#hidden.set(said, entity);
    }
    return pieces;
  }
}

/** Pieces of values, of which most are as they were. */
class RememberedPieces {
  readonly #pieces = new Map<string, readonly Piece[] | undefined>();

  of(value: string, make: () => readonly Piece[]): readonly Piece[] {
    const known = this.#pieces.get(value);
    if (known !== undefined) return known;
    if (this.#pieces.has(value)) return [{ start: 0, end: value.length, text: value }];
    const made = make();
    this.#pieces.set(value, isChanged(made) ? made : undefined);
    return made;
  }
}

function newPieces(): RememberedPieces {
  return new RememberedPieces();
}

/** Redacts a file, its values by `reading`, until what is hidden in one is hidden in all. */
export function everywhere<Done>(reading: FileReading, redacted: () => Done): Done {
  for (let round = 0; round < ROUNDS; round++) {
    const done = redacted();
    if (!reading.learn()) return done;
  }
  throw governanceError("classification_failed", "the file could not be redacted");
}

function isChanged(pieces: readonly Piece[]): boolean {
  return pieces.some(({ entity }) => entity !== undefined);
}

export function textOf(pieces: readonly Piece[]): string {
  return pieces.length === 1 ? (pieces[0] as Piece).text : pieces.map(({ text }) => text).join("");
}

function rememberedIn<Key, Value>(memory: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const made = make();
  memory.set(key, made);
  return made;
}
