import { type ActiveJob, admitJob, emptyCluster, type MaintenanceRequest } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { clusterStates, maintenanceRequests } from "../../src/arbitraries/index.ts";

const admit = (state: Parameters<typeof admitJob>[0], active: readonly ActiveJob[], request: MaintenanceRequest) => {
  try {
    return admitJob(state, active, request);
  } catch (error) {
    expect(isCoded(error, "AlreadyExists", "NotFound")).toBe(true);
    return error as { readonly code: string; readonly details: { readonly job_id?: string } };
  }
};

test("the same work is never under way twice, and garbage is not collected while a backup reads: whatever is asked in whatever order", () => {
  fc.assert(
    fc.property(clusterStates, fc.array(maintenanceRequests, { maxLength: 30 }), (state, requests) => {
      const active: ActiveJob[] = [];
      for (const request of requests) {
        const answer = admit(state, active, request);
        if ("code" in answer) {
          if (answer.code === "AlreadyExists") expect(active.map(({ id }) => id)).toContain(answer.details.job_id);
          continue;
        }
        if (answer.kind === "gc") expect(active.map(({ kind }) => kind)).not.toContain("backup");
        active.push({ id: `job-${active.length}`, ...answer });
        if (answer.kind !== "evacuation") expect(admit(state, active, request)).toMatchObject({ code: "AlreadyExists" });
      }
      // By what distinguishes two jobs of a kind; evacuations are told apart by the states of devices.
      const keys = active
        .filter(({ kind }) => kind !== "evacuation")
        .map(({ kind, params: { scope, id, pool, node } }) => JSON.stringify([kind, scope, id, pool, node]));
      expect(new Set(keys).size).toBe(keys.length);
    }),
  );
});

test("what names a pool or a device that the cluster does not have begins nothing", () => {
  for (const id of ["gone", "constructor", "__proto__"])
    for (const request of [
      { kind: "scrub", scope: { kind: "pool", id } },
      { kind: "scrub", scope: { kind: "device", id } },
      { kind: "rebalance", pool: id },
      { kind: "restore", params: { snapshot_id: "s" }, defaultPool: id },
      { kind: "restore", params: { snapshot_id: "s", pool_id: id }, defaultPool: "" },
    ] as const)
      expect(() => admitJob(emptyCluster, [], request)).toThrow(expect.objectContaining({ code: "NotFound" }));
});

test("jobs that are in nobody's way are begun with all that was asked", () => {
  const state = { ...emptyCluster, pools: { fast: { id: "fast", class: "ssd" as const, thresholds: {} } } };
  const why = { trigger: "under_replication" };
  expect(admitJob(state, [], { kind: "scrub", scope: { kind: "pool", id: "fast" }, why })).toEqual({
    kind: "scrub",
    params: { scope: "pool", id: "fast", ...why },
  });
  expect(admitJob(state, [], { kind: "restore", params: { snapshot_id: "s" }, defaultPool: "fast" })).toEqual({
    kind: "restore",
    params: { snapshot_id: "s", pool_id: "fast" },
  });
  const other = { id: "1", kind: "scrub", params: { scope: "cluster" } };
  expect(admitJob(state, [other], { kind: "backup", params: { include_data: true } }).params).toEqual({ include_data: true });
});
