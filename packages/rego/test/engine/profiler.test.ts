import { check, compile, type ProfiledRow, sortProfile } from "@seneschal/rego";
import { policies } from "@seneschal/rego/arbitraries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rounds } from "../rounds.ts";

const source = `package p

high if {
	some n in input.all
	n > 2
	n != input.passed
}

pairs contains [a, b] if {
	some a in input.all
	some b in input.all
}
`;

const counts = (rows: readonly ProfiledRow[]) => rows.map(({ row, evaluations, redos }) => [row, evaluations, redos]);

describe("a profile", () => {
  const policy = compile([{ name: "p.rego", source }]);

  it("counts how often each row was evaluated and asked for its next solution", () => {
    const { result, rows } = policy.profile("data.p.high", { all: [1, 3, 4], passed: 3 });
    expect(result).toEqual({ kind: "defined", value: true });
    expect(counts(rows)).toEqual([
      [4, 1, 3],
      [5, 3, 2],
      [6, 2, 1],
    ]);
    // the head's array is an expression as well
    expect(counts(policy.profile("data.p.pairs", { all: [1, 2, 3] }).rows)).toEqual([
      [9, 9, 9],
      [10, 1, 3],
      [11, 3, 9],
    ]);
  });

  it("begins anew with each evaluation", () => {
    const input = { all: [1, 3, 4], passed: 3 };
    const once = counts(policy.profile("data.p.high", input).rows);
    expect(counts(policy.profile("data.p.high", input).rows)).toEqual(once);
  });

  it("gives every tick of the given clock after the first expression to one row, and none without a clock", () => {
    let now = 0;
    const clock = () => now++;
    const rows = policy.profile("data.p.pairs", { all: [1, 2] }, { clock }).rows;
    const events = rows.reduce((n, { evaluations, redos }) => n + evaluations + redos, 0);
    const time = rows.reduce((sum, row) => sum + row.time, 0);
    expect(time).toBeGreaterThanOrEqual(events);
    expect(time).toBeLessThan(now);
    expect(policy.profile("data.p.pairs", { all: [1, 2] }).rows.every((row) => row.time === 0)).toBe(true);
  });

  it("leaves every answer as it is", () => {
    fc.assert(
      fc.property(policies(), ({ source: generated, input }) => {
        const sources = [{ name: "g.rego", source: generated }];
        if (check(sources).length > 0) return;
        const compiled = compile(sources);
        for (const path of compiled.entrypoints) {
          expect(compiled.profile(path, input).result).toEqual(compiled.evaluate(path, input));
        }
      }),
      { numRuns: rounds(200) },
    );
  });

  it("is sorted by one order after the other, the highest counts first", () => {
    const row = (over: Partial<ProfiledRow>): ProfiledRow => {
      return { file: "a", row: 1, col: 1, text: "", evaluations: 0, redos: 0, expressions: 1, time: 0, ...over };
    };
    const rows = [row({ row: 3 }), row({ row: 2, evaluations: 2 }), row({ file: "b", evaluations: 2, time: 1 })];
    expect(sortProfile(rows, ["evaluations", "time"]).map(({ file, row: at }) => file + at)).toEqual(["b1", "a2", "a3"]);
    expect(sortProfile(rows, ["file", "row"]).map(({ file, row: at }) => file + at)).toEqual(["a2", "a3", "b1"]);
  });
});
