import type { AST } from "@eslint-community/regexpp";
import type { ParsedPattern } from "./parse-pattern.ts";

/**
 * Which characters there are: a bit for each of ASCII, and one of 32 for all others by the end of their code. So a pattern that has no match without an `@`
 * is not searched in a text that has none.
 */
export class CharacterBits {
  readonly #bits = new Int32Array(5);

  add(code: number): void {
    const at = code < 128 ? code >> 5 : 4;
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (code & 31));
  }

  /** Adds all of a text, of each capital of ASCII the small letter too. Takes time linear in the text. */
  addText(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      this.add(code);
      if (code >= 65 && code <= 90) this.add(code + 32);
    }
  }

  includes(other: CharacterBits): boolean {
    for (let at = 0; at < 5; at++) if (((other.#bits[at] ?? 0) & ~(this.#bits[at] ?? 0)) !== 0) return false;
    return true;
  }
}

type Required = ReadonlySet<number>;
const NONE: Required = new Set();

/** The characters that are in every match of a pattern. Of one that cannot be read none is known. */
export function requiredCharacters(pattern: ParsedPattern | undefined): CharacterBits {
  const bits = new CharacterBits();
  if (pattern === undefined) return bits;
  const { alternatives, unicode, ignoreCase } = pattern;

  const of = (node: AST.Element): Required => {
    switch (node.type) {
      case "Character":
        return ignoreCase ? folded(node.value, unicode) : new Set(unitsOf(node.value));
      case "Quantifier":
        return node.min === 0 ? NONE : of(node.element);
      case "Group":
      case "CapturingGroup":
        return inAll(node.alternatives);
      default:
        return NONE;
    }
  };
  const inAll = (list: readonly AST.Alternative[]): Required => {
    const [first = NONE, ...rest] = list.map(({ elements }): Required => new Set(elements.flatMap((node) => [...of(node)])));
    return new Set([...first].filter((code) => rest.every((other) => other.has(code))));
  };
  for (const code of inAll(alternatives)) bits.add(code);
  return bits;
}

function unitsOf(value: number): readonly number[] {
  const written = String.fromCodePoint(value);
  return Array.from({ length: written.length }, (_, at) => written.charCodeAt(at));
}

/** Where a pattern takes no notice of case: small letters of ASCII, but for the two that others fold to (ECMA-262, Canonicalize), and what has no case. */
function folded(value: number, unicode: boolean): Required {
  const written = String.fromCodePoint(value);
  if (written.toLowerCase() === written.toUpperCase()) return new Set(unitsOf(value));
  const small = written.toLowerCase();
  return /^[a-z]$/.test(small) && !(unicode && /[ks]/.test(small)) ? new Set([small.charCodeAt(0)]) : NONE;
}
