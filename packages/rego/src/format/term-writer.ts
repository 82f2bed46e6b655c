import type { Body, CallTerm, Comment, Expr, Literal, Module, Term, VarTerm, With } from "../syntax/ast.ts";
import type { Extents } from "../syntax/extents.ts";
import { toJson } from "../value/json.ts";
import { closingRow, type Place } from "./closing-row.ts";
import { CrowdedLine, LineWriter } from "./line-writer.ts";

/** Signs of the builtins that are operators, and how close they bind. */
const OPERATORS: ReadonlyMap<string, readonly [sign: string, level: number]> = new Map([
  ["internal.member_2", ["in", 0]],
  ["internal.member_3", ["in", 0]],
  ["equal", ["==", 1]],
  ["neq", ["!=", 1]],
  ["lt", ["<", 1]],
  ["gt", [">", 1]],
  ["lte", ["<=", 1]],
  ["gte", [">=", 1]],
  ["or", ["|", 2]],
  ["and", ["&", 3]],
  ["plus", ["+", 4]],
  ["minus", ["-", 4]],
  ["mul", ["*", 5]],
  ["div", ["/", 5]],
  ["rem", ["%", 5]],
]);

interface Infix {
  readonly name: string;
  readonly sign: string;
  readonly level: number;
  readonly args: readonly Term[];
}

/** Writes literals and terms. Rows of the source decide where lines break. */
export class TermWriter extends LineWriter {
  protected readonly source: string;
  readonly #extents: Extents;
  readonly #keywords: ReadonlySet<string>;
  /** Set while nodes stand all in one place: the body of an `else` without braces, the head of a chained body. */
  protected flat: Place | undefined;
  /** A comment on the last row of a text that is written as it is goes with it. */
  protected keepsFinalComment = false;

  constructor(module: Module, extents: Extents, keywords: ReadonlySet<string>) {
    super();
    this.source = module.source.replace(/^\ufeff/, "");
    this.#extents = extents;
    this.#keywords = keywords;
  }

  protected place(node: Term | Literal): Place {
    return this.flat ?? { row: node.loc.row, text: this.#raw(node) };
  }

  #raw(node: Term | Literal): string {
    const { start, end } = this.#extents.of(node);
    return this.source.slice(start, end);
  }

  /** `run` with all nodes in one place. */
  protected flattened(flat: Place | undefined, run: () => void): void {
    const before = this.flat;
    this.flat = flat;
    try {
      run();
    } finally {
      this.flat = before;
    }
  }

  /** The text as it is, and what that means for the comments in it. */
  protected unformatted({ row, text }: Place): void {
    const last = row + text.split("\n").length - 1;
    this.write(text);
    const left: Comment[] = [];
    for (const comment of this.comments) {
      if (this.keepsFinalComment && comment.loc.row === last) this.write(` #${comment.text}`);
      else if (comment.loc.row >= last) left.push(comment);
    }
    this.comments = left;
  }

  // --- literals ----------------------------------------------------------------------------------------------------

  protected body(body: Body): void {
    this.commentsBefore(this.#rowOfBody(body));
    body.forEach((literal, i) => {
      const previous = body[i - 1];
      if (previous !== undefined) {
        const { row, text } = this.place(previous);
        if (this.place(literal).row > row + text.split("\n").length) this.blankLine();
      }
      this.startLine();
      uncrowded(() => this.literal(literal));
      this.endLine();
    });
  }

  #rowOfBody([first]: Body): number {
    return first === undefined ? -1 : this.place(first).row;
  }

  protected literal(literal: Literal): void {
    const place = this.place(literal);
    this.commentsBefore(place.row);
    if (!this.inline) this.startLine();
    if (literal.negated) this.write("not ");
    this.#expression(literal.expr, place);
    this.#withs(literal.with);
  }

  #expression(expr: Expr, place: Place): void {
    switch (expr.kind) {
      case "some":
        this.#some(expr.names, place.row);
        return;
      case "some-in":
        this.commentsBefore(place.row);
        this.write("some ");
        this.#membership(expr.key === undefined ? [expr.value, expr.domain] : [expr.key, expr.value, expr.domain]);
        return;
      case "every":
        this.commentsBefore(place.row);
        this.write("every ");
        if (expr.key !== undefined) {
          this.term(expr.key);
          this.write(", ");
        }
        this.term(expr.value);
        this.write(" in ");
        this.term(expr.domain);
        this.write(" {");
        // the place of `every` is its keyword: comments before its brace follow behind it
        uncrowded(() => this.#comprehensionBody(expr.body, place.row, -1));
        if (expr.body.length === 1 && this.#rowOfBody(expr.body) === place.row) this.write(" ");
        this.write("}");
        return;
      case "unify":
      case "assign":
        this.term(expr.left);
        this.write(expr.kind === "unify" ? " = " : " := ");
        this.term(expr.right);
        return;
      case "term":
        if (expr.term.kind === "call") this.#statement(expr.term);
        else this.term(expr.term);
    }
  }

  #some(names: readonly VarTerm[], at: number): void {
    this.commentsBefore(at);
    this.write("some ");
    let row = at;
    names.forEach((name, i) => {
      const place = this.flat?.row ?? name.loc.row;
      if (place > row) {
        this.endLine();
        this.startLine();
        this.write("\t");
        row = place;
      } else if (i > 0) this.write(" ");
      this.commentsBefore(place);
      this.write(name.name);
      if (i < names.length - 1) this.write(",");
    });
  }

  #withs(withs: readonly With[]): void {
    let indented = false;
    withs.forEach(({ target, value, loc }, i) => {
      const row = this.flat?.row ?? loc.row;
      const previous = withs[i - 1];
      if (previous === undefined || row === (this.flat?.row ?? previous.loc.row)) {
        this.commentsBefore(row);
        this.write(" ");
      } else {
        if (!indented) this.level++;
        indented = true;
        this.endLine();
        this.startLine();
        this.commentsBefore(row);
      }
      this.write("with ");
      this.term(target);
      this.write(" as ");
      this.term(value);
    });
    if (indented) this.level--;
  }

  /** A call that is a whole literal. */
  #statement(call: CallTerm): void {
    const infix = infixOf(call);
    if (infix === undefined) this.#call(call);
    else if (infix.sign === "in") this.#membership(infix.args);
    else this.#operands(infix, (operand, binds) => this.term(operand, { parens: !binds }));
  }

  // --- terms -------------------------------------------------------------------------------------------------------

  /** A term; where two comments want one line end, its text stays as it is. Throws {@link CrowdedLine} then. */
  protected term(term: Term, options: { readonly parens?: boolean; readonly place?: Place } = {}): void {
    const { out, comments, level } = this;
    const place = options.place ?? this.place(term);
    try {
      this.#bareTerm(term, options.parens === true, place);
    } catch (error) {
      if (!(error instanceof CrowdedLine) || comments.length === 0) throw error;
      this.out = out;
      this.comments = comments;
      this.level = level;
      this.unformatted(place);
      throw error;
    }
  }

  #bareTerm(term: Term, parens: boolean, place = this.place(term)): void {
    this.commentsBefore(place.row);
    if (!this.inline) this.startLine();
    switch (term.kind) {
      case "scalar":
        this.write(typeof term.value === "boolean" || term.value === null ? String(term.value) : this.#literalText(term));
        break;
      case "var":
        this.write(term.name);
        break;
      case "ref":
        this.ref(term.head, term.path);
        break;
      case "call":
        this.#nestedCall(term, parens);
        break;
      case "array":
        this.between("[", "]", () =>
          this.sequence(term.items, place.row, closingRow(place, "[", "]"), (item) => this.item(item)),
        );
        break;
      case "set":
        if (term.items.length === 0) {
          this.write("set()");
          this.commentsBefore(closingRow(place, "(", ")"));
        } else {
          const items = this.#distinct(term.items);
          this.between("{", "}", () => this.sequence(items, place.row, closingRow(place, "{", "}"), (item) => this.item(item)));
        }
        break;
      case "object":
        this.between("{", "}", () =>
          this.sequence(
            this.#distinctEntries(term.entries),
            place.row,
            closingRow(place, "{", "}"),
            ({ key, value }) => {
              this.item(key);
              this.write(": ");
              this.item(value);
            },
            ({ key }) => key,
          ),
        );
        break;
      case "array-comprehension":
        this.between("[", "]", () => this.#comprehension(term.head, term.body, place, closingRow(place, "[", "]")));
        break;
      case "set-comprehension":
        this.between("{", "}", () => this.#comprehension(term.head, term.body, place, closingRow(place, "{", "}")));
        break;
      case "object-comprehension":
        this.between("{", "}", () => {
          const key = this.place(term.key);
          if (key.row - place.row > 1) this.#nextLine();
          this.term(term.key);
          this.write(": ");
          this.#comprehension(term.value, term.body, place, closingRow(place, "{", "}"), key.row);
        });
        break;
      case "template":
        this.#template(term);
        break;
    }
    if (!this.inline) this.startLine();
  }

  /** The text as it was written, each expression in one line; an expression of several lines, or with a comment, is left as it is. */
  #template(term: Term & { kind: "template" }): void {
    const { start, end } = this.#extents.of(term);
    const text = this.source.slice(start, end);
    const inside = this.comments.filter(({ loc }) => loc.offset >= start && loc.offset < end);
    this.comments = this.comments.filter((comment) => !inside.includes(comment));
    let written = start;
    for (const part of term.parts) {
      if (typeof part === "string") continue;
      const place = this.#extents.of(part);
      if (inside.length > 0 || this.#raw(part).includes("\n")) continue;
      this.write(this.source.slice(written, place.start).replace(/\{\s*$/, "{"));
      this.flattened({ row: term.loc.row, text }, () => this.literal(part));
      written = place.end + (/^\s*/.exec(this.source.slice(place.end, end))?.[0].length ?? 0);
    }
    this.write(this.source.slice(written, end));
  }

  /** A number or string as it was written. */
  #literalText(term: Term): string {
    const { end, enclosed } = this.#extents.of(term);
    const text = this.source.slice(term.loc.offset, end);
    return enclosed ? text.replace(/[\s)]*$/, "") : text;
  }

  protected between(open: string, close: string, write: () => void): void {
    this.write(open);
    try {
      write();
    } finally {
      this.write(close);
    }
  }

  #nextLine(): void {
    this.endLine();
    this.startLine();
  }

  /** A set has an element once, at its first place. */
  #distinct(items: readonly Term[]): readonly Term[] {
    return [...new Map(items.map((item) => [constantKey(item), item] as const).toReversed()).values()].toReversed();
  }

  /** An object has a key once: at its first place, with its last value. */
  #distinctEntries(entries: readonly (readonly [Term, Term])[]): readonly { readonly key: Term; readonly value: Term }[] {
    const known = new Map<unknown, { readonly key: Term; readonly value: Term }>();
    for (const [key, value] of entries) known.set(constantKey(key), { key: known.get(constantKey(key))?.key ?? key, value });
    return [...known.values()];
  }

  /** An element of a sequence, with the parentheses that keep a union from being read as a comprehension. */
  protected item(term: Term): void {
    const union = term.kind === "call" && infixOf(term)?.name === "or" && this.#raw(term).startsWith("(");
    if (union) this.between("(", ")", () => this.term(term));
    else this.term(term);
  }

  /** Elements, each row of the source a line of its own. */
  protected sequence<T>(
    elements: readonly T[],
    openRow: number,
    closeRow: number,
    write: (element: T) => void,
    of: (element: T) => Term = (element) => element as Term,
  ): void {
    const lines = this.#lines(elements, openRow, (element) => this.place(of(element)).row);
    const several = lines.length > 1;
    if (several) {
      this.delayComment();
      this.endLine();
      this.level++;
      this.startLine();
    }
    lines.forEach((line, i) => {
      line.forEach((element, j) => {
        if (j > 0) this.write(", ");
        write(element);
      });
      if (i < lines.length - 1) {
        this.write(",");
        this.#nextLine();
      }
    });
    if (!several) return;
    this.write(",");
    this.endLine();
    this.commentsBefore(closeRow);
    this.level--;
    this.startLine();
  }

  #lines<T>(elements: readonly T[], from: number, rowOf: (element: T) => number): readonly (readonly T[])[] {
    const lines: T[][] = [[]];
    let last = from;
    elements.forEach((element, i) => {
      const row = rowOf(element);
      if (row > last && i > 0) lines.push([]);
      last = row;
      lines.at(-1)?.push(element);
    });
    return lines;
  }

  #comprehension(head: Term, body: Body, place: Place, closeRow: number, row = this.place(head).row): void {
    if (row - place.row >= 1) this.#nextLine();
    this.#bareTerm(head, this.#extents.of(head).enclosed, { row, text: this.place(head).text });
    this.write(" |");
    this.#comprehensionBody(body, row, closeRow);
  }

  #comprehensionBody(body: Body, row: number, closeRow: number): void {
    const lines = this.#lines(body, row, (literal) => this.place(literal).row);
    if (this.#rowOfBody(body) <= row && lines.length === 1) {
      this.write(" ");
      body.forEach((literal, i) => {
        if (i > 0) this.write("; ");
        this.literal(literal);
      });
      this.commentsBefore(closeRow);
      return;
    }
    this.endLine();
    this.level++;
    try {
      this.body(body);
      this.commentsBefore(closeRow);
    } finally {
      this.level--;
      this.startLine();
    }
  }

  protected ref(head: Term, path: readonly Term[]): void {
    this.#bareTerm(head, this.#extents.of(head).enclosed);
    for (const part of path) {
      if (part.kind === "scalar" && typeof part.value === "string") {
        this.write(this.refPart(part.value, /^["`(]/.test(this.#raw(part))));
      } else if (part.kind === "var") this.write(`[${part.name}]`);
      else {
        this.write("[");
        uncrowded(
          () => this.term(part),
          () => this.write("\n"),
        );
        this.write("]");
      }
    }
  }

  /** `.name`, or in brackets what is no name; a keyword in quotes keeps them. */
  protected refPart(name: string, quoted: boolean): string {
    const bare = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !(quoted && this.#keywords.has(name));
    return bare ? `.${name}` : `[${JSON.stringify(name)}]`;
  }

  #nestedCall(call: CallTerm, parens: boolean): void {
    const infix = infixOf(call);
    if (infix === undefined) this.#call(call);
    else if (parens || infix.args.length === 3) this.between("(", ")", () => this.#infix(infix));
    else this.#infix(infix);
  }

  #infix(infix: Infix): void {
    if (infix.sign === "in") this.#membership(infix.args);
    else this.#operands(infix, (operand, binds) => this.#operand(operand, binds));
  }

  #operands({ sign, level, args }: Infix, write: (operand: Term, binds: boolean) => void): void {
    const [left, right] = args as readonly [Term, Term];
    write(left, levelOf(left) >= level);
    this.write(` ${sign} `);
    write(right, levelOf(right) > level);
  }

  /** In an operator's operand all operators have parentheses but `in`, which has them where it would be read otherwise. */
  #operand(term: Term, binds: boolean): void {
    const infix = term.kind === "call" ? infixOf(term) : undefined;
    this.#bareTerm(term, infix?.name === "internal.member_2" ? !binds : true);
  }

  #membership(args: readonly Term[]): void {
    args.forEach((arg, i) => {
      if (i > 0) this.write(i === args.length - 1 ? " in " : ", ");
      this.#operand(arg, i === 0 && args.length === 2);
    });
  }

  #call(call: CallTerm): void {
    const { operator, args } = call;
    const place = this.flat ?? { row: operator.loc.row, text: this.#raw(operator) };
    if (operator.kind === "var") this.#bareTerm(operator, false);
    else this.ref(operator.head, operator.path);
    // the place of a call is its name's: comments before its parenthesis follow behind it
    this.between("(", ")", () => this.sequence(args, place.row, closingRow(place, "(", ")"), (arg) => this.item(arg)));
  }
}

/** Runs what may find a line crowded; what was written then stays. */
export function uncrowded(write: () => void, otherwise: () => void = () => undefined): boolean {
  try {
    write();
    return true;
  } catch (error) {
    if (!(error instanceof CrowdedLine)) throw error;
    otherwise();
    return false;
  }
}

function infixOf({ operator, args }: CallTerm): Infix | undefined {
  if (operator.kind !== "var") return undefined;
  const found = OPERATORS.get(operator.name);
  if (found === undefined || args.length !== (operator.name === "internal.member_3" ? 3 : 2)) return undefined;
  const [sign, level] = found;
  return { name: operator.name, sign, level, args };
}

/** What tells equal constants; another term is equal to none. */
function constantKey(term: Term): unknown {
  return term.kind === "scalar" && typeof term.value !== "object"
    ? term.value
    : term.kind === "scalar"
      ? toJson(term.value)
      : term;
}

/** How close a term's outermost operator binds. */
function levelOf(term: Term): number {
  return (term.kind === "call" ? infixOf(term)?.level : undefined) ?? Number.POSITIVE_INFINITY;
}
