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
  const told = new Set<RuleSet>();
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
        const members = stack.slice(from).map(({ set }) => set);
        const news = members.filter((set) => !told.has(set));
        const cycle = news.length === 0 ? "" : named([...members, next]);
        for (const set of news) {
          told.add(set);
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

/** Of a long cycle both ends. */
function named(cycle: readonly RuleSet[]): string {
  const names = cycle.map(({ name }) => name);
  const ends = names.length > 20 ? [...names.slice(0, 10), `(${names.length - 20} more)`, ...names.slice(-10)] : names;
  return ends.join(" -> ");
}
