import { BuiltinError } from "../errors.ts";
import { allocate, allowBits, allowDigits, charge, tick } from "../value/meter.ts";
import { add, multiply, type Num, parseNumber } from "../value/number.ts";
import {
  compare,
  equal,
  getKey,
  isArray,
  isNumber,
  isObject,
  lookup,
  objectSize,
  type PlainObject,
  RegoObject,
  RegoSet,
  sortedKeys,
  type TypeName,
  typeName,
  type Value,
} from "../value/value.ts";
import { type Builtin, define, operandError } from "./builtin.ts";

type AnyObject = PlainObject | RegoObject;

function items(value: Value): readonly Value[] {
  return isArray(value) ? value : (value as RegoSet).sorted();
}

/** An element of the wrong type, in OPA's words. */
export function elementError(position: number, collection: Value, element: Value, expected: string): BuiltinError {
  return new BuiltinError(
    `operand ${position} must be ${typeName(collection)} of ${expected}s but got ${typeName(collection)} containing ${typeName(element)}`,
    "eval_type_error",
  );
}

function fold(value: Value, start: Num, combine: (a: Num, b: Num) => Num): Num {
  let out = start;
  for (const item of items(value)) {
    tick();
    if (!isNumber(item)) throw elementError(1, value, item, "number");
    if (typeof out !== "number" || typeof item !== "number") allowBits(bits(out) + bits(item));
    out = combine(out, item);
  }
  return out;
}

function bits(n: Num): number {
  return typeof n === "bigint" ? n.toString(16).length * 4 : 64;
}

function keySet(value: Value): RegoSet {
  return isObject(value) ? RegoSet.of(sortedKeys(value)) : RegoSet.of(items(value));
}

function union(a: Value, b: Value): Value {
  tick();
  if (!isObject(a) || !isObject(b)) return b;
  const out = new RegoObject();
  for (const key of sortedKeys(a)) {
    const other = getKey(b, key);
    const own = getKey(a, key) as Value;
    out.set(key, other === undefined ? own : union(own, other));
  }
  for (const key of sortedKeys(b)) if (getKey(a, key) === undefined) out.set(key, getKey(b, key) as Value);
  return out;
}

function subset(sup: Value, sub: Value): boolean {
  tick();
  if (isObject(sup) && isObject(sub)) {
    return sortedKeys(sub).every((key) => {
      const own = getKey(sup, key);
      const other = getKey(sub, key) as Value;
      if (own === undefined) return false;
      if (
        (isObject(own) && isObject(other)) ||
        (own instanceof RegoSet && other instanceof RegoSet) ||
        (isArray(own) && isArray(other))
      ) {
        return subset(own, other);
      }
      return equal(own, other);
    });
  }
  if (sup instanceof RegoSet && sub instanceof RegoSet) return sub.sorted().every((item) => sup.has(item));
  if (isArray(sup) && isArray(sub)) {
    for (let start = 0; start + sub.length <= sup.length; start++) {
      charge(sub.length);
      if (sub.every((item, i) => equal(sup[start + i] as Value, item))) return true;
    }
    return sub.length === 0;
  }
  if (isArray(sup) && sub instanceof RegoSet) {
    const have = RegoSet.of(sup);
    // as in OPA, an array without elements holds no set, not even the empty one
    return sup.length > 0 && sub.sorted().every((item) => have.has(item));
  }
  throw new BuiltinError("both arguments object.subset must be of the same type or array and set", "eval_builtin_error");
}

function typeTest(name: string, type: TypeName): Builtin {
  return define(name, "any -> boolean", ([x]) => typeName(x as Value) === type);
}

function extreme(name: string, better: (order: number) => boolean): Builtin {
  return define(name, "<any>|[any] -> any", ([x]) => {
    let best: Value | undefined;
    const list = items(x as Value);
    // OPA's minimum of a set passes over null
    charge(list.length >> 2);
    const from = name === "min" && x instanceof RegoSet && list.length > 1 && list[0] === null ? 1 : 0;
    for (const item of list.slice(from)) if (best === undefined || better(compare(item, best))) best = item;
    return best;
  });
}

function neighbours(graph: AnyObject, node: Value): readonly Value[] {
  const edges = getKey(graph, node);
  if (edges === undefined || (!isArray(edges) && !(edges instanceof RegoSet))) return [];
  return items(edges);
}

function allSets(value: RegoSet): readonly RegoSet[] {
  return value.sorted().map((item) => {
    if (!(item instanceof RegoSet)) throw elementError(1, value, item, "set");
    return item;
  });
}

/** Aggregates, arrays, sets, objects, graphs and types. */
export const collectionBuiltins: readonly Builtin[] = [
  define("count", "[any]|{}|<any>|string -> number", ([x]) => {
    if (typeof x === "string") {
      charge(x.length >> 4);
      return codePoints(x);
    }
    const v = x as Value;
    return isArray(v) ? v.length : v instanceof RegoSet ? v.size : objectSize(v as AnyObject);
  }),
  define("sum", "<number>|[number] -> number", ([x]) => fold(x as Value, 0, add)),
  define("product", "<number>|[number] -> number", ([x]) => fold(x as Value, 1, multiply)),
  extreme("max", (order) => order >= 0),
  extreme("min", (order) => order < 0),
  define("sort", "<any>|[any] -> [any]", ([x]) => {
    const list = items(x as Value);
    allocate(list.length);
    charge(list.length);
    return [...list].sort(compare);
  }),

  define("array.concat", "[any], [any] -> [any]", ([a, b]) => {
    const [x, y] = [a as readonly Value[], b as readonly Value[]];
    allocate(x.length + y.length);
    return [...x, ...y];
  }),
  define("array.slice", "[any], number, number -> [any]", ([a, from, to]) => {
    const list = a as readonly Value[];
    const start = Math.max(0, whole(from as Value, 2));
    const stop = Math.min(list.length, whole(to as Value, 3));
    if (stop <= start) return [];
    allocate(stop - start);
    return list.slice(start, stop);
  }),
  define("array.reverse", "[any] -> [any]", ([a]) => {
    const list = a as readonly Value[];
    allocate(list.length);
    return list.toReversed();
  }),
  define("array.flatten", "[any] -> [any]", ([a]) => {
    const out: Value[] = [];
    for (const item of a as readonly Value[]) {
      allocate(isArray(item) ? item.length : 1);
      if (isArray(item)) for (const inner of item) out.push(inner);
      else out.push(item);
    }
    return out;
  }),

  define("intersection", "<<any>> -> <any>", ([x]) => {
    const [first, ...rest] = allSets(x as RegoSet);
    if (first === undefined) return new RegoSet();
    return RegoSet.of(first.sorted().filter((item) => rest.every((set) => set.has(item))));
  }),
  define("union", "<<any>> -> <any>", ([x]) => {
    const out = new RegoSet();
    for (const set of allSets(x as RegoSet)) for (const item of set.sorted()) out.add(item);
    return out;
  }),

  define("object.get", "{}, any, any -> any", ([o, key, fallback]) => {
    const object = o as Value;
    const path = key as Value;
    let at: Value | undefined = object;
    for (const part of isArray(path) ? path : [path]) {
      at = at instanceof RegoSet ? undefined : lookup(at, part);
      if (at === undefined) return fallback;
    }
    return at;
  }),
  define("object.keys", "{} -> <any>", ([o]) => RegoSet.of(sortedKeys(o as AnyObject))),
  define("object.union", "{}, {} -> any", ([a, b]) => union(a as Value, b as Value)),
  define("object.union_n", "[{}] -> any", ([list]) => {
    let out: Value = new RegoObject();
    for (const item of list as readonly Value[]) {
      if (!isObject(item)) throw elementError(1, list as Value, item, "object");
      out = union(out, item);
    }
    return out;
  }),
  define("object.remove", "{}, {}|<any>|[any] -> any", ([o, keys]) => {
    const gone = keySet(keys as Value);
    const object = o as AnyObject;
    return RegoObject.of(
      sortedKeys(object).flatMap((key) => (gone.has(key) ? [] : [[key, getKey(object, key) as Value] as const])),
    );
  }),
  define("object.filter", "{}, {}|<any>|[any] -> any", ([o, keys]) => {
    const kept = keySet(keys as Value);
    const object = o as AnyObject;
    return RegoObject.of(
      sortedKeys(object).flatMap((key) => (kept.has(key) ? [[key, getKey(object, key) as Value] as const] : [])),
    );
  }),
  define("object.subset", "{}|<any>|[any], {}|<any>|[any] -> any", ([a, b]) => subset(a as Value, b as Value)),

  define("graph.reachable", "{}, [any]|<any> -> <any>", ([g, initial]) => {
    const graph = g as AnyObject;
    const reached = new RegoSet();
    const queue = [...items(initial as Value)];
    for (let node = queue.shift(); node !== undefined; node = queue.shift()) {
      tick();
      if (reached.has(node) || getKey(graph, node) === undefined) continue;
      reached.add(node);
      queue.push(...neighbours(graph, node));
    }
    return reached;
  }),
  define("graph.reachable_paths", "{}, [any]|<any> -> <[any]>", ([g, initial]) => {
    const graph = g as AnyObject;
    const out = new RegoSet();
    // as OPA does, what one neighbour's paths have reached is not visited again, and its ends add up
    const visit = (node: Value, path: readonly Value[], reached: RegoSet): void => {
      tick();
      if (path.length > 500) charge(Number.MAX_SAFE_INTEGER);
      if (getKey(graph, node) === undefined) {
        out.add(path);
        return;
      }
      allocate(path.length + 1);
      charge(2 * path.length);
      const longer = [...path, node];
      const edges = neighbours(graph, node);
      if (edges.length === 0) out.add(longer);
      let ends: readonly Value[] = [];
      for (const next of edges) {
        if (reached.has(next)) {
          allocate(ends.length + longer.length);
          // Copied here, then hashed element by element when it becomes a member.
          charge(2 * (ends.length + longer.length));
          ends = [...ends, ...longer];
          out.add(ends);
        } else {
          reached.add(node);
          visit(next, longer, reached);
        }
      }
    };
    for (const start of items(initial as Value)) {
      if (getKey(graph, start) === undefined) continue;
      const edges = neighbours(graph, start);
      if (edges.length === 0) out.add([start]);
      for (const next of edges) visit(next, [start], RegoSet.of([start]));
    }
    return out;
  }),

  define("type_name", "any -> string", ([x]) => typeName(x as Value)),
  typeTest("is_array", "array"),
  typeTest("is_boolean", "boolean"),
  typeTest("is_null", "null"),
  typeTest("is_number", "number"),
  typeTest("is_object", "object"),
  typeTest("is_set", "set"),
  typeTest("is_string", "string"),
  define("to_number", "number|string|boolean|null -> number", ([x]) => {
    if (x === null) return 0;
    if (typeof x === "boolean") return x ? 1 : 0;
    if (typeof x !== "string") return x as Value;
    if (/^[+-]*(inf|infinity|nan)$/i.test(x)) throw operandError(1, x, "valid number string");
    if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(x) || x.startsWith("+")) throw new BuiltinError("invalid syntax");
    allowDigits(x.length);
    const number = parseNumber(x);
    if (number === undefined) throw new BuiltinError("invalid syntax");
    return number;
  }),
];

/** An integer operand as a JS number. */
export function whole(value: Value, position: number): number {
  if (typeof value === "bigint" && BigInt.asIntN(64, value) === value) {
    return value > 0n ? Number.MAX_SAFE_INTEGER : Number.MIN_SAFE_INTEGER;
  }
  if (typeof value !== "number" || !Number.isInteger(value)) {
    throw isNumber(value)
      ? new BuiltinError(`operand ${position} must be integer number but got floating-point number`, "eval_type_error")
      : operandError(position, value, "number");
  }
  return value;
}

/** The number of code points. */
export function codePoints(text: string): number {
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff && i + 1 < text.length) {
      const low = text.charCodeAt(i + 1);
      if (low >= 0xdc00 && low <= 0xdfff) i++;
    }
    n++;
  }
  return n;
}
