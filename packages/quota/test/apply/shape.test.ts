import { isCoded } from "@seneschal/kernel";
import { describe, expect, test } from "vitest";
import { apply } from "../../src/apply/apply.ts";
import { INVENTORY, REQUEST } from "../../src/arbitraries/index.ts";
import type { Command } from "../../src/command.ts";
import { encodeState } from "../../src/state/encoding.ts";
import { Scenario } from "../scenario.ts";

const about = { id: "c", by: "root" };
/** One command of every kind, whole. */
const COMMANDS: readonly Command[] = [
  { ...about, kind: "tenant.create", tenant: "new", settings: { maxNodes: 4, maxGpus: { a100: 2 } } },
  { ...about, kind: "tenant.update", tenant: "org", settings: { maxNodes: 3 } },
  { ...about, kind: "system.update", sensitivePoolSize: 1 },
  { ...about, kind: "node.register", node: "n9", inventory: INVENTORY, agent: "agent-1" },
  { ...about, kind: "node.operate", node: "n0", verb: "fail" },
  { ...about, kind: "node.heartbeats", beats: [["n0", 2000]] },
  { ...about, kind: "node.claim", node: "n1", tenant: "org" },
  { ...about, kind: "node.release", node: "n1", asAdmin: true },
  {
    ...about,
    kind: "allocation.submit",
    allocation: "a9",
    request: { ...REQUEST, tenant: "org" },
    createTenant: { maxNodes: 1 },
  },
  { ...about, kind: "allocation.assign", allocation: "a1", nodes: ["n1"], to: "running", expected: { nodes: [1] } },
  { ...about, kind: "allocation.move", allocation: "a0", to: "completed", exitCode: 0 },
  { ...about, kind: "allocation.reasons", reasons: [["a1", "waits"]] },
  { ...about, kind: "allocation.preempt", victims: [{ allocation: "a0", version: 2 }], for: "a1" },
  { ...about, kind: "allocation.prune", allocations: ["a0"] },
  {
    ...about,
    kind: "budget.record",
    crossings: [
      {
        tenant: "org",
        metric: "gpu_hours",
        level: "warning",
        used: 1,
        budget: 1,
        fraction: 1,
        periodStart: 0,
        periodEnd: 1,
        source: "ledger",
      },
    ],
  },
  { ...about, kind: "event.delivered", through: 1 },
  { ...about, kind: "accounting.record", answers: [{ tenant: "org", remaining: { gpuHours: 1, nodeHours: null } }] },
  { ...about, kind: "audit.archive", through: 1 },
  { ...about, kind: "answer.keep", answer: { taker: "a" } },
  { ...about, kind: "state.restore", backup: "00", part: 0, parts: 2, text: "{" },
];

const INSTEAD: readonly unknown[] = [undefined, null, 0, "", "x", true, [], [null], {}];

/** The command with each of its parts, at any depth, left out or replaced by something else. */
function* damaged(value: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (key === "kind") continue;
    const put = (by: unknown): unknown => {
      if (Array.isArray(value)) return value.with(Number(key), by);
      const { [key]: _, ...rest } = value as Readonly<Record<string, unknown>>;
      return by === undefined ? rest : { ...rest, [key]: by };
    };
    for (const by of INSTEAD) yield put(by);
    for (const inner of damaged(part)) yield put(inner);
  }
}

describe("a command with a part missing or of another kind is refused or carried out, never thrown", () => {
  const scenario = new Scenario();
  scenario.tenant("org", { maxNodes: 4 });
  for (const node of ["n0", "n1"]) scenario.ok({ kind: "node.register", node, inventory: INVENTORY, agent: "agent-1" });
  scenario.submit("a0", { tenant: "org" }).assign("a0", "n0").submit("a1", { tenant: "org" });
  const before = Buffer.from(encodeState(scenario.state)).toString("hex");

  test.each(COMMANDS.map((command) => [command.kind, command] as const))("%s", (_, command) => {
    let refused = 0;
    for (const one of damaged(command)) {
      try {
        const outcome = apply(scenario.state, one as Command, scenario.at + 1);
        if (!outcome.ok) refused++;
      } catch (error) {
        if (!isCoded(error)) throw new Error(`${JSON.stringify(one)}: ${error instanceof Error ? error.stack : String(error)}`);
      }
    }
    expect(refused > 0 || command.kind === "system.update").toBe(true);
    expect(Buffer.from(encodeState(scenario.state)).toString("hex")).toBe(before);
  });
});
