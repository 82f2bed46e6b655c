import type { CallContext } from "../builtins/builtin.ts";
import type { Callee } from "../compile/ir.ts";
import type { RuleNode } from "../compile/tree.ts";
import type { BuiltinError } from "../errors.ts";
import type { Value } from "../value/value.ts";

/** Marks a document that was evaluated and is undefined. */
export const NONE = Symbol("undefined document");

/** What `with` put in the place of documents: rules that it hides and values inside of rules that it replaces. */
export interface Overlay {
  readonly hidden: ReadonlySet<RuleNode>;
  readonly inside: ReadonlyMap<RuleNode, readonly { readonly path: readonly string[]; readonly value: Value }[]>;
}

export type Mock =
  | { readonly kind: "value"; readonly value: Value }
  | { readonly kind: "document"; readonly read: Eval }
  | { readonly kind: "function"; readonly callee: Callee };

/** The state of one evaluation. `with` swaps some of it for the duration of a literal. */
export interface Context {
  input: Value | undefined;
  data: Value;
  overlay: Overlay | undefined;
  mocks: ReadonlyMap<string, Mock> | undefined;
  /** Documents by rule set id; {@link NONE} where undefined. */
  memo: unknown[];
  depth: number;
  readonly maxDepth: number;
  readonly strict: boolean;
  /** Errors of builtins that made their calls undefined; collected once there is one. */
  builtinErrors: BuiltinError[] | undefined;
  readonly call: CallContext;
}

/** Slot 0 is the result under construction; others are variables and temporaries. */
export type Frame = unknown[];

/** Computes an operand whose variables are bound. */
export type Eval = (c: Context, f: Frame) => Value | undefined;
/** A literal with at most one solution. */
export type Test = (c: Context, f: Frame) => boolean;
/** Goes on with the rest of a body; true stops the enumeration. */
export type Step = (c: Context, f: Frame) => boolean;
