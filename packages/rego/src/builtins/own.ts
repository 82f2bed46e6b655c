import { EvaluationError } from "../errors.ts";
import { setOwn } from "../value/json.ts";
import { tick } from "../value/meter.ts";
import { Decimal, fromBigInt } from "../value/number.ts";
import { getKey, RegoObject, RegoSet, sortedKeys, typeName, type Value } from "../value/value.ts";
import type { Builtin, Type } from "./builtin.ts";

/**
 * An own builtin, of which nothing is believed: it gets copies, and what it gives is copied and judged by the type that it declares. What is no such value ends the
 * evaluation; as undefined it would be what `not` makes true.
 */
export function guarded(builtin: Builtin): Builtin {
  const { name, result, run } = builtin;
  const fail = (): never => {
    throw new EvaluationError("eval_builtin_error", `${name}: gives what is no value of its declared type`);
  };
  return {
    ...builtin,
    run: (args, context) => {
      const given = run(
        args.map((value) => copyOf(value, fail)),
        context,
      );
      if (given === undefined) return undefined;
      const value = copyOf(given, fail);
      return isOf(value, result) ? value : fail();
    },
  };
}

/** The same value, of nothing that another may change. Fails for what is none. */
function copyOf(given: unknown, fail: () => never): Value {
  tick();
  switch (typeof given) {
    case "boolean":
    case "string":
      return given;
    case "number":
      return Number.isFinite(given) ? given : fail();
    case "bigint":
      return fromBigInt(given);
    case "object":
      break;
    default:
      return fail();
  }
  if (given === null) return null;
  if (given instanceof Decimal) return new Decimal(given.mantissa, given.exponent);
  const copy = (value: unknown): Value => copyOf(value, fail);
  if (Array.isArray(given)) return Array.from(given, copy);
  if (given instanceof RegoSet) return RegoSet.of(given.sorted().map(copy));
  if (given instanceof RegoObject)
    return RegoObject.of(given.sorted().map((key) => [copy(key), copy(getKey(given, key))] as const));
  const prototype: object | null = Object.getPrototypeOf(given);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return fail();
  const object: Record<string, Value> = {};
  for (const [key, value] of Object.entries(given)) setOwn(object, key, copy(value));
  return object;
}

function isOf(value: Value, type: Type): boolean {
  const own = typeName(value);
  if (type.kind === "any") return type.of.length === 0 || type.of.some((one) => isOf(value, one));
  if (own !== type.kind) return false;
  if (type.kind === "array") {
    const { items, rest } = type;
    const list = value as readonly Value[];
    return (
      list.length >= items.length &&
      list.every((item, i) => {
        const of = items[i] ?? rest;
        return of !== undefined && isOf(item, of);
      })
    );
  }
  if (type.kind === "set") return (value as RegoSet).sorted().every((item) => isOf(item, type.of));
  if (type.kind !== "object") return true;
  const { fields, rest } = type;
  const object = value as RegoObject;
  return (
    fields.every(({ key }) => getKey(object, key) !== undefined) &&
    sortedKeys(object).every((key) => {
      const at = getKey(object, key) as Value;
      const field = fields.find((one) => one.key === key);
      if (field !== undefined) return isOf(at, field.value);
      return rest !== undefined && isOf(key, rest.key) && isOf(at, rest.value);
    })
  );
}
