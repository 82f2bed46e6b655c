import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { policyAnswers, policyVerdicts } from "../../src/arbitraries/index.ts";
import {
  combineVerdicts,
  createPolicy,
  limits,
  policyRefusal,
  policyVerdict,
  requireOwnPackage,
  requirePolicyRoom,
  revisePolicy,
} from "../../src/keys/index.ts";

const codeOf = (call: () => unknown): string | undefined => {
  try {
    call();
    return undefined;
  } catch (error) {
    if (isCoded(error)) return error.code;
    throw error;
  }
};

test("whatever a policy answers, only a plain yes without any deny allows, and every no has a reason", () => {
  fc.assert(
    fc.property(policyAnswers, (answer) => {
      const verdict = policyVerdict("p", answer);
      expect(verdict.allowed).toBe(verdict.reason === "");
      if (!verdict.allowed) return;
      const document = (answer.kind === "defined" ? answer.value : undefined) as Record<string, unknown>;
      const decision = document["allow"] ?? document["allowed"];
      expect(decision === true || (decision as { readonly allow?: unknown }).allow === true).toBe(true);
      expect(Array.isArray(document["deny"]) ? document["deny"] : []).toEqual([]);
    }),
  );
});

test("policies only restrict: one that is added never turns a no into a yes", () => {
  fc.assert(
    fc.property(fc.array(policyVerdicts), policyVerdicts, (verdicts, added) => {
      const before = policyRefusal(verdicts);
      const after = policyRefusal([...verdicts, added]);
      if (before !== undefined) expect(after).toMatchObject({ code: "POLICY_VIOLATION", details: before.details });
      expect(after === undefined).toBe(before === undefined && added.allowed);
      const combined = combineVerdicts([...verdicts, added]);
      expect(combined.allowed).toBe(after === undefined);
      if (!combined.allowed) expect(combined.deny_reason).not.toBe("");
      expect(combineVerdicts([])).toEqual({ allowed: false, deny_reason: "no policy applies" });
    }),
  );
});

test("a number stands for one text, and a workspace has no more of them than travels", () => {
  const given = { id: "p1", org_id: "acme", workspace_id: "w1", name: "hours", rego: "package a", created_by: "ada" };
  fc.assert(
    fc.property(fc.array(fc.string(), { maxLength: 10 }), (texts) => {
      let policy = createPolicy(given, 0);
      const seen = new Map([[policy.version, policy.rego]]);
      for (const [i, rego] of texts.entries()) {
        policy = revisePolicy(policy, rego, i + 1);
        expect(seen.has(policy.version)).toBe(false);
        seen.set(policy.version, policy.rego);
        expect(policy).toMatchObject({ ...given, rego, created_at: new Date(0).toISOString() });
      }
    }),
  );
  const { count, bytes } = limits.policies;
  const sizes = fc.oneof(
    fc.array(fc.nat(bytes), { maxLength: 4 }),
    fc.array(fc.nat(100), { minLength: count - 2, maxLength: count + 2 }),
  );
  fc.assert(
    fc.property(sizes, (all) => {
      const fits = all.length <= count && all.reduce((sum, size) => sum + size, 0) <= bytes;
      expect(codeOf(() => requirePolicyRoom(all))).toBe(fits ? undefined : "CONFLICT");
    }),
  );
});

test("no policy stands in a package of the gateway's or of another workspace", () => {
  const part = fc.constantFrom("system", "gateway", "authz", "workspace", "w1", "w2", "export");
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), fc.constantFrom(null, "w1"), (path, workspace) => {
      const text = `${path.join(".")}.`;
      const others = text.startsWith("gateway.workspace.") && text !== `gateway.workspace.${workspace}.`;
      const reserved = text.startsWith("system.") || text.startsWith("gateway.authz.") || others;
      expect(codeOf(() => requireOwnPackage(path, workspace))).toBe(reserved ? "POLICY_INVALID" : undefined);
    }),
  );
});
