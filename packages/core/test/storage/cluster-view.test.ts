import { clusterStates, nodeViews } from "@seneschal/core/arbitraries";
import {
  activeAlerts,
  afterVerdict,
  announceChange,
  announceFlags,
  announceFollowing,
  announceInlineThreshold,
  announceNode,
  announcePool,
  type ClusterSight,
  type ClusterState,
  clusterHealth,
  deviceStates,
  emptyCluster,
  healthFacts,
  nodeStatus,
  roleIn,
  type SeenBy,
  scrubOverdueHours,
  smallFileBudget,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

const seenBy = fc
  .uniqueArray(fc.tuple(fc.constantFrom("n1", "n2", "n3", "n4"), nodeViews), { selector: ([node]) => node })
  .map((all): readonly SeenBy[] => all.map(([node, view]) => ({ node, ...view })));
const poolState = fc.constantFrom("normal", "warning", "critical", "read_only", "full");
const counts = { lostChunks: 0, shreddingTenants: 0, failingWebhooks: [] };
const sight = (state: ClusterState, seen: readonly SeenBy[], more: Partial<ClusterSight> = {}): ClusterSight => ({
  state,
  seen,
  pools: [],
  flagsOf: () => [],
  available: true,
  reachable: () => true,
  counts,
  now: 0,
  ...more,
});

describe("what nodes see together", () => {
  test("comes to the same facts, health and alerts whichever of them is asked", () => {
    fc.assert(
      fc.property(clusterStates, seenBy, (state, seen) => {
        const [one, other] = [healthFacts(sight(state, seen)), healthFacts(sight(state, seen.toReversed()))];
        expect(clusterHealth(other)).toBe(clusterHealth(one));
        const texts = (facts: typeof one) =>
          activeAlerts(facts)
            .map(({ severity, subject, message }) => `${severity} ${subject} ${message}`)
            .sort();
        expect(texts(other)).toEqual(texts(one));
      }),
    );
  });

  test("never heals by one more that sees: what one does not reach, or finds damaged, is so for all", () => {
    const rank = { healthy: 0, degraded: 1, down: 2 };
    fc.assert(
      fc.property(clusterStates, seenBy, (state, seen) => {
        const worst = (views: readonly SeenBy[]) => rank[clusterHealth(healthFacts(sight(state, views)))];
        for (let n = 1; n <= seen.length; n++)
          expect(worst(seen.slice(0, n))).toBeGreaterThanOrEqual(worst(seen.slice(0, n - 1)));
      }),
    );
  });

  test("raises an alert for each thing that is wrong, and none once it is over", () => {
    fc.assert(
      fc.property(seenBy, (seen) => {
        const alerts = (views: readonly SeenBy[]) => activeAlerts(healthFacts(sight(emptyCluster, views)));
        const subjects = new Set(alerts(seen).map(({ subject }) => subject));
        expect(subjects.has("key manager")).toBe(seen.some((view) => view.key_manager_away));
        expect(subjects.has("tenant kms")).toBe(seen.some((view) => view.tenant_kms_away.length > 0));
        expect(subjects.has("metadata")).toBe(seen.some((view) => view.damage.length > 0));
        for (const { failing_steps } of seen) for (const step of failing_steps) expect(subjects).toContain(step);
        const over = seen.map((view) => ({ ...view, system_disk: undefined }));
        const full = seen.some(({ system_disk: disk }) => disk !== undefined && disk.percent > disk.soft);
        expect(subjects.has("system disk")).toBe(full);
        expect(alerts(over).some(({ subject }) => subject === "system disk")).toBe(false);
        expect(alerts([])).toEqual([]);
      }),
    );
  });
});

test("a node is unreachable when one says so, draining while it is emptied, degraded by a device of its own, else healthy", () => {
  fc.assert(
    fc.property(clusterStates, seenBy, (state, seen) => {
      for (const id of Object.keys(state.nodes)) {
        const status = nodeStatus(state, seen, id);
        const unreachable = seen.some(({ unreachable_nodes }) => unreachable_nodes.includes(id));
        expect(status === "unreachable").toBe(unreachable);
        if (unreachable) continue;
        expect(status === "draining").toBe(state.nodes[id]?.state === "Draining");
        const own = Object.values(state.devices).filter(({ node }) => node === id);
        const bad = own.some(({ state: device }) => ["Degraded", "Evacuating", "Failed"].includes(device));
        if (status !== "draining") expect(status).toBe(bad ? "degraded" : "healthy");
      }
    }),
  );
});

test("a shard has one leader at most, who votes; without one that answers all its voters are candidates, and nobody else is", () => {
  fc.assert(
    fc.property(clusterStates, fc.boolean(), (state, led) => {
      for (const shard of state.shards) {
        const roles = Object.keys(state.nodes).map((node) => [node, roleIn(shard, node, led)] as const);
        const of = (role: string) => roles.flatMap(([node, own]) => (own === role ? [node] : []));
        expect(of("leader")).toEqual(led ? [shard.leader].filter((node) => state.nodes[node] !== undefined) : []);
        expect(of("candidate").sort()).toEqual(led ? [] : [...shard.voters].sort());
      }
    }),
  );
});

test("a scrub is overdue by whole hours once its time is over, and never before the first", () => {
  const hour = 3_600_000;
  fc.assert(
    fc.property(fc.nat(10 * hour), fc.integer({ min: 1, max: 48 }), fc.nat(200 * hour), (last, interval, now) => {
      const hours = scrubOverdueHours(last, interval, now);
      expect(hours).toBe(last === 0 ? 0 : Math.max(0, Math.floor((now - last - interval * hour) / hour)));
    }),
  );
});

describe("what operators are told", () => {
  test("of a pool is the graver the fuller it is; of a node what is not reached or emptied, and that it is back", () => {
    const rank = { info: 0, warning: 1, error: 2, critical: 3 };
    const order = ["normal", "warning", "critical", "read_only", "full"];
    fc.assert(
      fc.property(poolState, poolState, (a, b) => {
        const severity = (state: typeof a) => rank[announcePool("p", "normal", state).severity];
        if (order.indexOf(a) <= order.indexOf(b)) expect(severity(a)).toBeLessThanOrEqual(severity(b));
        expect(severity(a) === 0).toBe(a === "normal");
      }),
    );
    const statuses = ["healthy", "degraded", "unreachable", "draining"] as const;
    for (const before of statuses)
      for (const status of statuses) {
        const told = announceNode("n1", before, status);
        const expected =
          status === "unreachable" || status === "draining" ? "warning" : before === "unreachable" ? "info" : undefined;
        expect([before, status, told?.severity]).toEqual([before, status, expected]);
      }
  });

  test("of what is over is information, of what begins it is not", () => {
    expect([announceFlags("d", []).severity, announceFlags("d", ["hot"]).severity]).toEqual(["info", "warning"]);
    expect([announceFollowing(true).severity, announceFollowing(false).severity]).toEqual(["info", "critical"]);
    const reasons = ["Normal", "SoftLimitApproaching", "EmergencyFloor", "HardLimitBreached"] as const;
    expect(reasons.map((reason) => announceInlineThreshold("s", { reason, effective: 128 }, 91.4).severity)).toEqual([
      ...["info", "warning", "warning", "critical"],
    ]);
  });

  test("of a change names what it is about and, where somebody asked for it, who; a repeat of a join is not told", () => {
    fc.assert(
      fc.property(clusterStates, fc.boolean(), (state, enabled) => {
        const change = { before: state, after: state, transitions: [], actor: { id: "ada" } };
        const [told] = announceChange({ ...change, command: { kind: "maintenance.set", enabled } });
        expect(told).toMatchObject({ severity: "warning", category: "admin", details: { by: "ada" } });
        for (const node of Object.values(state.nodes))
          expect(announceChange({ ...change, command: { kind: "node.join", node } })).toEqual([]);
        for (const { id, from, to } of [{ id: "d1", from: "Healthy" as const, to: "Failed" as const }]) {
          const event = { kind: "lost" as const, reason: "silent" };
          const transitions = [{ from, to, reason: "silent" }];
          expect(announceChange({ ...change, transitions, command: { kind: "device.event", id, event } })).toEqual([
            {
              severity: "error",
              category: "device",
              message: "device d1: Healthy to Failed",
              details: { device: "d1", reason: "silent", by: "ada" },
            },
          ]);
        }
      }),
    );
  });
});

test("a device that its readings condemn is emptied unless it is already, or gone; a Healthy one is Degraded first", () => {
  for (const state of deviceStates) {
    const steps = state === "Healthy" ? ["degrade", "evacuate"] : state === "Degraded" ? ["evacuate"] : [];
    expect([state, afterVerdict(state, { action: "evacuate" }), afterVerdict(state, { action: "none" })]).toEqual([
      state,
      steps,
      [],
    ]);
  }
});

test("what all shards of a node may keep in metadata together is at most a tenth of what is free", () => {
  fc.assert(
    fc.property(fc.nat(1e12), fc.nat(64), (free, shards) => {
      const each = smallFileBudget(free, shards);
      expect(each * Math.max(1, shards)).toBeLessThanOrEqual(free / 10);
      expect(each).toBeGreaterThanOrEqual(0);
    }),
  );
});
