import type { Num } from "../value/number.ts";

/** A place in a source: row and column start at 1, `offset` counts UTF-16 units from 0. */
export interface Location {
  readonly row: number;
  readonly col: number;
  readonly offset: number;
}

/** The language of a source: `v0` is what OPA read before 1.0, where `if`, `contains`, `in` and `every` are imported. */
export type RegoVersion = "v0" | "v1";

/** A source text with the name that errors refer to. */
export interface Source {
  readonly name: string;
  readonly source: string;
  /** `v1` unless given. A `v0` source that imports `rego.v1` is held to the rules of `v1`. */
  readonly version?: RegoVersion;
}

export type Term =
  | ScalarTerm
  | VarTerm
  | RefTerm
  | ArrayTerm
  | SetTerm
  | ObjectTerm
  | ComprehensionTerm
  | ObjectComprehensionTerm
  | CallTerm
  | TemplateTerm;

interface ScalarTerm {
  readonly kind: "scalar";
  readonly value: null | boolean | Num | string;
  readonly loc: Location;
}

export interface VarTerm {
  readonly kind: "var";
  /** `_` is the wildcard. */
  readonly name: string;
  readonly loc: Location;
}

/** `head.a[b]`: dotted parts are string scalars. */
export interface RefTerm {
  readonly kind: "ref";
  readonly head: Term;
  readonly path: readonly Term[];
  readonly loc: Location;
}

interface ArrayTerm {
  readonly kind: "array";
  readonly items: readonly Term[];
  readonly loc: Location;
}

interface SetTerm {
  readonly kind: "set";
  readonly items: readonly Term[];
  readonly loc: Location;
}

interface ObjectTerm {
  readonly kind: "object";
  readonly entries: readonly (readonly [Term, Term])[];
  readonly loc: Location;
}

interface ComprehensionTerm {
  readonly kind: "array-comprehension" | "set-comprehension";
  readonly head: Term;
  readonly body: Body;
  readonly loc: Location;
}

interface ObjectComprehensionTerm {
  readonly kind: "object-comprehension";
  readonly key: Term;
  readonly value: Term;
  readonly body: Body;
  readonly loc: Location;
}

/** `operator` is the dotted name as written; infix operators have their builtin's name (`plus`, `equal`, `internal.member_2`). */
export interface CallTerm {
  readonly kind: "call";
  readonly operator: RefTerm | VarTerm;
  readonly args: readonly Term[];
  /** Written with an operator sign. */
  readonly infix: boolean;
  readonly loc: Location;
}

/** `$"text {expression} text"`. */
interface TemplateTerm {
  readonly kind: "template";
  readonly parts: readonly (string | Literal)[];
  readonly loc: Location;
}

export interface With {
  readonly target: RefTerm | VarTerm;
  readonly value: Term;
  readonly loc: Location;
}

/** One statement of a body. */
export interface Literal {
  readonly expr: Expr;
  readonly negated: boolean;
  readonly with: readonly With[];
  readonly loc: Location;
}

export type Expr =
  | { readonly kind: "term"; readonly term: Term }
  | { readonly kind: "unify"; readonly left: Term; readonly right: Term }
  | { readonly kind: "assign"; readonly left: Term; readonly right: Term }
  | { readonly kind: "some"; readonly names: readonly VarTerm[] }
  | { readonly kind: "some-in"; readonly key: Term | undefined; readonly value: Term; readonly domain: Term }
  | {
      readonly kind: "every";
      readonly key: VarTerm | undefined;
      readonly value: VarTerm;
      readonly domain: Term;
      readonly body: Body;
    };

export type Body = readonly Literal[];

export interface Head {
  /** The name first, then the parts of a ref head. */
  readonly ref: readonly [VarTerm, ...Term[]];
  /** Present on functions. */
  readonly args: readonly Term[] | undefined;
  /** Present on `contains` rules. */
  readonly key: Term | undefined;
  /** Absent on `contains` rules. */
  readonly value: Term | undefined;
  /** What stands before the value; absent where the value is understood. */
  readonly operator: ":=" | "=" | undefined;
  readonly loc: Location;
  /** Offset of the head's end in the source. */
  readonly end: number;
}

export interface Rule {
  readonly head: Head;
  readonly isDefault: boolean;
  /** Empty for a bodiless rule. */
  readonly body: Body;
  /** The `else` branches, in order. */
  readonly otherwise: readonly ElseBranch[];
  readonly loc: Location;
  /** Offset of the rule's end in the source. */
  readonly end: number;
}

export interface ElseBranch {
  readonly value: Term | undefined;
  /** What stands before the value. */
  readonly operator: ":=" | "=" | undefined;
  readonly body: Body;
  readonly loc: Location;
  /** Offset of the end of `else` and its value. */
  readonly headEnd: number;
}

export interface Import {
  readonly path: readonly string[];
  readonly alias: string | undefined;
  readonly loc: Location;
}

export interface Comment {
  readonly text: string;
  readonly loc: Location;
}

export interface Module {
  readonly name: string;
  readonly source: string;
  /** The rules that hold in it: `v0` for a source of that version that does not import `rego.v1`. */
  readonly version: RegoVersion;
  /** Without `data`. */
  readonly packagePath: readonly string[];
  readonly packageLoc: Location;
  readonly imports: readonly Import[];
  readonly rules: readonly Rule[];
  readonly comments: readonly Comment[];
}
