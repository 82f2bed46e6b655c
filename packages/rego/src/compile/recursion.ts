import type { Report, RuleNode, RuleSet } from "./tree.ts";

/** Reports every rule that reads itself, and returns the sets so that each comes after those it reads. */
export function checkRecursion(
  sets: readonly RuleSet[],
  reads: ReadonlyMap<RuleSet, ReadonlySet<RuleNode>>,
  report: Report,
): readonly RuleSet[] {
  const successors = (set: RuleSet): RuleSet[] => {
    const out = new Set<RuleSet>();
    for (const node of reads.get(set) ?? []) {
      for (const below of node.subtree()) if (below.rules !== undefined) out.add(below.rules);
    }
    if (set.kind === "object") {
      for (const below of set.node.subtree()) if (below !== set.node && below.rules !== undefined) out.add(below.rules);
    }
    return [...out];
  };
  const sorted: RuleSet[] = [];
  const state = new Map<RuleSet, "open" | "done">();
  for (const start of sets) {
    if (state.has(start)) continue;
    const stack: { set: RuleSet; next: RuleSet[] }[] = [{ set: start, next: successors(start) }];
    state.set(start, "open");
    while (stack.length > 0) {
      const top = stack[stack.length - 1] as (typeof stack)[number];
      const next = top.next.pop();
      if (next === undefined) {
        state.set(top.set, "done");
        sorted.push(top.set);
        stack.pop();
      } else if (state.get(next) === "open") {
        const from = stack.findIndex(({ set }) => set === next);
        const cycle = [...stack.slice(from).map(({ set }) => set.name), next.name].join(" -> ");
        for (const { set } of stack.slice(from)) {
          for (const { rule, module } of set.rules.slice(0, 1)) {
            report("rego_recursion_error", `rule ${set.name} is recursive: ${cycle}`, module.name, rule.loc);
          }
        }
      } else if (!state.has(next)) {
        state.set(next, "open");
        stack.push({ set: next, next: successors(next) });
      }
    }
  }
  return sorted;
}
