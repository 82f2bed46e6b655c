import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { utf8Decode } from "@seneschal/kernel";
import fc from "fast-check";
import { apply } from "../apply/apply.ts";
import type { Command } from "../command.ts";
import { encodeState } from "../state/encoding.ts";
import { emptyState } from "../state/state.ts";
import { type Draft, INVENTORY, REQUEST } from "./drafts.ts";

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
    isolationLevel: fc.constantFrom("standard" as const, "strict" as const),
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
    lifecycle: fc.constantFrom("bounded" as const, "unbounded" as const, "reactive" as const),
  })
  .map((given) => ({ ...REQUEST, ...given }));
const version = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined, freq: 1 });

const parents: Readonly<Record<string, string>> = { red: "org", blue: "org" };

const metric = fc.constantFrom("gpu_hours" as const, "node_hours" as const);
const hours = fc.option(fc.integer({ min: -3, max: 20 }));

/** A backup of the same names, older than any history, with work in it: what is restored now and then. */
function backup(): { readonly hash: string; readonly halves: readonly [string, string] } {
  const tenant = (id: string, settings: object, parent?: string): Draft => ({
    kind: "tenant.create",
    tenant: id,
    settings,
    ...(parent === undefined ? {} : { parent }),
  });
  const submit = (allocation: string, given: object): Draft => ({
    kind: "allocation.submit",
    allocation,
    request: { ...REQUEST, ...given },
  });
  const drafts: readonly Draft[] = [
    tenant("org", { maxNodes: 4 }),
    tenant("red", { maxNodes: 2, borrowingLimit: 1, lendingLimit: 1 }, "org"),
    ...["n0", "n1"].map((node) => ({ kind: "node.register" as const, node, inventory: INVENTORY, agent: "agent-1" })),
    submit("a0", { tenant: "red", requeuePolicy: "always" }),
    { kind: "allocation.assign", allocation: "a0", nodes: ["n0"], to: "running", expected: {} },
    submit("a1", { tenant: "org" }),
  ];
  let state = emptyState();
  for (const [i, draft] of drafts.entries()) {
    const outcome = apply(state, { id: `c${i + 1}`, by: "root", ...draft } as Command, 1000);
    if (!outcome.ok) throw new Error(outcome.message);
    state = outcome.state;
  }
  const bytes = encodeState(state);
  const text = utf8Decode(bytes);
  return { hash: bytesToHex(sha256(bytes)), halves: [text.slice(0, 500), text.slice(500)] };
}
const { hash: backupHash, halves } = backup();

/** Any command over a few tenants, nodes and allocations: most are refused, which is the point. */
export const anyCommand: fc.Arbitrary<Draft> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc
      .record({ kind: fc.constant("tenant.create" as const), tenant, settings })
      .map((c) => ({ ...c, ...(parents[c.tenant] === undefined ? {} : { parent: parents[c.tenant] as string }) })),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("tenant.update" as const), tenant, settings }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("tenant.delete" as const), tenant }) },
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
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("node.release" as const),
      node,
      asAdmin: fc.boolean(),
      by: user,
      wipe: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("allocation.submit" as const), allocation, request }) },
  {
    weight: 10,
    arbitrary: fc
      .record({
        allocation,
        nodes: fc.uniqueArray(node, { minLength: 1, maxLength: 3 }),
        staging: fc.boolean(),
        tenantVersion: version,
        wipe: fc.boolean(),
      })
      .map(({ allocation, nodes, staging, tenantVersion, wipe }) => ({
        kind: "allocation.assign" as const,
        allocation,
        nodes,
        to: staging ? ("staging" as const) : ("running" as const),
        expected: tenantVersion === undefined ? {} : { tenant: tenantVersion },
        wipe,
      })),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("allocation.scale" as const), allocation, nodes: fc.nat(4) }) },
  {
    weight: 4,
    arbitrary: fc.uniqueArray(node, { minLength: 1, maxLength: 2 }).chain((nodes) =>
      fc.record({
        kind: fc.constant("allocation.grow" as const),
        allocation,
        nodes: fc.constant(nodes),
        expected: fc.constant({}),
      }),
    ),
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
      .record({ tenant, metric, level: fc.constantFrom("none" as const, "warning" as const, "exhausted" as const) })
      .map((crossing) => ({
        kind: "budget.record" as const,
        crossings: [{ ...crossing, used: 1, budget: 1, fraction: 1, periodStart: 0, periodEnd: 1, source: "ledger" as const }],
      })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ tenant, remaining: fc.option(fc.record({ gpuHours: hours, nodeHours: hours })) })
      .map((answer) => ({ kind: "accounting.record" as const, answers: [answer] })),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("event.delivered" as const), through: fc.nat(60) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("audit.archive" as const), through: fc.nat(60) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("answer.keep" as const), answer: fc.record({ taker: fc.string() }) }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, 1).map((part) => ({
      kind: "state.restore" as const,
      backup: backupHash,
      part,
      parts: 2,
      text: halves[part] as string,
    })),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ allocation })
      .map(({ allocation }) => ({ kind: "allocation.prune" as const, allocations: [allocation] })),
  },
);

const roomy = fc.record({
  maxNodes: fc.integer({ min: 2, max: 8 }),
  maxConcurrentAllocations: fc.option(fc.integer({ min: 2, max: 6 })),
  borrowingLimit: small,
  lendingLimit: fc.option(small),
  isolationLevel: fc.constantFrom("standard" as const, "strict" as const),
});

/** What makes that more than refusals can follow: tenants with room, nodes, a pool, work in the queue. */
const beginning: fc.Arbitrary<readonly Draft[]> = fc.tuple(
  ...TENANTS.map((tenant) =>
    roomy.map((settings) => ({
      kind: "tenant.create" as const,
      tenant,
      settings: tenant === "org" ? { ...settings, maxNodes: 10 } : settings,
      ...(parents[tenant] === undefined ? {} : { parent: parents[tenant] as string }),
    })),
  ),
  small.map((sensitivePoolSize) => ({ kind: "system.update" as const, sensitivePoolSize })),
  ...NODES.map((node) =>
    fc.option(small).map((gpuCount) => ({
      kind: "node.register" as const,
      node,
      inventory: { ...INVENTORY, gpuType: "a100", gpuCount },
      agent: "agent-1",
    })),
  ),
  ...ALLOCATIONS.slice(0, 5).map((allocation) =>
    request.map((request) => ({ kind: "allocation.submit" as const, allocation, request })),
  ),
);

/** One step of a history: a command and when it is applied, in milliseconds. */
export interface Step {
  readonly command: Command;
  readonly at: number;
}

/**
 * A history: mostly one that begins with tenants, nodes and work in the queue, then up to `maxLength` commands of any kind, with time
 * between them; now and then an id is repeated.
 *
 * @example
 * ```ts
 * import { apply, emptyState } from "@seneschal/quota";
 * import { anyHistory } from "@seneschal/quota/arbitraries";
 * import fc from "fast-check";
 *
 * const law = fc.property(anyHistory(20), (history) => {
 *   let state = emptyState();
 *   for (const { command, at } of history) state = apply(state, command, at).state ?? state;
 * });
 * fc.assert(law, { numRuns: 10 });
 * ```
 */
export const anyHistory = (maxLength: number): fc.Arbitrary<readonly Step[]> =>
  fc
    .tuple(
      fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight: 5, arbitrary: beginning }),
      fc.array(fc.record({ command: anyCommand, gap: fc.constantFrom(0, 0, 1, 60_000, 3_600_000), id: fc.nat(400) }), {
        maxLength,
        size: "max",
      }),
    )
    .map(([begins, follows]) => {
      let at = 1_000_000;
      return [...begins.map((command, i) => ({ command, gap: 0, id: 1000 + i })), ...follows].map(({ command, gap, id }) => {
        at += gap;
        return { command: { by: "root", id: `c${id}`, ...command } as Command, at };
      });
    });
