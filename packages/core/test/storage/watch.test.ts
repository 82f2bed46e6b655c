import {
  activeAlerts,
  clusterHealth,
  countVerdict,
  createEdges,
  createEventLog,
  createHistory,
  createRing,
  defaultTuning,
  diskPercent,
  distrustCorrupt,
  emptyScrubReport,
  type HealthFacts,
  inScope,
  nextScrubAt,
  orphanStep,
  type ScrubScope,
  scrubbedDevices,
  scrubSeverity,
  scrubVerdict,
  stepCluster,
  storageError,
  storageErrorKind,
  tuningProblems,
  tuningTable,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clusterStates } from "../../src/arbitraries/index.ts";

describe("rings", () => {
  test("a ring is the last n pushes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(fc.nat(), { maxLength: 40 }), (capacity, pushes) => {
        const ring = createRing<number>(capacity);
        for (const n of pushes) ring.push(n);
        expect(ring.items()).toEqual(pushes.slice(-capacity));
      }),
    );
  });
  test("events come newest first, filtered exactly", () => {
    const log = createEventLog(3);
    const add = (timestamp: number, severity: "info" | "error") =>
      log.append({ timestamp, severity, category: "node", message: `m${timestamp}`, source: "t", details: {} });
    add(1, "info");
    add(2, "error");
    add(3, "info");
    add(4, "error");
    expect(log.query({ since: 0, limit: 10 }).map((e) => e.timestamp)).toEqual([4, 3, 2]);
    expect(log.query({ since: 3, severity: "error", limit: 10 }).map((e) => e.timestamp)).toEqual([4]);
    expect(log.query({ since: 0, category: "raft", limit: 10 })).toEqual([]);
  });
  test("an edge is seen once per change and never for a new subject", () => {
    const edges = createEdges<"up" | "down">();
    expect(["up", "up", "down", "down", "up"].map((v) => edges.observe("n", v as "up" | "down")?.before)).toEqual([
      undefined,
      undefined,
      "up",
      undefined,
      "down",
    ]);
  });
  test("history keeps 10 s for three hours and a minute for twenty-four", () => {
    const history = createHistory<{ timestamp_ms: number }>();
    const end = 25 * 3_600_000;
    for (let t = 0; t <= end; t += 10_000) history.add({ timestamp_ms: t });
    expect(history.query(1, end)).toHaveLength(361);
    const day = history.query(24, end);
    expect(day[0]!.timestamp_ms).toBeLessThanOrEqual(end - 24 * 3_600_000 + 60_000);
    for (let i = 1; i < day.length; i++) expect(day[i]!.timestamp_ms).toBeGreaterThan(day[i - 1]!.timestamp_ms);
  });
});

describe("health", () => {
  const facts: HealthFacts = {
    nodes: [{ id: "n1", status: "healthy" }],
    devices: [{ id: "d1", state: "Healthy", flags: [] }],
    pools: [{ id: "p", state: "normal", usedPercent: 1 }],
    shardsWithoutQuorum: [],
    keyManagerReachable: true,
    unreachableTenantKms: 0,
    shreddingTenants: 0,
    failingWebhooks: [],
    damage: [],
    lostChunks: 0,
    scrubOverdueHours: 0,
    failingSteps: [],
    systemDisks: [],
  };
  test("healthy has no alert", () => {
    expect([clusterHealth(facts), activeAlerts(facts)]).toEqual(["healthy", []]);
  });
  test("each fact degrades alone and raises its alert; quorum and all nodes gone are down", () => {
    const cases: Partial<HealthFacts>[] = [
      { nodes: [...facts.nodes, { id: "n2", status: "unreachable" }] },
      { devices: [{ id: "d1", state: "Degraded", flags: [] }] },
      { pools: [{ id: "p", state: "warning", usedPercent: 80 }] },
      { pools: [{ id: "p", state: "normal", usedPercent: 1, tooFew: { found: 3, needed: 5 } }] },
      { keyManagerReachable: false },
      { lostChunks: 1 },
      { failingSteps: [{ node: "n1", step: "repair" }] },
      { unreachableTenantKms: 1 },
      { damage: ["000004.log at 7: a record does not match its checksum"] },
    ];
    for (const change of cases) {
      expect(clusterHealth({ ...facts, ...change })).toBe("degraded");
      expect(activeAlerts({ ...facts, ...change })).toHaveLength(1);
    }
    // Somebody else's machine that does not answer is a person's affair, not the cluster's state.
    const unheard = { ...facts, failingWebhooks: ["hook"] };
    expect([clusterHealth(unheard), activeAlerts(unheard)]).toMatchObject([
      "healthy",
      [{ severity: "warning", subject: "hook" }],
    ]);
    expect(clusterHealth({ ...facts, shardsWithoutQuorum: ["shard-0"] })).toBe("down");
    expect(clusterHealth({ ...facts, nodes: [{ id: "n1", status: "unreachable" }] })).toBe("down");
  });
});

test("a full system disk alerts from its soft limit on, critically from the hard one, and says how full it is", () => {
  const facts: HealthFacts = {
    nodes: [{ id: "n1", status: "healthy" }],
    devices: [],
    pools: [],
    shardsWithoutQuorum: [],
    keyManagerReachable: true,
    unreachableTenantKms: 0,
    lostChunks: 0,
    scrubOverdueHours: 0,
    shreddingTenants: 0,
    damage: [],
    failingSteps: [],
    systemDisks: [],
    failingWebhooks: [],
  };
  const at = (percent: number) => activeAlerts({ ...facts, systemDisks: [{ node: "n1", percent, soft: 50, hard: 75 }] });
  expect([at(50), at(50.1)[0]?.severity, at(75)[0]?.severity, at(75.1)[0]?.severity]).toEqual([
    [],
    "warning",
    "warning",
    "critical",
  ]);
  expect(at(76)[0]?.message).toMatch(/^n1: 76% full, above the hard limit of 75%/);
});

test("the fill of a disk is what df says: blocks kept back for the system are neither used nor free", () => {
  expect(diskPercent({ blocks: 1000, bfree: 700, bavail: 100 })).toBe(75);
  expect(diskPercent({ blocks: 1000, bfree: 700, bavail: 700 })).toBe(30);
  expect(diskPercent({ blocks: 0, bfree: 0, bavail: 0 })).toBe(0);
});

describe("scrub", () => {
  test("verdicts follow the good fragments", () => {
    expect([6, 5, 4, 3].map((good) => scrubVerdict({ data: 4, parity: 2 }, good))).toEqual([
      "Healthy",
      "Repair",
      "Critical",
      "Lost",
    ]);
  });
  test("a report counts each chunk once", () => {
    const report = countVerdict(countVerdict(emptyScrubReport, "Critical", "repaired"), "Lost", "failed");
    expect(report).toEqual({ scanned: 2, healthy: 0, repaired: 1, critical: 1, lost: 1, orphans: 0, repair_errors: 1 });
  });
  test("scope selects by pool and by device", () => {
    const chunk = { pool: "p", devices: ["d1", "d2"] };
    expect([
      inScope({ kind: "pool", id: "q" }, chunk),
      inScope({ kind: "device", id: "d2" }, chunk),
      inScope({ kind: "cluster" }, chunk),
    ]).toEqual([false, true, true]);
  });
  test("schedule and orphan grace are exact", () => {
    expect(nextScrubAt(5, 24)).toBe(5 + 24 * 3_600_000);
    expect([orphanStep(0, false, 86_399_999), orphanStep(0, false, 86_400_000)]).toEqual(["leave", "delete"]);
  });
  test("what no record names goes a day after it was seen first, and never while the metadata is damaged", () => {
    fc.assert(
      fc.property(fc.option(fc.nat(9), { nil: undefined }), fc.boolean(), fc.nat(200_000_000), (first, damaged, now) => {
        const step = orphanStep(first, damaged, now);
        if (damaged) expect(step).toBe("leave");
        else expect(step).toBe(first === undefined ? "note" : now - first >= 86_400_000 ? "delete" : "leave");
      }),
    );
  });
  test("a scrub reads no device that is out of its scope or gone, and puts none out of use but Healthy ones that gave back other bytes", () => {
    const scopes = fc.constantFrom<ScrubScope>({ kind: "cluster" }, { kind: "pool", id: "fast" }, { kind: "device", id: "d1" });
    const found = fc.dictionary(fc.constantFrom("d1", "d2", "d9", "constructor"), fc.integer({ min: 1, max: 3 }));
    fc.assert(
      fc.property(clusterStates, scopes, found, (state, scope, corrupt) => {
        for (const { id, pool, state: is } of scrubbedDevices(state, scope)) {
          expect(["Failed", "Removed"]).not.toContain(is);
          expect(inScope(scope, { pool, devices: [id] })).toBe(true);
        }
        for (const command of distrustCorrupt(state, corrupt)) {
          const step = stepCluster(state, command, 9);
          expect(
            step.ok &&
              Object.values(step.state.devices)
                .filter((d) => d !== state.devices[d.id])
                .map((d) => d.state),
          ).toEqual(["Degraded"]);
        }
      }),
    );
  });
  test("what is lost is graver than what could not be mended, and that than what was", () => {
    const reports = [{ lost: 1, repair_errors: 1 }, { repair_errors: 1, repaired: 1 }, { repaired: 1 }, { scanned: 1 }];
    expect(reports.map((found) => scrubSeverity({ ...emptyScrubReport, ...found }))).toEqual([
      "critical",
      "error",
      "warning",
      "info",
    ]);
  });
});

describe("tuning", () => {
  test("every parameter accepts both ends of its range and nothing beyond", () => {
    expect(tuningProblems(defaultTuning)).toEqual([]);
    for (const [name, { min, max }] of Object.entries(tuningTable)) {
      expect(tuningProblems({ [name]: min })).toEqual([]);
      expect(tuningProblems({ [name]: max })).toEqual([]);
      for (const bad of [min - 1, max + 1, min + 0.5, String(min), null]) expect(tuningProblems({ [name]: bad })).toHaveLength(1);
    }
  });
  test("an unknown name is a problem, also an inherited one", () => {
    expect(tuningProblems({ toString: 1, nope: 1 })).toHaveLength(2);
  });
});

test("the taxonomy answers by code, not by message, and knows nothing else", () => {
  expect(storageErrorKind(storageError("MaintenanceMode", "PoolFull"))).toMatchObject({
    grpc: "UNAVAILABLE",
    nfs: "JUKEBOX",
    retryAfter: 5,
  });
  expect(storageErrorKind(new Error("PoolFull"))).toBeUndefined();
});
