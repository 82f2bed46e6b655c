/**
 * `npm run table-quota-growth`: prints, as the table of docs/scheduler.md, how the cost of the scheduler's pure core grows with the
 * cluster: processor time of one cycle, of one decision, and of encoding the state. The last row is the slope of a log-log line:
 * 1 is linear, 0 is constant.
 */
import { encodeState, plan, type QuotaState } from "@seneschal/quota";
import { exponentOf, type Point, processorTime } from "../bench/growth.ts";
import { built, must, nodeId, queue, REQUEST } from "../bench/quota-states.ts";

const NODES = [1000, 3000, 10_000, 30_000, 100_000];
const DECISIONS = 3000;

/** Milliseconds of processor time, the least of three runs after one that warms up. */
function spent(work: () => void): number {
  work();
  return Math.min(processorTime(work), processorTime(work), processorTime(work));
}

/** Submits, assigns and completes allocations of one node. */
function decide(from: QuotaState): void {
  let state = from;
  for (let i = 0; i < DECISIONS / 3; i++) {
    const allocation = `d${i}`;
    state = must(state, { kind: "allocation.submit", id: `x${i}`, by: "bench", allocation, request: REQUEST }, 9000);
    const nodes = [nodeId(i % 1000)];
    state = must(
      state,
      { kind: "allocation.assign", id: `y${i}`, by: "bench", allocation, nodes, to: "running", expected: {} },
      9000,
    );
    state = must(state, { kind: "allocation.move", id: `z${i}`, by: "bench", allocation, to: "completed" }, 9000);
  }
}

const columns = NODES.map((nodes) => {
  const idle = queue(built(nodes, 20), nodes / 10, 0);
  return {
    nodes,
    cycle: spent(() => plan(idle, 3_600_000)),
    decisions: spent(() => decide(idle)),
    encode: spent(() => encodeState(idle)),
  };
});
const exponent = (of: (column: (typeof columns)[number]) => number): string => {
  const points: Point[] = columns.map((column) => ({ size: column.nodes, ms: of(column) }));
  return exponentOf(points)?.toFixed(2) ?? "-";
};
console.log("| nodes | waiting | one cycle, ms | one decision, us | encoding the state, ms |");
console.log("|---|---|---|---|---|");
for (const { nodes, cycle, decisions, encode } of columns)
  console.log(
    `| ${nodes.toLocaleString("en")} | ${(nodes / 10).toLocaleString("en")} | ${cycle.toFixed(0)} | ${((decisions * 1000) / DECISIONS).toFixed(1)} | ${encode.toFixed(0)} |`,
  );
console.log(
  `| slope | | ${exponent(({ cycle }) => cycle)} | ${exponent(({ decisions }) => decisions)} | ${exponent(({ encode }) => encode)} |`,
);
