import type { Body, ElseBranch, Module, RegoVersion, Rule, Term } from "../syntax/ast.ts";
import type { Extents } from "../syntax/extents.ts";
import { KEYWORDS } from "../syntax/scan.ts";
import { closingRow, type Place } from "./closing-row.ts";
import { TermWriter, uncrowded } from "./term-writer.ts";

/** What the language written in, and the imports, decide of the layout. */
export interface Style {
  readonly v1: boolean;
  readonly ifs: boolean;
  readonly contains: boolean;
  /** Some head has a ref of several parts: all are written as refs. */
  readonly refHeads: boolean;
  readonly keywords: ReadonlySet<string>;
}

const V0_KEYWORDS: ReadonlySet<string> = new Set(
  [...KEYWORDS].filter((word) => !["if", "contains", "in", "every"].includes(word)),
);

export function keywordsOf({ imports }: Module, to: RegoVersion): ReadonlySet<string> {
  if (to === "v1") return KEYWORDS;
  return new Set([...V0_KEYWORDS, ...imports.flatMap(({ path }) => (path[0] === "future" ? (path[2] ?? []) : []))]);
}

/** A rule, or an `else` of one. */
interface Clause {
  readonly place: Place;
  readonly headRow: number;
  readonly body: Body;
  /** Of an `else` without braces the body stands where `else` does. */
  readonly flatBody: Place | undefined;
  readonly rest: readonly ElseBranch[];
  readonly isDefault: boolean;
  readonly hasArgs: boolean;
  readonly hasKey: boolean;
  readonly hasValue: boolean;
  readonly end: number;
}

/** Writes rules. */
export class RuleWriter extends TermWriter {
  protected readonly module: Module;
  readonly #style: Style;

  constructor(module: Module, extents: Extents, style: Style) {
    super(module, extents, style.keywords);
    this.module = module;
    this.#style = style;
  }

  /** A rule of one line, which another one may follow without a blank line. */
  protected isShort(rule: Rule): boolean {
    return rule.body.length <= 1 && !rule.isDefault && this.#style.ifs && (this.#style.contains || rule.head.value !== undefined);
  }

  protected ruleWithComments(rule: Rule): void {
    uncrowded(() => this.commentsBefore(rule.loc.row));
    uncrowded(() => this.#rule(rule));
  }

  #rule(rule: Rule): void {
    const { head, loc, end } = rule;
    const place: Place = { row: loc.row, text: this.source.slice(loc.offset, end) };
    // the head of a chained body is that of the rule before, and stands where the body does
    const chained = loc.offset > head.loc.offset;
    const headPlace = chained ? place : { row: head.loc.row, text: this.source.slice(head.loc.offset, head.end) };
    this.startLine();
    if (rule.isDefault) this.write("default ");
    const clause: Clause = {
      place,
      headRow: headPlace.row,
      body: rule.body,
      flatBody: undefined,
      rest: rule.otherwise,
      isDefault: rule.isDefault,
      hasArgs: head.args !== undefined,
      hasKey: hasKey(rule, this.module.version),
      hasValue: head.value !== undefined,
      end,
    };
    const constant = isConstant(clause);
    this.keepsFinalComment = constant;
    let whole = true;
    this.flattened(chained ? headPlace : undefined, () => {
      whole = uncrowded(() => this.#head(rule, headPlace, clause, constant));
    });
    this.#clauseBody(clause, constant, whole);
  }

  #clauseBody(clause: Clause, constant: boolean, whole: boolean): void {
    const { body, place, rest } = clause;
    if (constant || body.length === 0) {
      if (!constant && rest.length > 0) this.#otherwise(clause);
      else this.endLine();
      return;
    }
    this.keepsFinalComment = true;
    const withIf = this.#style.ifs && (this.#style.contains || clause.hasValue);
    if (withIf) this.write(" if");
    const [only] = body;
    const row = clause.flatBody?.row ?? only?.loc.row;
    if (withIf && only !== undefined && body.length === 1 && row === clause.headRow) {
      this.write(" ");
      this.flattened(clause.flatBody, () => this.literal(only));
      this.endLine();
      if (rest.length > 0) this.#otherwise(clause);
      return;
    }
    if (!whole && this.comments.length > 0) this.write(" { ");
    else {
      this.write(" {");
      this.endLine();
    }
    this.level++;
    this.flattened(clause.flatBody, () => uncrowded(() => this.body(body)));
    const skip = clause.hasArgs ? (["(", ")"] as const) : clause.hasKey ? (["[", "]"] as const) : undefined;
    this.commentsBefore(closingRow(place, "{", "}", skip));
    this.level--;
    this.startLine();
    this.write("}");
    if (rest.length > 0) this.#otherwise(clause);
  }

  #otherwise({ place, rest, end }: Clause): void {
    const [branch, ...after] = rest as readonly [ElseBranch, ...ElseBranch[]];
    const { loc, value } = branch;
    const line = place.text.split("\n")[loc.row - place.row];
    const wasInline = loc.row > place.row && line !== undefined && !line.trim().startsWith("else");
    const [first] = this.comments;
    const hasCommentAbove = (first !== undefined && first.loc.row < loc.row) || this.beforeEnd !== undefined;
    if (!hasCommentAbove && wasInline) this.write(" ");
    else {
      this.blankLine();
      this.startLine();
    }
    this.commentsBefore(loc.row);
    if (hasCommentAbove && !wasInline) this.startLine();
    const own: Place = { row: loc.row, text: this.source.slice(loc.offset, end) };
    const braced = /\{\s*$/.test(this.source.slice(branch.headEnd, branch.body[0]?.loc.offset).replace(/#.*/g, ""));
    const clause: Clause = {
      place: own,
      headRow: loc.row,
      body: branch.body,
      flatBody: braced ? undefined : own,
      rest: after,
      isDefault: false,
      hasArgs: false,
      hasKey: false,
      hasValue: true,
      end,
    };
    const constant = isConstant(clause);
    this.keepsFinalComment = constant;
    const whole = uncrowded(() => {
      this.commentsBefore(loc.row);
      this.write("else");
      if (constant || (value !== undefined && !isTrue(value))) {
        this.write(this.#style.v1 || branch.operator === ":=" ? " := " : " = ");
        const place = { row: loc.row, text: this.source.slice(loc.offset, branch.headEnd) };
        if (value === undefined) this.write("true");
        else this.term(value, { place });
      }
    });
    this.#clauseBody(clause, constant, whole);
  }

  #head(rule: Rule, place: Place, { hasKey: keyed }: Clause, constant: boolean): void {
    const { head } = rule;
    const [name, ...path] = head.ref;
    const [second] = path;
    if (this.#style.refHeads || second === undefined) this.ref(name, path);
    else {
      // a comment beside a head in brackets keeps it as it is
      const [comment] = this.comments;
      if (comment !== undefined && this.place(second).row === comment.loc.row) {
        this.unformatted(place);
        return;
      }
      const text =
        second.kind === "scalar" && typeof second.value === "string" ? JSON.stringify(second.value) : this.#text(second);
      this.write(`${name.name}[${text}]`);
    }
    if (head.args !== undefined) {
      const { args } = head;
      this.between("(", ")", () => this.sequence(args, place.row, closingRow(place, "(", ")"), (arg) => this.item(arg)));
    }
    if (head.key !== undefined) {
      if (this.#style.contains) {
        this.write(" contains ");
        this.term(head.key);
      } else {
        const { key } = head;
        this.between("[", "]", () => this.term(key));
      }
    }
    this.#value(rule, keyed, constant);
  }

  #value(rule: Rule, keyed: boolean, constant: boolean): void {
    const { head } = rule;
    if (head.value === undefined) return;
    if (head.operator === undefined) {
      // what was not written is written only where v1 wants a value
      const implied = rule.body.length === 0 ? head.args !== undefined : head.ref.length === 2 && head.args === undefined;
      const wanted = implied ? this.#style.v1 && constant && !keyed && head.args === undefined : constant || rule.isDefault;
      if (rule.body.length === 0 && !rule.isDefault && !this.#style.v1) return;
      if (!wanted) return;
      this.write(this.#style.v1 ? " := true" : " = true");
      return;
    }
    if (!keyed && isTrue(head.value) && !constant && !rule.isDefault) return;
    this.write(head.operator === ":=" || this.#style.v1 ? " := " : " = ");
    this.term(head.value);
  }

  #text(term: Term): string {
    return this.place(term).text;
  }
}

/** A head of two parts with a value has, for the layout, its second part as key; so has one whose key is computed. */
function hasKey({ head, body }: Rule, version: RegoVersion): boolean {
  if (head.key !== undefined) return true;
  const [, second] = head.ref;
  if (second === undefined || head.ref.length !== 2 || head.args !== undefined) return false;
  if (head.operator !== undefined && (body.length === 0 || version === "v0")) return true;
  return !isGround(second);
}

function isGround(term: Term): boolean {
  return term.kind === "scalar";
}

function isTrue(term: Term): boolean {
  return term.kind === "scalar" && term.value === true;
}

/** A rule whose body says nothing is written without one. */
function isConstant({ body, rest }: Clause): boolean {
  const [only] = body;
  if (rest.length > 0 || body.length > 1) return false;
  if (only === undefined) return true;
  return !only.negated && only.with.length === 0 && only.expr.kind === "term" && isTrue(only.expr.term);
}
