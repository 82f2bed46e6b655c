import { readFileSync } from "node:fs";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import {
  classifyRequest,
  DEFAULT_TIER_POLICY,
  DEFAULT_TIERS,
  type EvaluationWorld,
  evaluateOperation,
  findAlternatives,
  type OperationRequest,
  tierRank,
} from "@seneschal/core/governance";
import fc from "fast-check";
import { expect, test } from "vitest";

const shipped = readFileSync(new URL("../../policies/governance.rego", import.meta.url), "utf8");
const tier = fc.constantFrom(...DEFAULT_TIERS);
const columns = fc.dictionary(
  fc.constantFrom("id", "email", "ssn", "card", "note"),
  tier.map((t) => ({ tier: t, tags: [t] })),
  { maxKeys: 4 },
);
const top = (cells: Record<string, { tier: string }>) =>
  Object.values(cells).reduce(
    (best, c) => (tierRank(DEFAULT_TIER_POLICY, c.tier) > tierRank(DEFAULT_TIER_POLICY, best) ? c.tier : best),
    "PUBLIC",
  );
const resource = fc
  .record({ columns, tier })
  .map(({ columns: cells, tier: t }) => ({ columns: cells, tags: [], tier: Object.keys(cells).length === 0 ? t : top(cells) }));
const situation = fc.record({
  sources: fc.dictionary(fc.constantFrom("a", "b", "c"), resource, { minKeys: 1, maxKeys: 3 }),
  places: fc.dictionary(fc.constantFrom("s3://x", "s3://y"), tier, { maxKeys: 2 }),
  named: fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 }),
  operation: fc.constantFrom("READ", "EXPORT", "SHARE", "WRITE", "DELETE", "export", "NONSENSE"),
  destination: fc.option(fc.constantFrom("s3://x", "s3://y", "s3://unknown"), { nil: undefined }),
  role: fc.constantFrom("viewer", "analyst", "manager", "admin", "nobody"),
});
type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never;

function worldOf({ sources, places }: Situation): EvaluationWorld {
  return {
    resource: (id) =>
      sources[id] ?? (places[id] === undefined ? undefined : { tier: "INTERNAL", tags: [], columns: {}, accepts: places[id] }),
    destinations: () => Object.entries(places).map(([id, accepts]) => ({ id, accepts })),
  };
}

function requestOf({ named, operation, destination, role }: Situation): OperationRequest {
  return {
    operation_type: operation,
    source_resources: named,
    ...(destination === undefined ? {} : { destination_resource: destination }),
    user_context: { user_id: "u", role, department: "d" },
  };
}

/** A policy of random thresholds: what may be done is decided by rank, role and whether a destination is named. */
const generated = fc.record({ read: fc.nat(4), leave: fc.nat(4), banned: fc.constantFrom("SHARE", "WRITE", "AGGREGATE") }).map(
  ({ read, leave, banned }) => `package governance

default decision := {"allowed": false, "policy_id": "none", "policy_name": "None", "reasons": [], "obligations": []}

decision := {"allowed": true, "policy_id": "generated", "policy_name": "Generated", "reasons": ["ok"], "obligations": []} if {
	every source in input.sources { source.known }
	input.operation_type != "${banned}"
	input.classification.rank <= limit
}

limit := ${read} if input.destination == null

limit := ${leave} if input.destination.known
`,
);

test("every listed alternative replays as allowed, under the shipped and under generated policies", async () => {
  const engine = embeddedPolicyEngine();
  await fc.assert(
    fc.asyncProperty(situation, fc.oneof(fc.constant(shipped), generated), async (given, source) => {
      const compiled = await engine.compile([{ name: "p.rego", source }]);
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
      const world = worldOf(given);
      const judge = (request: OperationRequest) => evaluateOperation(request, world, compiled.policy, DEFAULT_TIER_POLICY, 0);
      const found = await findAlternatives(requestOf(given), world, DEFAULT_TIER_POLICY, judge);
      expect(found.length).toBeLessThanOrEqual(5);
      for (const { request, obligations, description } of found) {
        const replay = await judge(JSON.parse(JSON.stringify(request)) as OperationRequest);
        expect([description, replay.allowed, replay.obligations]).toEqual([description, true, obligations]);
      }
    }),
  );
});

test("a transformation never raises the tier", () => {
  const change = fc.record({
    type: fc.constantFrom("mask" as const, "pseudonymize" as const, "drop" as const, "aggregate" as const),
    columns: fc.array(fc.constantFrom("id", "email", "ssn"), { minLength: 1 }),
    k: fc.constantFrom(1, 10),
  });
  fc.assert(
    fc.property(situation, fc.array(change, { maxLength: 3 }), (given, transformations) => {
      const world = worldOf(given);
      const rank = (request: OperationRequest) =>
        tierRank(DEFAULT_TIER_POLICY, classifyRequest(request, world, DEFAULT_TIER_POLICY).tier);
      const plain = requestOf(given);
      expect(rank({ ...plain, transformations })).toBeLessThanOrEqual(Math.max(1, rank(plain)));
    }),
  );
});

test("a decision of another shape is no allow", async () => {
  const world: EvaluationWorld = { resource: () => ({ tier: "PUBLIC", tags: [], columns: {} }), destinations: () => [] };
  const request = {
    operation_type: "READ",
    source_resources: ["a"],
    user_context: { user_id: "u", role: "admin", department: "" },
  };
  const decision = '"policy_id": "p", "policy_name": "P", "reasons": []';
  for (const value of [
    "true",
    '{"allowed": "yes"}',
    '{"allowed": true}',
    "[]",
    `{"allowed": true, ${decision}, "obligations": [{"type": 7}]}`,
  ]) {
    const compiled = await embeddedPolicyEngine().compile([
      { name: "p.rego", source: `package governance\n\ndecision := ${value}\n` },
    ]);
    if (!compiled.ok) throw new Error(value);
    expect((await evaluateOperation(request, world, compiled.policy, DEFAULT_TIER_POLICY, 0)).allowed).toBe(false);
  }
});
