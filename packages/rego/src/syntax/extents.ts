import type { Literal, Term } from "./ast.ts";

/** Where a node's text stands in its source. */
export interface Extent {
  /** Of its first character, the parenthesis round it included. */
  readonly start: number;
  readonly end: number;
  /** The node stands in parentheses of its own. */
  readonly enclosed: boolean;
}

/** The extents of terms and literals, noted while a source is parsed. A tree that is only run needs none. */
export class Extents {
  readonly #known = new Map<Term | Literal, Extent>();

  note(node: Term | Literal, end: number): void {
    this.#known.set(node, { start: this.#startOf(node), end, enclosed: false });
  }

  enclose(node: Term, start: number, end: number): void {
    this.#known.set(node, { start, end, enclosed: true });
  }

  of(node: Term | Literal): Extent {
    return this.#known.get(node) ?? { start: node.loc.offset, end: node.loc.offset, enclosed: false };
  }

  /** Operators and refs begin where their first operand does, which may be a parenthesis. */
  #startOf(node: Term | Literal): number {
    if ("expr" in node) return node.loc.offset;
    if (node.kind === "ref") return this.of(node.head).start;
    const [first] = node.kind === "call" && node.infix ? node.args : [];
    return first === undefined ? node.loc.offset : this.of(first).start;
  }
}
