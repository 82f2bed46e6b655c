import type { Json, JsonObject } from "../json.ts";
import type { CompiledPolicy, PolicyAnswer, PolicyEngine, PolicySource } from "../ports/policy-engine.ts";
import type { SuiteRunner } from "./suite.ts";

export interface PolicyEngineUnderTest {
  open(): Promise<PolicyEngine>;
  readonly capabilities: {
    /** `time.now_ns()` follows `now`. */
    readonly clock: boolean;
  };
}

const LIBRARY: PolicySource = {
  name: "roles.rego",
  source: "package suite.roles\n\nholds(user, role) if role in data.roles[user]\n",
};

const POLICY: PolicySource = {
  name: "authz.rego",
  source: `package suite.authz

import data.suite.roles

default allow := false

allow if roles.holds(input.user, "admin")

never if input.nothing

deny contains reason if {
	not allow
	reason := sprintf("%v is no admin", [input.user])
}

clash := 1 if input.user

clash := 2 if input.user

echo := input.echo

clock := time.now_ns()
`,
};

/** The policy of the suite, for engines that are told answers instead of compiling. */
export const suitePolicy: readonly PolicySource[] = [LIBRARY, POLICY];

/**
 * Every law of the PolicyEngine port as a test.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { test } from "node:test";
 * import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
 * import { policyEngineSuite } from "@seneschal/kernel/testing";
 * policyEngineSuite(
 *   { test: (name, body) => void test(name, body), equal: assert.deepStrictEqual },
 *   { open: async () => embeddedPolicyEngine(), capabilities: { clock: true } },
 * );
 * ```
 */
export function policyEngineSuite(runner: SuiteRunner, subject: PolicyEngineUnderTest): void {
  const { equal } = runner;
  const law = (name: string, body: (engine: PolicyEngine) => Promise<void>): void =>
    runner.test(name, async () => {
      const engine = await subject.open();
      try {
        await body(engine);
      } finally {
        await engine.close();
      }
    });
  const compiled = async (engine: PolicyEngine, sources: readonly PolicySource[] = suitePolicy): Promise<CompiledPolicy> => {
    const result = await engine.compile(sources);
    if (!result.ok) throw new Error(JSON.stringify(result.problems));
    return result.policy;
  };
  const ask = (policy: CompiledPolicy, name: string, input: Json, data: JsonObject = {}): Promise<PolicyAnswer> =>
    policy.evaluate(["data", "suite", "authz", name], input, { now: 0, data });

  law("a rule that holds is defined, a default too", async (engine) => {
    const policy = await compiled(engine);
    const data = { roles: { ada: ["admin"] } };
    equal(await ask(policy, "allow", { user: "ada" }, data), { kind: "defined", value: true });
    equal(await ask(policy, "allow", { user: "eve" }, data), { kind: "defined", value: false });
  });

  law("a rule that does not hold is undefined, and so is one that does not exist", async (engine) => {
    const policy = await compiled(engine);
    equal(await ask(policy, "never", { user: "ada" }), { kind: "undefined" });
    equal(await ask(policy, "absent", { user: "ada" }), { kind: "undefined" });
  });

  law("a failed evaluation is an error with a code, never undefined", async (engine) => {
    const policy = await compiled(engine);
    const answer = await ask(policy, "clash", { user: "ada" });
    equal(answer.kind === "error" && answer.code, "eval_conflict_error");
  });

  law("every JSON value passes through input and result unchanged", async (engine) => {
    const policy = await compiled(engine);
    for (const echo of [null, false, 0, -1.5, "", "ü😀", [], [1, [2]], {}, { a: { b: [null] } }] as Json[]) {
      equal(await ask(policy, "echo", { echo }), { kind: "defined", value: echo });
    }
  });

  law("sets come as arrays", async (engine) => {
    const policy = await compiled(engine);
    equal(await ask(policy, "deny", { user: "eve" }), { kind: "defined", value: ["eve is no admin"] });
  });

  law("data of one evaluation does not reach the next, also when they run at once", async (engine) => {
    const policy = await compiled(engine);
    const answers = await Promise.all([
      ask(policy, "allow", { user: "ada" }, { roles: { ada: ["admin"] } }),
      ask(policy, "allow", { user: "ada" }, { roles: {} }),
      ask(policy, "allow", { user: "ada" }),
      ask(policy, "allow", { user: "ada" }, { roles: { ada: ["admin"] } }),
    ]);
    equal(
      answers.map((answer) => answer.kind === "defined" && answer.value),
      [true, false, false, true],
    );
  });

  law("a compiled policy names its packages", async (engine) => {
    const policy = await compiled(engine);
    equal(policy.packages, [
      ["suite", "roles"],
      ["suite", "authz"],
    ]);
  });

  law("check finds nothing in what compiles", async (engine) => {
    equal(await engine.check(suitePolicy), []);
  });

  law("check and compile report a syntax error with its file and row", async (engine) => {
    const broken: PolicySource = { name: "broken.rego", source: "package broken\n\nallow if {\n" };
    const result = await engine.compile([broken]);
    equal(result.ok, false);
    for (const problems of [await engine.check([broken]), result.ok ? [] : result.problems]) {
      equal(problems.length > 0, true);
      equal(problems[0]?.code, "rego_parse_error");
      equal(problems[0]?.file, "broken.rego");
      equal((problems[0]?.row ?? 0) >= 3, true);
    }
  });

  law("check reports variables that nothing binds", async (engine) => {
    const unsafe: PolicySource = { name: "unsafe.rego", source: "package unsafe\n\nallow if x == 1\n" };
    equal((await engine.check([unsafe])).map(({ code, file, row }) => ({ code, file, row }))[0], {
      code: "rego_unsafe_var_error",
      file: "unsafe.rego",
      row: 3,
    });
  });

  law("policies of one package compiled apart do not meet", async (engine) => {
    const one = await compiled(engine, [{ name: "p.rego", source: "package suite.authz\n\necho := 1\n" }]);
    const two = await compiled(engine, [{ name: "p.rego", source: "package suite.authz\n\necho := 2\n" }]);
    equal(await ask(one, "echo", {}), { kind: "defined", value: 1 });
    equal(await ask(two, "echo", {}), { kind: "defined", value: 2 });
  });

  if (subject.capabilities.clock) {
    law("time.now_ns is the time given", async (engine) => {
      const policy = await compiled(engine);
      const answer = await policy.evaluate(["data", "suite", "authz", "clock"], {}, { now: 1_700_000_000_123 });
      equal(answer, { kind: "defined", value: 1_700_000_000_123_000_000 });
    });
  }
}
