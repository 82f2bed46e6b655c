import { afterAll, describe, expect, test } from "vitest";
import { embeddedPolicyEngine } from "../../src/policy/index.ts";

const now = 0;
const small = [{ name: "small.rego", source: 'package p\n\nallow if input.user == "ada"\n' }];
const endless = [
  {
    name: "endless.rego",
    source:
      "package p\n\nallow if input.quick\n\nallow if count([x | some x in numbers.range(1, 1000000); some y in numbers.range(1, 1000)]) > 0\n",
  },
];

describe("the embedded engine with an owner", () => {
  const engine = embeddedPolicyEngine();
  afterAll(() => engine.close());
  const compiled = async (sources: typeof small, owner?: string) => {
    const result = await engine.compile(sources, owner === undefined ? {} : { owner });
    if (!result.ok) throw new Error(result.problems[0]?.message);
    return result.policy;
  };

  test("answers and refuses as it does without", async () => {
    const policy = await compiled(small, "acme");
    expect(policy.packages).toEqual([["p"]]);
    for (const user of ["ada", "bob"]) {
      const asked = [["data", "p", "allow"], { user }] as const;
      expect(await policy.evaluate(...asked, { now, owner: "acme" })).toEqual(await policy.evaluate(...asked, { now }));
    }
    const broken = [{ name: "broken.rego", source: "package p\n\nallow if {" }];
    expect(await engine.check(broken, { owner: "acme" })).toEqual(await engine.check(broken));
    expect(await engine.compile(broken, { owner: "acme" })).toEqual(await engine.compile(broken));
  });

  test("compiles in a worker, and hands an evaluation over that is not done at once", async () => {
    const before = engine.state?.()?.done ?? 0;
    const policy = await compiled(endless, "acme");
    expect(engine.state?.()?.done).toBe(before + 1);
    expect(await policy.evaluate(["data", "p", "allow"], {}, { now, owner: "acme" })).toMatchObject({
      kind: "error",
      code: "eval_limit_error",
    });
    expect(engine.state?.()?.done).toBe(before + 2);
  });

  test("what takes longer than the deadline is a problem or an error, never an answer", async () => {
    const hasty = embeddedPolicyEngine({ deadline: 50, budgets: { milliseconds: 60_000, ticks: 1e12, elements: 1e12 } });
    const policy = await hasty.compile(endless);
    if (!policy.ok) throw new Error("does not compile");
    expect(await policy.policy.evaluate(["data", "p", "allow"], {}, { now, owner: "acme" })).toMatchObject({ kind: "error" });
    await hasty.close();
  });

  test("without threads does everything here", async () => {
    const alone = embeddedPolicyEngine({ threads: 0 });
    const result = await alone.compile(small, { owner: "acme" });
    expect(
      result.ok && (await result.policy.evaluate(["data", "p", "allow"], { user: "ada" }, { now, owner: "acme" })),
    ).toMatchObject({
      value: true,
    });
    expect(alone.state?.()).toBeUndefined();
  });
});
