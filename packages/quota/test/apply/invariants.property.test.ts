import fc from "fast-check";
import { expect, test } from "vitest";
import { apply } from "../../src/apply/apply.ts";
import { auditHash } from "../../src/apply/work.ts";
import { anyHistory, type Step, slowGpus, slowHolding, slowUsage } from "../../src/arbitraries/index.ts";
import { tenantUsage, userUsage } from "../../src/soft/ledger.ts";
import { holdsNodes, isTerminal } from "../../src/state/allocation.ts";
import { decodeState, encodeState } from "../../src/state/encoding.ts";
import { holdingOf } from "../../src/state/holdings.ts";
import { ownerOf } from "../../src/state/node.ts";
import { type AuditRecord, emptyState, type QuotaState } from "../../src/state/state.ts";
import { runs } from "../runs.ts";

/** What sets limits; what it leaves above them is no violation. */
const EDITS: ReadonlySet<string> = new Set(["tenant.create", "tenant.update", "tenant.delete", "system.update", "state.restore"]);

/** What takes allocations out of the state, whose hours the recomputation then misses. */
const FORGETS: ReadonlySet<string> = new Set(["allocation.prune", "tenant.delete", "state.restore"]);

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

/** Asked millions of times in a long run, so that it costs next to nothing while it holds. */
function holds(truth: boolean, law: string, about: string): void {
  if (!truth) throw new Error(`${law}: ${about}`);
}

function checkEvery(state: QuotaState): void {
  const owners = new Map<string, string>();
  for (const a of state.allocations.values()) {
    if (holdsNodes(a.state)) holds(a.startedAt !== null, "what holds nodes has started", a.id);
    else holds(a.assigned.length === 0, "only what runs holds nodes", a.id);
    for (const id of a.assigned) {
      holds(!owners.has(id), "a node has one owner", id);
      owners.set(id, a.id);
    }
    const [open, ...more] = a.attempts.filter(({ endedAt }) => endedAt === null);
    holds(more.length === 0 && (open !== undefined) === holdsNodes(a.state), "what holds nodes is in one attempt", a.id);
    if (open !== undefined)
      holds(open.nodes === a.assigned.length && open.gpus === slowGpus(a), "an attempt counts what is held", a.id);
    holds(state.live.has(a.id) === !isTerminal(a.state), "what has not ended is live", a.id);
    holds((a.completedAt !== null) === isTerminal(a.state), "what has ended says when", a.id);
    holds(a.desiredNodes >= a.minNodes && a.desiredNodes <= a.nodes, "what is asked for is within the request", a.id);
    holds(a.lifecycle === "reactive" || a.desiredNodes === a.nodes, "only reactive work is scaled", a.id);
    holds(state.tenants.has(a.tenant), "work has its tenant", a.id);
  }
  for (const node of state.nodes.values())
    holds(ownerOf(state, node) === (owners.get(node.id) ?? null), "owner and assigned nodes agree", node.id);
  for (const t of state.tenants.values()) {
    const slow = slowHolding(state, t.id);
    const fast = holdingOf(state, t.id);
    const same = fast.nodes === slow.nodes && fast.allocations === slow.allocations && fast.reserved === slow.reserved;
    holds(same, "holdings are those counted from the allocations", t.id);
    for (const type of new Set([...Object.keys(slow.gpus), ...Object.keys(fast.gpus)]))
      holds((fast.gpus[type] ?? 0) === (slow.gpus[type] ?? 0), `GPUs held of ${type}`, t.id);
  }
}

test("any history keeps every invariant after every entry", () => {
  fc.assert(
    fc.property(anyHistory(80), (history) => {
      let state = emptyState();
      for (const { command, at } of history) {
        const before = excess(state);
        const outcome = apply(state, command, at);
        if (!outcome.ok || outcome.repeat) {
          if (outcome.ok) holds(outcome.state === state, "a repeat changes nothing", command.kind);
          continue;
        }
        state = outcome.state;
        checkEvery(state);
        // nothing goes above a limit, and what a reduction left above it never grows
        const edit = EDITS.has(command.kind);
        for (const [limit, over] of excess(state)) {
          holds(edit || over <= Math.max(0, before.get(limit) ?? 0), "nothing goes above a limit", limit);
        }
      }
    }),
    runs(150),
  );
});

test("a node that held work of a strict tenant goes to nobody else before it was wiped, whatever way it comes back into service", () => {
  fc.assert(
    fc.property(anyHistory(80), (history) => {
      let state = emptyState();
      /** Nodes with something on them that others must not find, and for whom they may be all the same. */
      let soiled = new Map<string, string | null>();
      for (const { command, at } of history) {
        const outcome = apply(state, command, at);
        if (!outcome.ok || outcome.repeat) continue;
        const before = state;
        state = outcome.state;
        if (command.kind === "state.restore") soiled = new Map();
        if (command.kind === "node.operate" && command.verb === "wiped") soiled.delete(command.node);
        for (const node of state.nodes.values()) {
          const old = before.nodes.get(node.id);
          const had = old === undefined ? null : ownerOf(before, old);
          const has = ownerOf(state, node);
          if (has !== null && has !== had && soiled.has(node.id)) {
            const { claim } = node;
            const claimants = claim !== null && soiled.get(node.id) === claim.claimant;
            holds(claimants, "soiled nodes are only their claimant's", node.id);
          }
          if (had !== null && has !== had && before.allocations.get(had)?.wipes === true)
            soiled.set(node.id, node.claim?.claimant ?? null);
          if (command.kind === "node.release" && command.node === node.id) {
            if (command.wipe === true) soiled.set(node.id, null);
            else if (soiled.has(node.id)) soiled.set(node.id, null);
          }
        }
      }
    }),
    runs(150),
  );
});

test("a deleted tenant leaves nothing behind that a later one of its name would inherit, and frees what was guaranteed to it", () => {
  fc.assert(
    fc.property(anyHistory(80), (history) => {
      let state = emptyState();
      for (const { command, at } of history) {
        const outcome = apply(state, command, at);
        if (!outcome.ok || outcome.repeat) continue;
        state = outcome.state;
        if (command.kind !== "tenant.delete") continue;
        const { tenant } = command;
        const text = new TextDecoder().decode(encodeState(state)).split("\n");
        const kept = text.filter((line) => !/^\["(young|old|event|audit|restoring|state)",/.test(line));
        holds(
          !kept.some((line) => line.includes(`"${tenant}"`) || line.includes(`\\u0000${tenant}"`)),
          "nothing is left",
          tenant,
        );
        holds(!kept.some((line) => line.includes(`"${tenant}\\u0000`)), "no mark is left", tenant);
        checkEvery(state);
      }
    }),
    runs(100),
  );
});

test("a refused command leaves the state as it was, byte for byte", () => {
  fc.assert(
    fc.property(anyHistory(40), (history) => {
      let state = emptyState();
      let bytes = encodeState(state);
      for (const { command, at } of history) {
        const outcome = apply(state, command, at);
        if (!outcome.ok || outcome.repeat) holds(sameBytes(encodeState(state), bytes), "the same bytes", command.kind);
        else {
          state = outcome.state;
          bytes = encodeState(state);
        }
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
      for (const step of history) {
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
          holds(outcome.ok && !outcome.repeat, "what was accepted is accepted again", command.kind);
          return outcome.ok ? outcome.state : s;
        }, state);
      const whole = replay(emptyState(), log);
      const late = replay(decodeState(snapshot), log.slice(from));
      const twice = decodeState(encodeState(whole));
      const bytes = encodeState(proposer);
      for (const replica of [whole, late, twice]) {
        holds(sameBytes(encodeState(replica), bytes), "the same bytes on every replica", "");
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

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

const ZERO = { holdings: "", userHoldings: '{"nodes":0,"allocations":0}', live: "" };

test("the ledger equals the recomputation from all attempts, in any window, per tenant and per user", () => {
  fc.assert(
    fc.property(anyHistory(80), fc.integer({ min: 1, max: 4 }), fc.nat(200_000_000), (history, days, later) => {
      let state = emptyState();
      for (const { command, at } of history.filter(({ command }) => !FORGETS.has(command.kind))) {
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
      const chain: AuditRecord[] = [];
      for (const { command, at } of history) {
        const outcome = apply(state, command, at);
        if (outcome.ok) state = outcome.state;
        for (const entry of state.audit.values()) if (entry.seq > chain.length) chain.push(entry);
      }
      let head = "";
      for (const { hash, ...entry } of chain) {
        head = auditHash(head, entry);
        expect(head).toBe(hash);
      }
      expect(head).toBe(state.auditHead);
    }),
    runs(30),
  );
});
