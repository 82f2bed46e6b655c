import { DEFAULT_TIER_POLICY, evaluateOperation } from "@seneschal/governance";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import type { PolicyAnswer, PolicyEngine } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { expect, test } from "vitest";
import { policyGate } from "../../src/gateway/workspaces/policy-gate.ts";
import { openAuthorisation, questionOf } from "../../src/platform/index.ts";

const services = ["gateway", "governance", "scheduler", "storage"] as const;
const packages = [...services.map((service) => [service, "authz"]), ["p"]];

/** An engine that gives the same answer to whatever it is asked. */
const answering = (answer: PolicyAnswer, name = "told"): PolicyEngine => ({
  name,
  check: async () => [],
  compile: async () => ({ ok: true, policy: { packages: name === "own" ? [["p"]] : packages, evaluate: async () => answer } }),
  close: async () => undefined,
});
const error = (code: string): PolicyAnswer => ({ kind: "error", code, message: "" });

/** What each use of an evaluation makes of an answer: leave, a denial, or none of both. */
const uses: Readonly<Record<string, (answer: PolicyAnswer) => Promise<"allowed" | "denied">>> = {
  ...Object.fromEntries(
    services.map((service) => [
      `the authorisation policy of ${service}`,
      async (answer: PolicyAnswer) => {
        const authorisation = await openAuthorisation({ engine: answering(answer), service, source: `package ${service}.authz` });
        const question = questionOf({ route: { method: "GET", path: "/x", action: "a:b" } as never, principal: undefined });
        return (await authorisation.decide(question, 0)).allowed ? "allowed" : "denied";
      },
    ]),
  ),
  "an organisation's policy": async (answer) => {
    const policy = { id: "1", workspace_id: "w", name: "p", version: 1, rego: "package p", updated_at: 0 } as never;
    const verdict = await policyGate(answering(answer, "own"), { note: async () => undefined }, { now: () => 0 }).ask(
      policy,
      {} as JsonObject,
      { now: 0, owner: "acme" },
    );
    return verdict.allowed ? "allowed" : "denied";
  },
  "a decision of data governance": async (answer) => {
    const request = {
      operation_type: "READ",
      source_resources: ["a"],
      user_context: { user_id: "u", role: "r", department: "d" },
    };
    const compiled = await answering(answer).compile([]);
    if (!compiled.ok) return expect.fail("it compiles");
    const catalogue = { resource: () => undefined, approval: () => undefined } as never;
    const verdict = await evaluateOperation(request, catalogue, compiled.policy, DEFAULT_TIER_POLICY, 0);
    return verdict.allowed ? "allowed" : "denied";
  },
};
const outcome = (use: string, answer: PolicyAnswer): Promise<string> =>
  (uses[use] as (answer: PolicyAnswer) => Promise<string>)(answer).catch((failure: unknown) =>
    isCoded(failure) ? failure.code : expect.fail(String(failure)),
  );

/** What the others have undecided is told by, where it is not to be asked again at once. */
const own: Readonly<Record<string, string>> = {
  // An organisation answers for its policies: it is told in its audit log that one failed.
  "an organisation's policy": "denied",
  "a decision of data governance": "policy_evaluation_failed",
};

test("whoever asks an authorisation policy that was not decided in its time, or whose engine is away, is told to ask again: it is no leave, and no denial", async () => {
  for (const use of Object.keys(uses))
    for (const code of ["eval_limit_error", "eval_cancel_error", "opa_unreachable"])
      expect([use, code, await outcome(use, error(code))]).toEqual([use, code, own[use] ?? "service_unavailable"]);
});

test("a failed evaluation is never leave, whatever its code", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(uses)),
      fc.oneof(
        fc.constantFrom("eval_limit_error", "eval_conflict_error", "eval_internal_error", "eval_builtin_error"),
        fc.string(),
      ),
      async (use, code) => {
        expect(await outcome(use, error(code))).not.toBe("allowed");
      },
    ),
  );
});
