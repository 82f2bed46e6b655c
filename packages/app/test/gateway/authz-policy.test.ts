import { readFileSync } from "node:fs";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { adminRoles, authorizationMatrix, authorize, type Subject } from "@seneschal/core/keys";
import { describe, expect, it } from "vitest";

const source = readFileSync(new URL("../../policies/authz.rego", import.meta.url), "utf8");

/** Every kind of caller that the matrix tells apart. */
const subjects: readonly Subject[] = ["admin", "user", "service", "device", "partner", "emergency", "anonymous"].flatMap((type) =>
  [undefined, ...adminRoles, "root"].flatMap((role) =>
    [[], ["openid"], ["workspace:*"], ["crk:sign", "audit:read"], ["*:read"]].flatMap((scopes) =>
      [[], [{ resource: "policy", action: "*" }], [{ resource: "*", action: "*" }]].map((permissions) => ({
        type,
        roles: role === undefined ? [] : [role],
        scopes,
        permissions,
      })),
    ),
  ),
);

describe("policies/authz.rego", () => {
  it("says the same as the built-in matrix for every kind of caller and every action", async () => {
    const engine = embeddedPolicyEngine();
    const compiled = await engine.compile([{ name: "authz.rego", source }]);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
    let compared = 0;
    for (const action of [...Object.keys(authorizationMatrix), "workspace:steal", "constructor"]) {
      for (const subject of subjects) {
        const input = {
          subject: { id: "x", org: "acme", ...subject, permissions: [...subject.permissions] },
          action,
          resource: { type: "", id: "", org: "acme", workspace: "" },
          context: { method: "GET", path: "/" },
        };
        const answer = await compiled.policy.evaluate(["data", "gateway", "authz", "allow"], input as never, { now: 0 });
        const rego = answer.kind === "defined" && answer.value === true;
        const built = authorize(subject, action).allowed;
        if (rego !== built) expect({ action, subject, rego }).toEqual({ action, subject, rego: built });
        compared += 1;
      }
    }
    expect(compared).toBeGreaterThan(40_000);
    await engine.close();
  });
});
