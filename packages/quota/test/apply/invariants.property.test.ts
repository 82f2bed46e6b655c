import fc from "fast-check";
import { expect, test } from "vitest";
import { apply } from "../../src/apply/apply.ts";
import { auditHash } from "../../src/apply/work.ts";
import type { Command } from "../../src/command.ts";
import { tenantUsage, userUsage } from "../../src/soft/ledger.ts";
import { holdsNodes, isTerminal } from "../../src/state/allocation.ts";
import { decodeState, encodeState, stateHash } from "../../src/state/encoding.ts";
import { holdingOf } from "../../src/state/holdings.ts";
import { ownerOf } from "../../src/state/node.ts";
import { emptyState, type QuotaState } from "../../src/state/state.ts";
import { anyHistory } from "../arbitrary-command.ts";
import { runs } from "../runs.ts";
import { slowGpus, slowHolding, slowUsage } from "../slow-quota.ts";

interface Step {
  readonly command: Command;
  readonly at: number;
}

function stepsOf(history: readonly { command: object; gap: number; id: number }[]): Step[] {
  let at = 1_000_000;
  return history.map(({ command, gap, id }) => {
    at += gap;
    // ids repeat now and then
    return { command: { by: "root", id: `c${id}`, ...command } as Command, at };
  });
}

/** How much a state is over each of its limits. */
function excess(state: QuotaState): Map<string, number> {
  const over = new Map<string, number>();
  for (const t of state.tenants.values()) {
    const held = slowHolding(state, t.id);
    over.set(`${t.id} nodes`, held.reserved - t.maxNodes - (t.parent === null ? 0 : t.borrowingLimit));
    over.set(`${t.id} allocations`, held.allocations - (t.maxConcurrentAllocations ?? Number.POSITIVE_INFINITY));
    for (const [type, limit] of Object.entries(t.maxGpus)) over.set(`${t.id} ${type}`, (held.gpus[type] ?? 0) - limit);
  }
  const claimed = [...state.nodes.values()].filter(({ claim }) => claim !== null).length;
  over.set("pool", claimed - state.system.sensitivePoolSize);
  return over;
}

function checkEvery(state: QuotaState): void {
  const owners = new Map<string, string>();
  for (const a of state.allocations.values()) {
    if (!holdsNodes(a.state)) expect(a.assigned).toEqual([]);
    else expect(a.startedAt).not.toBeNull();
    for (const id of a.assigned) {
      expect(owners.get(id)).toBeUndefined();
      owners.set(id, a.id);
    }
    const open = a.attempts.filter(({ endedAt }) => endedAt === null);
    expect(open.length).toBe(holdsNodes(a.state) ? 1 : 0);
    if (open[0] !== undefined) expect([open[0].nodes, open[0].gpus]).toEqual([a.assigned.length, slowGpus(a)]);
    expect(state.live.has(a.id)).toBe(!isTerminal(a.state));
    expect(a.completedAt !== null).toBe(isTerminal(a.state));
  }
  for (const node of state.nodes.values()) expect(ownerOf(state, node) ?? undefined).toBe(owners.get(node.id));
  for (const t of state.tenants.values()) {
    const slow = slowHolding(state, t.id);
    const fast = holdingOf(state, t.id);
    expect([fast.nodes, fast.allocations, fast.reserved]).toEqual([slow.nodes, slow.allocations, slow.reserved]);
    for (const type of new Set([...Object.keys(slow.gpus), ...Object.keys(fast.gpus)]))
      expect(fast.gpus[type] ?? 0).toBe(slow.gpus[type] ?? 0);
  }
}

test("any history keeps every invariant after every entry", () => {
  fc.assert(
    fc.property(anyHistory(80), (history) => {
      let state = emptyState();
      for (const { command, at } of stepsOf(history)) {
        const before = excess(state);
        const outcome = apply(state, command, at);
        if (!outcome.ok || outcome.repeat) {
          if (outcome.ok) expect(outcome.state).toBe(state);
          continue;
        }
        state = outcome.state;
        checkEvery(state);
        // nothing goes above a limit, and what a reduction left above it never grows
        const edit = command.kind === "tenant.update" || command.kind === "system.update" || command.kind === "tenant.create";
        for (const [limit, over] of excess(state)) {
          if (edit || over <= 0) continue;
          expect({ limit, over: Math.max(0, over) }).toEqual({
            limit,
            over: Math.min(over, Math.max(0, before.get(limit) ?? 0)),
          });
        }
      }
    }),
    runs(150),
  );
});

test("a refused command leaves the state as it was, byte for byte", () => {
  fc.assert(
    fc.property(anyHistory(40), (history) => {
      let state = emptyState();
      for (const { command, at } of stepsOf(history)) {
        const hash = stateHash(state);
        const outcome = apply(state, command, at);
        if (!outcome.ok || outcome.repeat) expect(stateHash(state)).toBe(hash);
        else state = outcome.state;
      }
    }),
    runs(40),
  );
});

test("three replicas that apply the accepted commands are byte-identical; one that starts from a snapshot is too", () => {
  fc.assert(
    fc.property(anyHistory(80), fc.nat(80), (history, cut) => {
      let proposer = emptyState();
      const log: Step[] = [];
      let snapshot = encodeState(proposer);
      let from = 0;
      for (const step of stepsOf(history)) {
        const outcome = apply(proposer, step.command, step.at);
        if (!outcome.ok || outcome.repeat) continue;
        proposer = outcome.state;
        log.push(step);
        if (log.length === cut) {
          snapshot = encodeState(proposer);
          from = cut;
        }
      }
      const replay = (state: QuotaState, entries: readonly Step[]): QuotaState =>
        entries.reduce((s, { command, at }) => {
          const outcome = apply(s, command, at);
          expect(outcome).toMatchObject({ ok: true, repeat: false });
          return outcome.ok ? outcome.state : s;
        }, state);
      const whole = replay(emptyState(), log);
      const late = replay(decodeState(snapshot), log.slice(from));
      const twice = decodeState(encodeState(whole));
      for (const replica of [whole, late, twice]) {
        expect(stateHash(replica)).toBe(stateHash(proposer));
        for (const map of ["holdings", "userHoldings", "live"] as const) {
          const shown = (s: QuotaState) => [...s[map].entries()].filter(([, v]) => JSON.stringify(v) !== ZERO[map]);
          if (map !== "holdings") expect(shown(replica)).toEqual(shown(proposer));
        }
        expect(replica.claimed).toBe(proposer.claimed);
        checkEvery(replica);
      }
    }),
    runs(60),
  );
});

const ZERO = { holdings: "", userHoldings: '{"nodes":0,"allocations":0}', live: "" };

test("the ledger equals the recomputation from all attempts, in any window, per tenant and per user", () => {
  fc.assert(
    fc.property(anyHistory(80), fc.integer({ min: 1, max: 4 }), fc.nat(200_000_000), (history, days, later) => {
      let state = emptyState();
      for (const { command, at } of stepsOf(history.filter(({ command }) => command.kind !== "allocation.prune"))) {
        const outcome = apply(state, command, at);
        if (outcome.ok) state = outcome.state;
      }
      const now = state.at + later;
      for (const tenant of ["org", "red", "blue", "solo"]) {
        const mine = [...state.allocations.values()].filter((a) => a.tenant === tenant);
        const { from, to, ...hours } = tenantUsage(state, tenant, days, now);
        expect(hours).toEqual(slowUsage(mine, from, to));
        expect(hours.nodeHours).toBeGreaterThanOrEqual(0);
        for (const user of ["ada", "bob"]) {
          const { from, to, ...hours } = userUsage(state, user, tenant, days, now);
          expect(hours).toEqual(
            slowUsage(
              mine.filter((a) => a.user === user),
              from,
              to,
            ),
          );
        }
      }
      // nobody can use more than all nodes for all of the window
      const used = tenantUsage(state, "solo", days, now).nodeHours;
      expect(used).toBeLessThanOrEqual(state.nodes.size * days * 24);
    }),
    runs(100),
  );
});

test("the audit chain verifies from its first entry to its head", () => {
  fc.assert(
    fc.property(anyHistory(40), (history) => {
      let state = emptyState();
      for (const { command, at } of stepsOf(history)) {
        const outcome = apply(state, command, at);
        if (outcome.ok) state = outcome.state;
      }
      let head = "";
      for (const { hash, ...entry } of state.audit.values()) {
        head = auditHash(head, entry);
        expect(head).toBe(hash);
      }
      expect(head).toBe(state.auditHead);
    }),
    runs(30),
  );
});
