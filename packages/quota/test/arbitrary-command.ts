import fc from "fast-check";
import type { Draft } from "./scenario.ts";
import { INVENTORY, REQUEST } from "./scenario.ts";

const TENANTS = ["org", "red", "blue", "solo"] as const;
const NODES = ["n0", "n1", "n2", "n3", "n4", "n5"] as const;
const ALLOCATIONS = ["a0", "a1", "a2", "a3", "a4", "a5", "a6"] as const;
const USERS = ["ada", "bob"] as const;

const tenant = fc.constantFrom(...TENANTS);
const node = fc.constantFrom(...NODES);
const allocation = fc.constantFrom(...ALLOCATIONS);
const user = fc.constantFrom(...USERS);
const small = fc.integer({ min: 0, max: 5 });
const settings = fc.record(
  {
    maxNodes: small,
    maxConcurrentAllocations: fc.option(small),
    gpuHoursBudget: fc.option(fc.constantFrom(0, 1, 10)),
    nodeHoursBudget: fc.option(fc.constantFrom(0, 1, 10)),
    fairShareTarget: fc.constantFrom(0, 0.2, 0.6),
    borrowingLimit: small,
    lendingLimit: fc.option(small),
    maxGpus: fc.oneof(fc.constant({}), fc.record({ a100: small })),
    userMaxNodes: fc.option(small),
  },
  { requiredKeys: [] },
);
const request = fc
  .record({
    tenant,
    user,
    nodes: fc.integer({ min: 1, max: 3 }),
    sensitive: fc.boolean(),
    priorityClass: fc.integer({ min: 0, max: 10 }),
    requeuePolicy: fc.constantFrom("never" as const, "on_node_failure" as const, "always" as const),
    checkpoint: fc.constantFrom("auto" as const, "manual" as const, "none" as const),
    gpuType: fc.option(fc.constant("a100"), { freq: 4 }),
  })
  .map((given) => ({ ...REQUEST, ...given }));
const version = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined, freq: 2 });

const parents: Readonly<Record<string, string>> = { red: "org", blue: "org" };

/** Any command over a few tenants, nodes and allocations: most are refused, which is the point. */
export const anyCommand: fc.Arbitrary<Draft> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .record({ kind: fc.constant("tenant.create" as const), tenant, settings })
      .map((c) => ({ ...c, ...(parents[c.tenant] === undefined ? {} : { parent: parents[c.tenant] as string }) })),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("tenant.update" as const), tenant, settings }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("system.update" as const), sensitivePoolSize: small }) },
  {
    weight: 4,
    arbitrary: fc.record({ node, gpus: fc.option(small), flavour: fc.boolean() }).map(({ node, gpus, flavour }) => ({
      kind: "node.register" as const,
      node,
      inventory: { ...INVENTORY, gpuType: flavour ? "a100" : null, gpuCount: gpus },
      agent: "agent-1",
    })),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("node.operate" as const),
      node,
      verb: fc.constantFrom(
        "drain" as const,
        "undrain" as const,
        "enable" as const,
        "disable" as const,
        "fail" as const,
        "wiped" as const,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("node.heartbeats" as const),
      beats: fc.array(fc.tuple(node, fc.nat(5_000_000)), { maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("node.claim" as const), node, tenant, by: user }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("node.release" as const), node, asAdmin: fc.boolean(), by: user }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("allocation.submit" as const), allocation, request }) },
  {
    weight: 10,
    arbitrary: fc
      .record({
        allocation,
        nodes: fc.uniqueArray(node, { minLength: 1, maxLength: 3 }),
        staging: fc.boolean(),
        tenantVersion: version,
      })
      .map(({ allocation, nodes, staging, tenantVersion }) => ({
        kind: "allocation.assign" as const,
        allocation,
        nodes,
        to: staging ? ("staging" as const) : ("running" as const),
        expected: tenantVersion === undefined ? {} : { tenant: tenantVersion },
      })),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("allocation.move" as const),
      allocation,
      to: fc.constantFrom(
        "pending" as const,
        "running" as const,
        "checkpointing" as const,
        "suspended" as const,
        "completed" as const,
        "failed" as const,
        "cancelled" as const,
      ),
      expectedRequeues: fc.nat(2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({ victim: allocation, version: fc.integer({ min: 1, max: 5 }), for: allocation })
      .map(({ victim, version, for: waiting }) => ({
        kind: "allocation.preempt" as const,
        victims: [{ allocation: victim, version }],
        for: waiting,
      })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ allocation, reason: fc.option(fc.string()) })
      .map(({ allocation, reason }) => ({ kind: "allocation.reasons" as const, reasons: [[allocation, reason] as const] })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ allocation })
      .map(({ allocation }) => ({ kind: "allocation.prune" as const, allocations: [allocation] })),
  },
);

/** A history: commands, the time that passes before each, and from which earlier id one may be a repeat. */
export const anyHistory = (maxLength: number) =>
  fc.array(fc.record({ command: anyCommand, gap: fc.constantFrom(0, 0, 1, 60_000, 3_600_000), id: fc.nat(400) }), {
    maxLength,
    size: "max",
  });
