import fc from "fast-check";
import { expect, test } from "vitest";
import { applyLineageDiff, DEFAULT_TIERS, LineageGraph, lineageDiff, lineageSnapshot } from "../src/index.ts";

const name = fc.constantFrom("a", "b", "c", "d", "__proto__");
const tags = fc.subarray(["PII", "PHI", "SSN"]);
const direct = fc.record({ tier: fc.constantFrom(...DEFAULT_TIERS), tags });
const columns = fc.dictionary(
  fc.constantFrom("x", "y", "__proto__"),
  fc.record({ type: fc.constantFrom("int", "text"), direct }, { requiredKeys: [] }),
);
const link = fc.record({
  source: name,
  target: name,
  operation: fc.constantFrom("ETL", "COPY"),
  masking: fc.boolean(),
  columns: fc.array(
    fc.record({
      from: fc.constant("x"),
      to: fc.constant("y"),
      type: fc.constant("DIRECT" as const),
      subtype: fc.constant("IDENTITY"),
      masking: fc.boolean(),
    }),
    { maxLength: 2 },
  ),
});
const step = fc.oneof(
  fc.record({ kind: fc.constant("declare" as const), id: name, direct, columns, owners: fc.subarray(["ada", "bob"]) }),
  fc.record({ kind: fc.constant("undeclare" as const), id: name }),
  fc.record({ kind: fc.constant("remove" as const), id: name }),
  fc.record({ kind: fc.constant("job" as const), job: fc.constantFrom("j", "k"), links: fc.array(link, { maxLength: 4 }) }),
  fc.record({ kind: fc.constant("block" as const), source: name, target: name, blocked: fc.boolean() }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

function play(graph: LineageGraph, steps: readonly Step[], from = 0): void {
  for (const [i, s] of steps.entries()) {
    if (s.kind === "declare") graph.declare(s, from + i);
    else if (s.kind === "undeclare") graph.undeclare(s.id, from + i);
    else if (s.kind === "remove") graph.remove(s.id);
    else if (s.kind === "job") graph.setJobLinks(s.job, s.links, from + i);
    else graph.setBlocked(s.source, s.target, s.blocked);
  }
}

test("of a graph and itself there is no difference, and the difference of two makes the second of the first", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), fc.array(step, { maxLength: 12 }), (before, between) => {
      const graph = new LineageGraph();
      play(graph, before);
      const a = lineageSnapshot(graph);
      play(graph, between, before.length);
      const b = lineageSnapshot(graph);
      for (const [from, to] of [
        [a, b],
        [b, a],
      ] as const) {
        expect(applyLineageDiff(from, lineageDiff(from, to))).toEqual(to);
        const none = { added: [], removed: [], changed: [] };
        expect(lineageDiff(from, from)).toEqual({ resources: none, columns: new Map(), edges: none });
      }
      // Nothing is told that is as it was.
      const { resources, edges } = lineageDiff(a, b);
      for (const { from, to } of [...resources.changed, ...edges.changed]) expect(from).not.toEqual(to);
      expect(resources.added.every(({ id }) => !a.resources.has(id) && b.resources.has(id))).toBe(true);
    }),
  );
});
