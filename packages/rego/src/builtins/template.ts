import { keyText } from "../value/format.ts";
import { charge } from "../value/meter.ts";
import { numberText } from "../value/number.ts";
import { compareStrings, getKey, isArray, isNumber, isObject, RegoSet, sortedKeys, type Value } from "../value/value.ts";
import { type Builtin, define } from "./builtin.ts";
import { execute } from "./template/execute.ts";
import { type GoValue, JsonNumber } from "./template/literals.ts";
import { parseTemplate } from "./template/parse.ts";

/** A Rego value as OPA hands it to Go: sets are lists, numbers are `json.Number`, null is nil. */
function goValue(value: Value): GoValue {
  charge(1);
  if (isNumber(value)) return new JsonNumber(numberText(value));
  if (value === null) return undefined;
  if (typeof value !== "object") return value;
  if (isArray(value)) return value.map(goValue);
  if (value instanceof RegoSet) return value.sorted().map(goValue);
  if (!isObject(value)) return undefined;
  const entries = sortedKeys(value).map((key) => [keyText(key), goValue(getKey(value, key) as Value)] as const);
  return new Map(entries.sort(([a], [b]) => compareStrings(a, b)));
}

/** Go's text/template over the members of an object. */
export const templateBuiltins: readonly Builtin[] = [
  define("strings.render_template", "string, {string: any} -> string", ([template, variables]) => {
    charge((template as string).length);
    return execute(parseTemplate(template as string), goValue(variables as Value));
  }),
];
