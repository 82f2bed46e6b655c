/** A law of a policy and a law of quotas, for whatever input: fast-check looks for the one that breaks them. */
import { apply, emptyState } from "@seneschal/quota";
import { anyHistory, slowHolding } from "@seneschal/quota/arbitraries";
import { compile } from "@seneschal/rego";
import fc from "fast-check";

const source = `package export

default allow := false

allow if {
	input.rows <= data.limit
	input.tier != "RESTRICTED"
}
`;
const policy = compile([{ name: "export.rego", source }]);
const question = fc.record({ rows: fc.nat(1000), tier: fc.constantFrom("PUBLIC", "CONFIDENTIAL", "RESTRICTED") });

fc.assert(
  fc.property(question, (input) => {
    const answer = policy.evaluate("data.export.allow", input, { data: { limit: 100 } });
    if (answer.kind !== "defined") throw new Error("the policy always decides");
    return !(answer.value === true && input.tier === "RESTRICTED");
  }),
);

fc.assert(
  fc.property(anyHistory(30), (history) => {
    let state = emptyState();
    for (const { command, at } of history) {
      const outcome = apply(state, command, at);
      if (!outcome.ok) continue;
      for (const [id, { maxConcurrentAllocations: limit }] of outcome.state.tenants.entries()) {
        const active = slowHolding(outcome.state, id).allocations;
        const more = active > slowHolding(state, id).allocations;
        if (more && command.kind === "allocation.assign" && limit !== null && active > limit)
          throw new Error(`${command.kind} takes ${id} over its limit`);
      }
      state = outcome.state;
    }
  }),
);
console.log("both laws hold");
