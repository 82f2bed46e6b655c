import {
  admitWrite,
  classThresholds,
  clusterDurability,
  deviceClasses,
  durabilityProblem,
  effectiveThresholds,
  poolState,
  thresholdProblems,
} from "@seneschal/core/storage";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

describe("pool thresholds", () => {
  test("every class has ordered defaults and no override is a problem", () => {
    for (const c of deviceClasses) expect(thresholdProblems(c, {})).toEqual([]);
  });
  test("a state begins exactly at its percentage", () => {
    for (const c of deviceClasses) {
      const t = classThresholds[c];
      const at = (percent: number) => poolState(percent * 100, 10_000, t);
      expect([at(t.warning - 0.01), at(t.warning), at(t.critical), at(t.readOnly), at(t.full)]).toEqual([
        "normal",
        "warning",
        "critical",
        "read_only",
        "full",
      ]);
    }
    expect(poolState(0, 0, classThresholds.ssd)).toBe("full");
  });
  test("overrides keep their bounds at both ends; 0 is the default of the class", () => {
    expect(thresholdProblems("hdd", { warning: 49 })).toHaveLength(1);
    expect(thresholdProblems("custom", { warning: 50, targetFill: 50 })).toEqual([]);
    expect(thresholdProblems("ssd", { readOnly: 100 })).toHaveLength(1);
    expect(thresholdProblems("ssd", { warning: 75.5 })).toHaveLength(1);
    expect(effectiveThresholds("ssd", { warning: 0 }).warning).toBe(75);
  });
  test("accepted overrides are ordered: target <= warning < critical < read-only < full", () => {
    const percent = fc.option(fc.integer({ min: 40, max: 100 }), { nil: 0 });
    fc.assert(
      fc.property(
        fc.constantFrom(...deviceClasses),
        percent,
        percent,
        percent,
        percent,
        (c, warning, critical, readOnly, targetFill) => {
          const overrides = { warning, critical, readOnly, targetFill };
          const t = effectiveThresholds(c, overrides);
          const ordered = t.targetFill <= t.warning && t.warning < t.critical && t.critical < t.readOnly && t.readOnly < t.full;
          if (thresholdProblems(c, overrides).length === 0) expect(ordered).toBe(true);
          if (!ordered) expect(thresholdProblems(c, overrides).length).toBeGreaterThan(0);
        },
      ),
    );
  });
});

describe("admission", () => {
  const pool = (id: string, used: number, c: "ssd" | "hdd" = "ssd") => ({
    id,
    class: c,
    capacityBytes: 1000,
    usedBytes: used,
    thresholds: classThresholds[c],
  });
  test("from critical on a write goes to the emptiest pool of the same class only", () => {
    const others = [pool("b", 300), pool("c", 100), pool("slow", 0, "hdd")];
    expect(admitWrite(pool("a", 849), 10, others)).toEqual({ kind: "admit", pool: "a", redirected: false });
    expect(admitWrite(pool("a", 850), 10, others)).toEqual({ kind: "admit", pool: "c", redirected: true });
    expect(admitWrite(pool("a", 850), 10, [pool("slow", 0, "hdd")])).toMatchObject({ error: "PoolFull" });
  });
  test("a read-only pool refuses retriably, a full one as full", () => {
    expect(admitWrite(pool("a", 920), 1, [])).toMatchObject({ error: "PoolReadOnly" });
    expect(admitWrite(pool("a", 970), 1, [])).toMatchObject({ error: "PoolFull" });
  });
  test("no admitted write takes a pool to full", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1000 }), fc.integer({ min: 1, max: 500 }), (used, bytes) => {
        const a = admitWrite(pool("a", used), bytes, []);
        if (a.kind === "admit") expect(poolState(used + bytes, 1000, classThresholds.ssd)).not.toBe("full");
      }),
    );
  });
});

describe("durability", () => {
  test("EC 2-16 + 1-8 and 2-5 copies are accepted, nothing beyond", () => {
    const ec = (data: number, parity: number) => durabilityProblem({ kind: "ec", data, parity }) === undefined;
    expect([ec(2, 1), ec(16, 8), ec(1, 1), ec(17, 1), ec(2, 0), ec(2, 9)]).toEqual([true, true, false, false, false, false]);
    const copies = [1, 2, 5, 6].map((n) => durabilityProblem({ kind: "replication", copies: n }) === undefined);
    expect(copies).toEqual([false, true, true, false]);
  });
  test("the cluster's durability follows its node count", () => {
    expect([1, 2, 3, 5].map((n) => [clusterDurability(n).copies, clusterDurability(n).acknowledge])).toEqual([
      [1, 1],
      [2, 2],
      [3, 2],
      [3, 2],
    ]);
    expect(clusterDurability(6)).toEqual({ copies: 1, stripe: { data: 4, parity: 2 }, acknowledge: 4 });
  });
});
