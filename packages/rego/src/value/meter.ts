import { EvaluationError } from "../errors.ts";

/** What one evaluation may use up. Deterministic except for `milliseconds`, which needs a clock. */
export interface Budgets {
  /** Loop steps, calls, comparisons. */
  readonly ticks: number;
  /** Elements of arrays, objects and sets made. */
  readonly elements: number;
  /** UTF-16 units of strings made. */
  readonly characters: number;
  /** Bits of one integer. */
  readonly integerBits: number;
  /** Values of a result. */
  readonly outputNodes: number;
  /** UTF-16 units of a result's strings. */
  readonly outputCharacters: number;
  /** Wall clock, checked every 1024 ticks. */
  readonly milliseconds: number;
  /** Nested rule and function calls. */
  readonly depth: number;
}

export const DEFAULT_BUDGETS: Budgets = {
  ticks: 5_000_000,
  elements: 2_000_000,
  characters: 16_000_000,
  integerBits: 65_536,
  outputNodes: 1_000_000,
  outputCharacters: 8_000_000,
  milliseconds: 250,
  depth: 500,
};

/** What the running evaluation has left. Evaluation is synchronous, so one set of counters serves every call. */
class Meter {
  budgets: Budgets = DEFAULT_BUDGETS;
  clock: (() => number) | undefined = undefined;
  deadline = Number.POSITIVE_INFINITY;
  /** Ticks left until the next check, and how many that grant was. */
  slice = 0;
  granted = 0;
  ticks = Number.MAX_SAFE_INTEGER;
  elements = Number.MAX_SAFE_INTEGER;
  characters = Number.MAX_SAFE_INTEGER;
}

const SLICE = 1024;

/** Unbounded outside of evaluations, where only the compiler folds constants. */
let meter = new Meter();
/** Meters to use again, so that an evaluation allocates none. */
const spare: Meter[] = [];

/** Runs `work` on a budget of its own; a nested evaluation (from a custom builtin) does not touch the outer one's. */
export function metered<T>(budgets: Budgets, clock: (() => number) | undefined, work: () => T): T {
  const outer = meter;
  const own = spare.pop() ?? new Meter();
  own.budgets = budgets;
  own.clock = clock;
  own.deadline = clock === undefined ? Number.POSITIVE_INFINITY : clock() + budgets.milliseconds;
  own.granted = Math.min(SLICE, budgets.ticks);
  own.slice = own.granted;
  own.ticks = budgets.ticks;
  own.elements = budgets.elements;
  own.characters = budgets.characters;
  meter = own;
  try {
    return work();
  } finally {
    meter = outer;
    own.clock = undefined;
    spare.push(own);
  }
}

/** Charges one step. */
export function tick(): void {
  if (--meter.slice < 0) refill();
}

/** Charges work by its size. */
export function charge(steps: number): void {
  meter.slice -= steps;
  if (meter.slice < 0) refill();
}

function refill(): void {
  meter.ticks -= meter.granted - meter.slice;
  if (!(meter.ticks >= 0)) throw new EvaluationError("eval_limit_error", "evaluation exceeded its tick budget");
  if (meter.clock !== undefined && meter.clock() > meter.deadline) {
    throw new EvaluationError("eval_limit_error", "evaluation exceeded its time budget");
  }
  meter.granted = Math.min(SLICE, meter.ticks);
  meter.slice = meter.granted;
}

/** Charges elements before they are made. */
export function allocate(elements: number): void {
  meter.elements -= elements;
  if (!(meter.elements >= 0)) throw new EvaluationError("eval_limit_error", "evaluation exceeded its element budget");
}

/** Charges string units before they are made. */
export function allocateText(units: number): void {
  meter.characters -= units;
  if (!(meter.characters >= 0)) throw new EvaluationError("eval_limit_error", "evaluation exceeded its string budget");
  charge(units >> 6);
}

/** Refuses an integer of more than the allowed bits before it is made. */
export function allowBits(bits: number): void {
  if (bits > meter.budgets.integerBits) throw new EvaluationError("eval_limit_error", "integer exceeds its bit budget");
  if (bits > 64) charge(bits >> 5);
}

/** Refuses a number's text that stands for more than the allowed bits before it is read. */
export function allowDigits(length: number): void {
  charge(length >> 4);
  allowBits(length * 3);
}

/** The budgets of the running evaluation. */
export function budgets(): Budgets {
  return meter.budgets;
}
