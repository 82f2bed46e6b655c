import type { Arrange } from "./emit.ts";
import type { Callee, Statement, Variable } from "./ir.ts";
import { order } from "./order.ts";
import type { Report } from "./tree.ts";

/** Orders bodies; reports what nothing binds and has the ordered ones inspected, for types. */
export function arranging(
  arity: (callee: Callee) => number,
  report: Report,
  inspect: (file: string, ordered: readonly Statement[]) => void,
): Arrange {
  return (statements, file, checked) => {
    const { ordered, unsafe, bound } = order(statements, (action) => arity(action.callee));
    for (const [statement, needs] of unsafe) reportUnsafe(statement, needs, file, report);
    if (unsafe.length > 0) return undefined;
    if (checked) inspect(file, ordered);
    // emission binds again, literal by literal
    for (const v of bound) v.bound = false;
    return ordered;
  };
}

function reportUnsafe(statement: Statement, needs: readonly Variable[], file: string, report: Report): void {
  for (const v of needs) {
    if (v.bound) continue;
    if (v.generated && v.name === "_" && needs.some((n) => !n.generated && !n.bound)) continue;
    report("rego_unsafe_var_error", `var ${v.name} is unsafe`, file, statement.loc);
  }
}
