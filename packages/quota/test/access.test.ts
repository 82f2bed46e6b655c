import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Caller, judgeReport, ROLES, reachesTenant, seesAll, seesAllocation } from "../src/access.ts";
import { apply } from "../src/apply/apply.ts";
import { anyHistory, INVENTORY } from "../src/arbitraries/index.ts";
import { ALLOCATION_STATES, isTerminal } from "../src/state/allocation.ts";
import { emptyState, type QuotaState } from "../src/state/state.ts";
import { Scenario } from "./scenario.ts";

const states = anyHistory(40).map((history) => {
  let state: QuotaState = emptyState();
  for (const { command, at } of history) state = apply(state, command, at).state ?? state;
  return state;
});
const callers: fc.Arbitrary<Caller> = fc.record({
  id: fc.constantFrom("ada", "bob", "agent-1", "agent-2", "root"),
  org: fc.constantFrom("", "org", "physics", "chemistry", "biology"),
  roles: fc.subarray([...ROLES, "guest"]),
});
/** The tenant and those above it. */
function lineOf(state: QuotaState, tenant: string): readonly string[] {
  const parent = state.tenants.get(tenant)?.parent ?? null;
  return [tenant, ...(parent === null ? [] : lineOf(state, parent))];
}

test("a tenant is reached by who sees all, from within, and by an administrator of one above it; no tenant is reached from none", () => {
  fc.assert(
    fc.property(states, callers, (state, caller) => {
      for (const tenant of [...state.tenants.keys(), "unknown"]) {
        const within = caller.org !== "" && caller.org === tenant;
        const above = caller.org !== "" && caller.roles.includes("tenant-admin") && lineOf(state, tenant).includes(caller.org);
        expect(reachesTenant(state, caller, tenant)).toBe(seesAll(caller) || within || above);
      }
    }),
  );
});

test("work is seen by its user, the administrators of its tenant and above, the agent of a node that it runs on, and who administers the system; by nobody without a role", () => {
  fc.assert(
    fc.property(states, callers, (state, caller) => {
      const is = (role: string) => caller.roles.includes(role);
      for (const allocation of state.allocations.values()) {
        const own = is("user") && allocation.user === caller.id && allocation.tenant === caller.org;
        const here = is("agent") && allocation.assigned.some((id) => state.nodes.get(id)?.agent === caller.id);
        const tenants = is("tenant-admin") && reachesTenant(state, caller, allocation.tenant);
        expect(seesAllocation(state, caller, allocation)).toBe(is("system-admin") || own || here || tenants);
        expect(seesAllocation(state, { ...caller, roles: ["guest", "accounting", "auditor"] }, allocation)).toBe(false);
      }
    }),
  );
});

test("what an agent says of work that its nodes let go of moves nothing: it was so, its attempt is over, or it is refused", () => {
  const s = new Scenario().tenant("physics", { maxNodes: 9 }).nodes(2).submit("a");
  s.ok({ kind: "node.register", node: "other", inventory: INVENTORY, agent: "agent-2" });
  const nodes = fc.subarray([...s.state.nodes.keys()]);
  const exitCode = fc.constantFrom(undefined, 0, 1);
  const said = fc.record({ to: fc.constantFrom(...ALLOCATION_STATES), exitCode, keyed: fc.boolean() });
  const work = fc
    .record({
      state: fc.constantFrom(...ALLOCATION_STATES),
      assigned: fc.oneof(fc.constant([]), nodes),
      lastAssigned: nodes,
      exitCode: exitCode.map((code) => code ?? null),
    })
    .map((known) => ({ ...s.allocation("a"), ...known }));
  fc.assert(
    fc.property(work, callers, said, (allocation, caller, report) => {
      expect(judgeReport(s.state, caller, undefined, report)).toBe("move");
      const on = (of: readonly string[]) =>
        caller.roles.includes("agent") && of.some((id) => s.state.nodes.get(id)?.agent === caller.id);
      let judged: string;
      try {
        judged = judgeReport(s.state, caller, allocation, report);
      } catch (error) {
        if (!isCoded(error, "invalid_transition")) throw error;
        judged = "refused";
      }
      const over = isTerminal(allocation.state);
      const same = allocation.state === report.to && [undefined, allocation.exitCode].includes(report.exitCode);
      if (!on(allocation.lastAssigned) || on(allocation.assigned)) expect(judged).toBe("move");
      else if (over && report.keyed) expect(judged).toBe("repeat");
      else expect(judged).toBe(same || (!over && report.to !== "completed") ? "done" : "refused");
    }),
  );
});
