import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apply } from "../../src/apply/apply.ts";
import { REQUEST, slowFree } from "../../src/arbitraries/index.ts";
import type { Command } from "../../src/command.ts";
import { plan } from "../../src/plan/plan.ts";
import { TERMS, type Term } from "../../src/soft/score.ts";
import type { Allocation } from "../../src/state/allocation.ts";
import type { QuotaState } from "../../src/state/state.ts";
import { runs } from "../runs.ts";
import { Scenario } from "../scenario.ts";

/** First come, first served: nothing but waiting counts, so that who is first stays first. */
const fifo = Object.fromEntries(TERMS.map((term) => [term, term === "wait" ? 1 : 0])) as Record<Term, number>;
const options = { weights: { default: fifo } };

/** The earliest time at which the allocation can be assigned, by trying: what runs ends with its walltime, the rest stays. */
function slowStart(state: QuotaState, id: string, now: number): number {
  const holders = [...state.allocations.values()].filter(({ assigned }) => assigned.length > 0);
  const endOf = (a: Allocation): number =>
    a.lifecycle === "bounded" ? Math.max(now, a.startedAt! + a.walltimeHours * 3_600_000) : Number.POSITIVE_INFINITY;
  const send = (s: QuotaState, command: object): QuotaState | undefined => {
    const outcome = apply(s, { id: `slow-${Math.random()}`, by: "slow", ...command } as Command, now);
    return outcome.ok ? outcome.state : undefined;
  };
  for (const at of [now, ...holders.map(endOf).sort((a, b) => a - b)]) {
    if (at === Number.POSITIVE_INFINITY) break;
    let then = state;
    for (const { id: holder } of holders.filter((a) => endOf(a) <= at))
      then = send(then, { kind: "allocation.move", allocation: holder, to: "completed" }) as QuotaState;
    const a = then.allocations.get(id)!;
    const nodes = slowFree(then, a)
      .map((node) => node.id)
      .slice(0, a.minNodes);
    const assign = { kind: "allocation.assign", allocation: id, nodes, to: "running", expected: {} };
    if (nodes.length === a.minNodes && send(then, assign) !== undefined) return at;
  }
  return Number.POSITIVE_INFINITY;
}

const job = fc.record({
  tenant: fc.constantFrom("physics", "biology"),
  nodes: fc.constantFrom(1, 1, 2, 3, 7),
  walltimeHours: fc.constantFrom(0.5, 1, 3, 8),
  lifecycle: fc.constantFrom("bounded" as const, "bounded" as const, "bounded" as const, "unbounded" as const),
  gpuType: fc.constantFrom(null, null, "a100"),
  wait: fc.double({ min: 0, max: 0.6, noNaN: true }),
});

test("nothing that starts behind it delays the reserved allocation, by the walltimes", () => {
  let reserved = 0;
  let backfilled = 0;
  fc.assert(
    fc.property(fc.array(job, { minLength: 6, maxLength: 14 }), fc.integer({ min: 3, max: 8 }), (jobs, maxNodes) => {
      const s = new Scenario().tenant("physics", { maxNodes, fairShareTarget: 0 }).tenant("biology", { fairShareTarget: 0 });
      s.nodes(4, { group: "plain" }, "p").nodes(4, { group: "gpu", gpuType: "a100", gpuCount: 4 }, "g");
      for (const [i, { wait, ...request }] of jobs.entries()) {
        s.send({
          kind: "allocation.submit",
          allocation: `j${String(i).padStart(2, "0")}`,
          request: { ...REQUEST, ...request, minNodes: request.nodes },
        });
        s.wait(wait);
        const before = s.state;
        const { proposals, reservation } = plan(before, s.at, options);
        if (reservation === undefined) {
          for (const proposal of proposals) s.ok(proposal);
          continue;
        }
        reserved++;
        // those that came before it start in any case; those behind it must not matter
        const head = before.allocations.get(reservation.allocation)!;
        const ahead = (p: (typeof proposals)[number]): boolean =>
          p.kind === "allocation.assign" && before.allocations.get(p.allocation)!.createdAt <= head.createdAt;
        for (const proposal of proposals.filter(ahead)) s.ok(proposal);
        const promised = slowStart(s.state, head.id, s.at);
        expect(reservation.at).toBe(promised);
        for (const proposal of proposals.filter((p) => !ahead(p))) {
          s.ok(proposal);
          backfilled++;
        }
        expect(slowStart(s.state, head.id, s.at)).toBeLessThanOrEqual(promised);
      }
    }),
    runs(200),
  );
  expect(Math.min(reserved, backfilled)).toBeGreaterThan(10);
});

test("with honest walltimes everything starts no later than it was first promised", () => {
  fc.assert(
    fc.property(fc.array(job, { minLength: 3, maxLength: 12 }), (jobs) => {
      const s = new Scenario().tenant("physics", { fairShareTarget: 0 }).tenant("biology", { fairShareTarget: 0 });
      s.nodes(8, { gpuType: "a100", gpuCount: 1 });
      const promised = new Map<string, number>();
      const coming = jobs.map(({ wait, ...request }, i) => ({
        at: s.at + Math.round(i * wait * 3_600_000),
        id: `j${i}`,
        request,
      }));
      const ends: { at: number; id: string }[] = [];
      for (;;) {
        const next = Math.min(...coming.map(({ at }) => at), ...ends.map(({ at }) => at));
        if (next === Number.POSITIVE_INFINITY) break;
        s.at = Math.max(s.at, next);
        for (const { id } of ends.filter(({ at }) => at <= s.at)) s.move(id, "completed");
        for (const { id, request } of coming.filter(({ at }) => at <= s.at))
          s.submit(id, { ...request, lifecycle: "bounded", minNodes: request.nodes });
        for (const list of [ends, coming]) list.splice(0, list.length, ...(list.filter(({ at }) => at > s.at) as never[]));
        const { proposals, reservation } = plan(s.state, s.at, options);
        if (reservation !== undefined && !promised.has(reservation.allocation))
          promised.set(reservation.allocation, reservation.at);
        for (const proposal of proposals) {
          s.ok(proposal);
          if (proposal.kind !== "allocation.assign") continue;
          const { id, walltimeHours } = s.allocation(proposal.allocation);
          expect(s.at).toBeLessThanOrEqual(promised.get(id) ?? s.at);
          ends.push({ at: s.at + walltimeHours * 3_600_000, id });
        }
      }
      expect([...s.state.allocations.values()].map(({ state }) => state)).toEqual(jobs.map(() => "completed"));
    }),
    runs(150),
  );
});

describe("backfilling", () => {
  /** Four nodes; two are busy for two hours more; `large` waits for three of them. */
  const waiting = (): Scenario =>
    new Scenario()
      .tenant("physics", { fairShareTarget: 0 })
      .nodes(4)
      .submit("now", { nodes: 2, walltimeHours: 2 })
      .assign("now", "n0000", "n0001")
      .submit("large", { nodes: 3 })
      .wait(0.5);

  const ends = (s: Scenario): number => s.allocation("now").startedAt! + 2 * 3_600_000;
  const started = (s: Scenario): readonly string[] =>
    plan(s.state, s.at, options).proposals.map((p) => (p.kind === "allocation.preempt" ? p.for : p.allocation));

  test("what ends in time starts on kept nodes, what does not waits", () => {
    const s = waiting().submit("long", { nodes: 2, walltimeHours: 3 }).wait(0.1).submit("brief", { nodes: 2, walltimeHours: 1 });
    const { reasons, reservation } = plan(s.state, s.at, options);
    expect(reservation).toEqual({ allocation: "large", at: ends(s) });
    expect(started(s)).toEqual(["brief"]);
    expect(reasons).toMatchObject([
      { allocation: "large", code: "nodes_held", details: { free: 2, need: 3, starts_by: ends(s) } },
      { allocation: "long", code: "nodes_reserved", details: { for: "large", at: ends(s) } },
    ]);
  });

  test("nodes that the reservation can spare are given to anybody, the others to nobody who stays", () => {
    const s = waiting().submit("long1", { walltimeHours: 99 }).submit("long2", { walltimeHours: 99 });
    expect(started(s)).toEqual(["long1"]);
  });

  test("quota that the reserved work will need is kept too", () => {
    const s = waiting().submit("long", { walltimeHours: 99 }).submit("short", { walltimeHours: 1 });
    s.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 5 } });
    expect(started(s)).toEqual(["short"]); // two held and three promised are all of the quota
    s.ok({ kind: "tenant.update", tenant: "physics", settings: { maxNodes: 6 } });
    expect(started(s)).toEqual(["long", "short"]);
  });

  test("what has no end promises nothing to anybody", () => {
    const s = new Scenario().tenant("physics").nodes(2).submit("service", { lifecycle: "unbounded" }).assign("service", "n0000");
    s.submit("large", { nodes: 2 }).wait(1).submit("small", { walltimeHours: 99 });
    expect([started(s), plan(s.state, s.at, options).reservation]).toEqual([["small"], undefined]);
  });

  test("who holds the reservation keeps it against later work of its class, however that scores, until it starts", () => {
    const s = new Scenario().tenant("v", { fairShareTarget: 0 }).nodes(13);
    s.submit("v1", { tenant: "v", nodes: 10, minNodes: 10, walltimeHours: 10 });
    const cycle = (): ReturnType<typeof plan> => {
      const planned = plan(s.state, s.at);
      for (const proposal of planned.proposals) s.ok(proposal);
      if (planned.changed.length > 0) s.ok({ kind: "allocation.reasons", reasons: planned.changed });
      return planned;
    };
    cycle();
    s.submit("hi", { tenant: "v", nodes: 13, minNodes: 13 });
    const promised = cycle().reservation;
    expect(promised).toMatchObject({ allocation: "hi" });
    for (const id of ["v2", "v3", "v4"]) {
      s.wait(0.1).submit(id, { tenant: "v", nodes: 2, minNodes: 2, walltimeHours: 200 });
      const { reservation, scores, reasons } = cycle();
      expect(scores.get(id)!.score).toBeGreaterThan(scores.get("hi")!.score);
      expect(reservation).toEqual(promised);
      expect(reasons.find(({ allocation }) => allocation === id)?.code).toBe("nodes_reserved");
    }
    s.submit("urgent", { tenant: "v", nodes: 3, minNodes: 3, walltimeHours: 200, priorityClass: 9 });
    cycle();
    expect(s.allocation("urgent").state).toBe("running");
  });

  test("without reservations large work relies on ageing", () => {
    const s = waiting().submit("long", { nodes: 2, walltimeHours: 99 });
    expect(started(s)).toEqual([]);
    expect(plan(s.state, s.at, { ...options, reservations: false }).proposals).toMatchObject([{ allocation: "long" }]);
  });
});
