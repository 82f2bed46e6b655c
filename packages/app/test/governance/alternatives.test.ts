import { readFileSync } from "node:fs";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import {
  approvalThatHelps,
  classifyRequest,
  DEFAULT_TIER_POLICY,
  DEFAULT_TIERS,
  type EvaluationCatalogue,
  evaluateOperation,
  findAlternatives,
  type OperationRequest,
  tierRank,
} from "@seneschal/governance";
import fc from "fast-check";
import { expect, test } from "vitest";

const shipped = readFileSync(new URL("../../policies/governance.rego", import.meta.url), "utf8");
const tier = fc.constantFrom(...DEFAULT_TIERS);
const columns = fc.dictionary(
  fc.constantFrom("id", "email", "ssn", "department", "note"),
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
const asked = {
  named: fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 }),
  operation: fc.constantFrom("READ", "EXPORT", "SHARE", "WRITE", "DELETE", "export", "NONSENSE"),
  destination: fc.option(fc.constantFrom("s3://x", "s3://y", "s3://unknown"), { nil: undefined }),
  role: fc.constantFrom("viewer", "analyst", "manager", "admin", "nobody"),
  purpose: fc.option(fc.constantFrom("marketing", "research"), { nil: undefined }),
};
interface Asked {
  readonly named: string[];
  readonly operation: string;
  readonly destination: string | undefined;
  readonly role: string;
  readonly purpose: string | undefined;
}
const situation = fc.record({
  sources: fc.dictionary(fc.constantFrom("a", "b", "c"), resource, { minKeys: 1, maxKeys: 3 }),
  places: fc.dictionary(fc.constantFrom("s3://x", "s3://y"), tier, { maxKeys: 2 }),
  approvals: fc.array(
    fc.record({ expiresAt: fc.constantFrom(0, 1, 1_000_000), covers: fc.record(asked).map((a) => requestOf(a)) }),
    { maxLength: 3 },
  ),
  ...asked,
});
type Situation = typeof situation extends fc.Arbitrary<infer T> ? T : never;

function worldOf({ sources, places, approvals }: Situation): EvaluationCatalogue {
  return {
    resource: (id) =>
      sources[id] ?? (places[id] === undefined ? undefined : { tier: "INTERNAL", tags: [], columns: {}, accepts: places[id] }),
    destinations: () => Object.entries(places).map(([id, accepts]) => ({ id, accepts })),
    purposes: () => ["statistics", "marketing"],
    approvals: () => approvals.map((a, i) => ({ id: `approval-${i}`, approvedBy: "owner", ...a })),
  };
}

function requestOf({ named, operation, destination, role, purpose }: Asked): OperationRequest {
  return {
    operation_type: operation,
    source_resources: named,
    ...(destination === undefined ? {} : { destination_resource: destination }),
    ...(purpose === undefined ? {} : { purpose }),
    user_context: { user_id: "u", role, department: "d" },
  };
}

/** A policy of random thresholds: what may be done is decided by rank, role and whether a destination is named. */
const generated = fc
  .record({
    read: fc.nat(4),
    leave: fc.nat(4),
    banned: fc.constantFrom("SHARE", "WRITE", "AGGREGATE"),
    wanted: fc.constantFrom(
      "true",
      'input.purpose == "statistics"',
      'input.transformations[_].type == "row_filter"',
      'input.transformations[_].type == "sample"',
      "input.approval.active",
    ),
  })
  .map(
    ({ read, leave, banned, wanted }) => `package governance

default decision := {"allowed": false, "policy_id": "none", "policy_name": "None", "reasons": [], "obligations": []}

decision := {"allowed": true, "policy_id": "generated", "policy_name": "Generated", "reasons": ["ok"], "obligations": []} if {
	every source in input.sources { source.known }
	input.operation_type != "${banned}"
	${wanted}
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
      const catalogue = worldOf(given);
      const judge = (request: OperationRequest) => evaluateOperation(request, catalogue, compiled.policy, DEFAULT_TIER_POLICY, 0);
      const found = await findAlternatives(requestOf(given), catalogue, DEFAULT_TIER_POLICY, judge, 0);
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
    type: fc.constantFrom("mask" as const, "pseudonymize" as const, "drop" as const, "aggregate" as const, "sample" as const),
    columns: fc.array(fc.constantFrom("id", "email", "ssn"), { minLength: 1 }),
    k: fc.constantFrom(1, 10),
  });
  fc.assert(
    fc.property(situation, fc.array(change, { maxLength: 3 }), (given, transformations) => {
      const catalogue = worldOf(given);
      const rank = (request: OperationRequest) =>
        tierRank(DEFAULT_TIER_POLICY, classifyRequest(request, catalogue, DEFAULT_TIER_POLICY).tier);
      const plain = requestOf(given);
      expect(rank({ ...plain, transformations })).toBeLessThanOrEqual(Math.max(1, rank(plain)));
    }),
  );
});

test("a decision of another shape is no allow", async () => {
  const catalogue: EvaluationCatalogue = {
    resource: () => ({ tier: "PUBLIC", tags: [], columns: {} }),
    destinations: () => [],
    purposes: () => [],
    approvals: () => [],
  };
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
    expect((await evaluateOperation(request, catalogue, compiled.policy, DEFAULT_TIER_POLICY, 0)).allowed).toBe(false);
  }
});

const internal = { tier: "INTERNAL", tags: [] };
const cells = { email: { tier: "CONFIDENTIAL", tags: ["PII"] }, department: internal, role: internal, user_id: internal };
const onlyTable: EvaluationCatalogue = {
  resource: (id) => (id === "crm" ? { tier: "CONFIDENTIAL", tags: ["PII"], columns: cells } : undefined),
  destinations: () => [],
  purposes: () => [],
  approvals: () => [],
};

test.each([
  ["own rows", { type: "row_filter", column: "User_ID", equals: "u" }, true],
  ["rows of another", { type: "row_filter", column: "user_id", equals: "v" }, false],
  ["rows of nobody", { type: "row_filter", column: "user_id", equals: "" }, false],
  ["rows of one's department", { type: "row_filter", column: "department", equals: "sales" }, false],
  ["rows of one's role", { type: "row_filter", column: "role", equals: "intern" }, false],
  ["a filter on a column that is not there", { type: "row_filter", column: "owner", equals: "u" }, false],
  ["a hundred rows", { type: "sample", rows: 100 }, true],
  ["a thousand rows", { type: "sample", rows: 1000 }, false],
] as const)("the shipped policy shows an intern %s of a CONFIDENTIAL table: %o %s", async (_, transformation, allowed) => {
  const compiled = await embeddedPolicyEngine().compile([{ name: "p.rego", source: shipped }]);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const request: OperationRequest = {
    operation_type: "READ",
    source_resources: ["crm"],
    user_context: { user_id: "u", role: "intern", department: "sales" },
  };
  const judge = (r: OperationRequest, catalogue = onlyTable) =>
    evaluateOperation(r, catalogue, compiled.policy, DEFAULT_TIER_POLICY, 0);
  expect((await judge(request)).allowed).toBe(false);
  const verdict = await judge({ ...request, transformations: [transformation] });
  expect(verdict.allowed).toBe(allowed);
  if (allowed && transformation.type === "row_filter")
    expect(verdict.obligations).toContainEqual({
      type: "row_filter",
      id: "keep-own-rows",
      properties: { column: "User_ID", equals: "u" },
    });
  const proposed = (await findAlternatives(request, onlyTable, DEFAULT_TIER_POLICY, judge, 0)).flatMap(
    (a) => a.request.transformations ?? [],
  );
  expect(proposed).toContainEqual({ type: "row_filter", column: "user_id", equals: "u" });
  expect(proposed).not.toContainEqual({ type: "row_filter", column: "department", equals: "sales" });
  expect(proposed).toContainEqual({ type: "sample", rows: 100 });
});

test("rows of one's own are those of one's user_id, whatever the asker and the filter say, and never of an empty one", async () => {
  const compiled = await embeddedPolicyEngine().compile([{ name: "p.rego", source: shipped }]);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
  const word = fc.constantFrom("", " ", "u", "user", "sales");
  await fc.assert(
    fc.asyncProperty(
      word,
      word,
      fc.constantFrom("user_id", "role", "department", "USER_ID"),
      word,
      async (id, dep, column, equals) => {
        const request: OperationRequest = {
          operation_type: "READ",
          source_resources: ["crm"],
          user_context: { user_id: id, role: "user", department: dep },
          transformations: [{ type: "row_filter", column, equals }],
        };
        const { allowed } = await evaluateOperation(request, onlyTable, compiled.policy, DEFAULT_TIER_POLICY, 0);
        expect(allowed).toBe(column.toLowerCase() === "user_id" && equals === id && id.trim() !== "");
      },
    ),
  );
});

test("an approval that somebody could give is named exactly when it would help", async () => {
  const engine = embeddedPolicyEngine();
  await fc.assert(
    fc.asyncProperty(situation, fc.oneof(fc.constant(shipped), generated), async (given, source) => {
      const compiled = await engine.compile([{ name: "p.rego", source }]);
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
      const catalogue = worldOf({ ...given, approvals: [] });
      const judge = (r: OperationRequest, seen = catalogue) =>
        evaluateOperation(r, seen, compiled.policy, DEFAULT_TIER_POLICY, 0);
      const wanted = await approvalThatHelps(requestOf(given), catalogue, judge, 0);
      const covers = requestOf(given);
      const later = worldOf({ ...given, approvals: [{ expiresAt: 1, covers }] });
      const replay = await judge({ ...covers, approval_id: "approval-0" }, later);
      expect(wanted !== undefined).toBe(replay.allowed);
      const over = worldOf({ ...given, approvals: [{ expiresAt: 0, covers }] });
      const late = await judge({ ...covers, approval_id: "approval-0" }, over);
      if (source === shipped) expect(late.allowed).toBe(false);
    }),
  );
});
