import { describe, expect, it } from "vitest";
import { type AccessFacts, classifications, decideAccess, workspaceStatuses } from "../../src/keys/index.ts";

const booleans = [true, false] as const;

/** Every combination of facts. */
function* everyCase(): Generator<AccessFacts> {
  for (const operation of ["encrypt", "decrypt"] as const)
    for (const status of workspaceStatuses)
      for (const participates of booleans)
        for (const classification of classifications)
          for (const crkProtected of booleans)
            for (const admitted of booleans)
              for (const groupBound of booleans)
                for (const groupMember of booleans)
                  for (const denied of booleans)
                    yield {
                      operation,
                      status,
                      participates,
                      classification,
                      crkProtected,
                      admitted,
                      groupBound,
                      groupMember: groupBound && groupMember,
                      policies: denied
                        ? [{ policy: "p", allowed: false, reason: "no" }]
                        : [{ policy: "p", allowed: true, reason: "" }],
                    };
}

/** The sentences of the brief, written as slowly as possible. */
function obvious(f: AccessFacts): string {
  if (!f.participates) return "NOT_FOUND";
  let inside: boolean;
  if (f.classification === "SECRET") inside = f.admitted && (!f.groupBound || f.groupMember);
  else if (f.crkProtected) inside = f.admitted;
  else inside = f.admitted || f.groupMember;
  if (!inside) return "NOT_ADMITTED";
  if (f.status === "expired") return "WORKSPACE_EXPIRED";
  if (f.status === "archived" && f.operation === "encrypt") return "WORKSPACE_ARCHIVED";
  return f.policies.every((p) => p.allowed) ? "allowed" : "POLICY_VIOLATION";
}

describe("access to a workspace's key", () => {
  it("agrees with the sentences of the specification on every combination of facts", () => {
    let cases = 0;
    for (const facts of everyCase()) {
      const decision = decideAccess(facts);
      expect(decision.allowed ? "allowed" : decision.code, JSON.stringify(facts)).toBe(obvious(facts));
      cases += 1;
    }
    expect(cases).toBe(768);
  });
});
