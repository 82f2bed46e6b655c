import { equal, isArray, RegoSet, type Value } from "../value/value.ts";
import { type Builtin, define, operandError } from "./builtin.ts";
import { networkBuiltins } from "./network.ts";
import { regexBuiltins } from "./regex.ts";

/** The elements of an array or a set. */
function elements(value: Value | undefined): readonly Value[] {
  return value instanceof RegoSet ? value.sorted() : (value as readonly Value[]);
}

function renamed(name: string, builtin: Builtin | undefined): readonly Builtin[] {
  return builtin === undefined ? [] : [{ ...builtin, name }];
}

/** What v0 may call and v1 refuses. */
export const deprecatedBuiltins: readonly Builtin[] = [
  define("any", "[any]|<any> -> boolean", ([xs]) => elements(xs).some((x) => x === true)),
  define("all", "[any]|<any> -> boolean", ([xs]) => elements(xs).every((x) => x === true)),
  define("set_diff", "<any>, <any> -> <any>", ([a, b]) => {
    const out = new RegoSet();
    for (const x of elements(a)) if (!elements(b).some((y) => equal(x, y))) out.add(x);
    return out;
  }),
  define("cast_array", "any -> [any]", ([x]) => {
    if (x instanceof RegoSet) return [...x.sorted()];
    if (isArray(x as Value)) return x;
    throw operandError(1, x as Value, "one of {array, set}");
  }),
  define("cast_set", "any -> <any>", ([x]) => {
    if (x instanceof RegoSet) return x;
    if (!isArray(x as Value)) throw operandError(1, x as Value, "one of {array, set}");
    const out = new RegoSet();
    for (const item of x as readonly Value[]) out.add(item);
    return out;
  }),
  define("cast_string", "string -> string", ([x]) => x),
  define("cast_boolean", "boolean -> boolean", ([x]) => x),
  define("cast_null", "null -> null", ([x]) => x),
  define("cast_object", "{any: any} -> {any: any}", ([x]) => x),
  ...renamed(
    "re_match",
    regexBuiltins.find(({ name }) => name === "regex.match"),
  ),
  ...renamed(
    "net.cidr_overlap",
    networkBuiltins.find(({ name }) => name === "net.cidr_contains"),
  ),
];
