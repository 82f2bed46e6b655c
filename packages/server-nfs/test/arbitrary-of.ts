import fc from "fast-check";
import type { Shape, ValueOf, Xdr } from "../src/xdr/types.ts";

/** Values of a type, small ones. */
export function arbitraryOf<X extends Xdr<unknown>>(type: X): fc.Arbitrary<ValueOf<X>> {
  return valuesOf(type) as fc.Arbitrary<ValueOf<X>>;
}

function valuesOf(shape: Shape): fc.Arbitrary<unknown> {
  const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength });
  switch (shape.kind) {
    case "unsigned":
      return fc.oneof(fc.nat(10), fc.integer({ min: 0, max: 0xffffffff }));
    case "hyper":
      return fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
    case "boolean":
      return fc.boolean();
    case "enumeration":
      return fc.constantFrom(...shape.names);
    case "fixed":
      return bytes(shape.length, shape.length);
    case "opaque":
      return fc.oneof(bytes(0, Math.min(shape.max, 9)), bytes(Math.min(shape.max, 4090), Math.min(shape.max, 4100)));
    case "array":
    case "list":
      return fc.array(valuesOf(shape.item), { maxLength: Math.min(shape.max, 4) });
    case "optional":
      return fc.option(valuesOf(shape.item), { nil: undefined });
    case "struct":
      return fc.record(Object.fromEntries(shape.fields.map(([name, field]) => [name, valuesOf(field)])));
    case "choice":
      return fc.oneof(...shape.arms.map(([kind, , arm]) => fc.record({ kind: fc.constant(kind), value: valuesOf(arm) })));
    case "result":
      return fc.oneof(
        fc.record({ status: fc.constant(0), value: valuesOf(shape.ok) }),
        fc.record({ status: fc.integer({ min: 1, max: 0xffffffff }), failure: valuesOf(shape.failed) }),
      );
    case "nothing":
      return fc.constant(undefined);
    default:
      return shape satisfies never;
  }
}
