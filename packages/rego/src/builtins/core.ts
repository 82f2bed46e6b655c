import { BuiltinError } from "../errors.ts";
import { isMember } from "../eval/membership.ts";
import { allocate, allowBits } from "../value/meter.ts";
import {
  add,
  ceiling,
  compareNumbers,
  divide,
  floor,
  fromBigInt,
  multiply,
  type Num,
  negate,
  remainder,
  roundHalfAway,
  subtract,
  toBigInt,
} from "../value/number.ts";
import { compare, equal, isNumber, RegoSet, type Value } from "../value/value.ts";
import { type Builtin, define, operandError } from "./builtin.ts";

function bitsOf(n: Num): number {
  return typeof n === "bigint" ? n.toString(16).length * 4 : 64;
}

function numbers(args: readonly Value[]): readonly [Num, Num] {
  const [a, b] = args as readonly [Num, Num];
  if (typeof a !== "number" || typeof b !== "number") allowBits(bitsOf(a) + bitsOf(b));
  return [a, b];
}

function integer(value: Value, position: number): bigint {
  const n = toBigInt(value as Num);
  if (n === undefined) {
    throw new BuiltinError(`operand ${position} must be integer number but got floating-point number`, "eval_type_error");
  }
  allowBits(n.toString(16).length * 4);
  return n;
}

function comparison(name: string, holds: (order: number) => boolean): Builtin {
  return define(name, "any, any -> boolean", ([a, b]) => holds(compare(a as Value, b as Value)));
}

function bitwise(name: string, combine: (a: bigint, b: bigint) => bigint): Builtin {
  return define(name, "number, number -> number", ([a, b]) =>
    fromBigInt(combine(integer(a as Value, 1), integer(b as Value, 2))),
  );
}

function shiftBy(value: Value): bigint {
  const n = integer(value, 2);
  if (n < 0n) {
    throw new BuiltinError("operand 2 must be an unsigned integer number but got a negative integer", "eval_type_error");
  }
  return n;
}

function unary(name: string, apply: (n: Num) => Num): Builtin {
  return define(name, "number -> number", ([a]) => apply(a as Num));
}

/** Comparison, arithmetic, bits, membership and the set operators. */
export const coreBuiltins: readonly Builtin[] = [
  define("equal", "any, any -> boolean", ([a, b]) => equal(a as Value, b as Value)),
  comparison("neq", (order) => order !== 0),
  comparison("lt", (order) => order < 0),
  comparison("lte", (order) => order <= 0),
  comparison("gt", (order) => order > 0),
  comparison("gte", (order) => order >= 0),
  define("eq", "any, any -> boolean", ([a, b]) => equal(a as Value, b as Value)),
  define("internal.member_2", "any, any -> boolean", ([a, b]) => isMember(a as Value, b as Value)),
  define("internal.member_3", "any, any, any -> boolean", ([k, v, c]) => isMember(v as Value, c as Value, k as Value)),

  define("plus", "number, number -> number", (args) => add(...numbers(args))),
  define("minus", "number|<any>, number|<any> -> number|<any>", (args) => {
    const [a, b] = args as readonly [Value, Value];
    if (isNumber(a) && isNumber(b)) return subtract(...numbers(args));
    if (a instanceof RegoSet && b instanceof RegoSet) return RegoSet.of(a.sorted().filter((item) => !b.has(item)));
    throw operandError(2, b, isNumber(a) ? "number" : "set");
  }),
  define("mul", "number, number -> number", (args) => multiply(...numbers(args))),
  define("div", "number, number -> number", (args) => {
    const [a, b] = numbers(args);
    if (b === 0) throw new BuiltinError("divide by zero");
    return divide(a, b);
  }),
  define("rem", "number, number -> number", (args) => {
    const [a, b] = numbers(args);
    if (b === 0) throw new BuiltinError("modulo by zero");
    const rest = remainder(a, b);
    if (rest === undefined) throw new BuiltinError("modulo on floating-point number");
    return rest;
  }),
  unary("abs", (n) => (compareNumbers(n, 0) < 0 ? negate(n) : n)),
  unary("round", roundHalfAway),
  unary("ceil", ceiling),
  unary("floor", floor),

  define("and", "<any>, <any> -> <any>", ([a, b]) =>
    RegoSet.of((a as RegoSet).sorted().filter((item) => (b as RegoSet).has(item))),
  ),
  define("or", "<any>, <any> -> <any>", ([a, b]) => {
    const out = RegoSet.of((a as RegoSet).sorted());
    for (const item of (b as RegoSet).sorted()) out.add(item);
    return out;
  }),

  bitwise("bits.and", (a, b) => a & b),
  bitwise("bits.or", (a, b) => a | b),
  bitwise("bits.xor", (a, b) => a ^ b),
  define("bits.negate", "number -> number", ([a]) => fromBigInt(~integer(a as Value, 1))),
  define("bits.lsh", "number, number -> number", ([a, b]) => {
    const n = integer(a as Value, 1);
    const by = shiftBy(b as Value);
    if (n === 0n) return 0;
    allowBits(by > 1_000_000_000n ? Number.POSITIVE_INFINITY : Number(by) + n.toString(16).length * 4);
    return fromBigInt(n << by);
  }),
  define("bits.rsh", "number, number -> number", ([a, b]) => {
    const n = integer(a as Value, 1);
    const by = shiftBy(b as Value);
    return fromBigInt(by > 10_000_000n ? (n < 0n ? -1n : 0n) : n >> by);
  }),

  define("numbers.range", "number, number -> [number]", ([a, b]) => range(integer(a as Value, 1), integer(b as Value, 2), 1n)),
  define("numbers.range_step", "number, number, number -> [number]", ([a, b, s]) => {
    const by = integer(s as Value, 3);
    if (by <= 0n) throw new BuiltinError("step must be a positive integer");
    return range(integer(a as Value, 1), integer(b as Value, 2), by);
  }),
];

function range(from: bigint, to: bigint, by: bigint): Value {
  const up = from <= to;
  const count = (up ? to - from : from - to) / by + 1n;
  allocate(count > 1_000_000_000n ? Number.POSITIVE_INFINITY : Number(count));
  const out: Value[] = [];
  for (let n = from; up ? n <= to : n >= to; n = up ? n + by : n - by) out.push(fromBigInt(n));
  return out;
}
