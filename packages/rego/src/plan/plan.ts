import type { Decimal } from "../value/number.ts";
import type { Value } from "../value/value.ts";

/**
 * A compiled policy as data: what its closures are made of, with names resolved, bodies in the order of evaluation and types checked. OPA
 * calls the like a plan. Written as JSON, numbers with all their digits.
 */
export interface Plan {
  /** Paths of documents below `data`. */
  readonly entrypoints: readonly (readonly string[])[];
  readonly packages: readonly (readonly string[])[];
  /** By their ids. */
  readonly sets: readonly PlannedSet[];
  /** The builtins that are called. */
  readonly builtins: readonly string[];
  /** The builtins that the host has to give, with the types that the policy was checked against. */
  readonly own: readonly { readonly name: string; readonly signature: string }[];
}

export interface PlannedSet {
  readonly path: readonly string[];
  readonly kind: "complete" | "set" | "object" | "function";
  readonly arity: number;
  readonly file: string;
  readonly row: number;
  /** Absent where no entrypoint reads it. */
  readonly rules?: readonly PlannedRule[];
  readonly default?: PlannedRule;
}

export interface PlannedRule {
  readonly file: string;
  readonly row: number;
  readonly args: readonly PlannedOperand[];
  readonly branches: readonly PlannedBranch[];
  /** The slots of variables that the compiler made. */
  readonly generated: readonly number[];
}

interface PlannedBranch {
  readonly body: readonly PlannedStatement[];
  readonly path: readonly PlannedOperand[];
  readonly key?: PlannedOperand;
  readonly value?: PlannedOperand;
  readonly row: number;
}

export interface PlannedClosure {
  readonly body: readonly PlannedStatement[];
  /** Slots. */
  readonly captured: readonly number[];
}

/** A function: the id of its rules, or the name of a builtin. */
export type PlannedCallee = number | string;

export type PlannedAction =
  | { readonly unify: readonly [PlannedOperand, PlannedOperand] }
  | { readonly term: PlannedOperand }
  | { readonly call: PlannedCallee; readonly args: readonly PlannedOperand[]; readonly out?: PlannedOperand }
  | { readonly every: PlannedClosure; readonly in: PlannedOperand; readonly key?: number; readonly value: number };

export type PlannedStatement = PlannedAction & {
  readonly row: number;
  readonly not?: true;
  readonly with?: readonly PlannedOverride[];
};

export type PlannedOverride = (
  | { readonly input: readonly string[] }
  | { readonly data: readonly string[] }
  | { readonly function: string }
) &
  ({ readonly put: PlannedOperand; readonly late?: true } | { readonly call: PlannedCallee });

type Scalar = null | boolean | string | number | bigint | Decimal;

/** A constant scalar is itself. */
export type PlannedOperand =
  | Scalar
  /** What JSON can say. */
  | { readonly const: Value }
  | { readonly value: PlannedValue }
  | { readonly var: number }
  | { readonly input: readonly PlannedOperand[] }
  | { readonly data: readonly PlannedOperand[] }
  | { readonly ref: number; readonly path: readonly PlannedOperand[] }
  | { readonly array: readonly PlannedOperand[] }
  | { readonly set: readonly PlannedOperand[] }
  | { readonly object: readonly (readonly [PlannedOperand, PlannedOperand])[] }
  | {
      readonly comprehension: "array" | "set" | "object";
      readonly key?: PlannedOperand;
      readonly of: PlannedOperand;
      readonly from: PlannedClosure;
      readonly row: number;
    }
  | {
      readonly template: readonly (string | { readonly of: PlannedOperand; readonly from: PlannedClosure })[];
      readonly row: number;
    };

/** A constant that JSON cannot say: somewhere in it is a set, or a key that is no text. */
export type PlannedValue =
  | Scalar
  | { readonly array: readonly PlannedValue[] }
  | { readonly set: readonly PlannedValue[] }
  | { readonly object: readonly (readonly [PlannedValue, PlannedValue])[] };
