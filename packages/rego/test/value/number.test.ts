import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { documentOf, textOf } from "../document-of.ts";
import { rounds } from "../rounds.ts";

describe("numbers", () => {
  // values of OPA's big.Float arithmetic: 64 bits of mantissa, shortest text
  test.each([
    ["0.1 + 0.2", "0.3"],
    ["1.10 + 2.20", "3.3000000000000000002"],
    ["1 / 3", "0.33333333333333333334"],
    ["2 / 3", "0.6666666666666666667"],
    ["1 / 7", "0.14285714285714285714"],
    ["22 / 7", "3.1428571428571428572"],
    ["0.1 - 0.3", "-0.20000000000000000002"],
    ["0.1 * 3", "0.3"],
    ["(1 / 3) * 3", "1"],
    ["5 / 0.1", "50"],
    ["4.35 * 100", "435"],
    ["1.005 * 1000", "1005"],
    ["1e16 + 0.5", "10000000000000000.5"],
    ["9007199254740992 + 1", "9007199254740993"],
    ["9223372036854775807 + 1", "9223372036854775808"],
    ["-5 % 3", "-2"],
    ["5 % -3", "2"],
    ["round(2.5)", "3"],
    ["round(-1.5)", "-2"],
    ["bits.lsh(1, 100)", "1267650600228229401496703205376"],
    ["bits.rsh(-8, 1)", "-4"],
  ])("%s is %s", (expression, text) => {
    expect(textOf(expression)).toBe(text);
  });

  test("0.1 + 0.2 equals 0.3 and 1.10 + 2.20 does not equal 3.3", () => {
    expect(documentOf("p if 0.1 + 0.2 == 0.3")).toBe(true);
    expect(documentOf("p if 1.10 + 2.20 == 3.3")).toBeUndefined();
  });

  test("one number has one key, however it is written", () => {
    expect(documentOf('p := {1: "a"}[1.0]')).toBe("a");
    expect(documentOf("p := count({1, 1.0, 1e0})")).toBe(1);
  });

  test("integers are exact, whatever their size", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }), fc.bigInt({ min: -(2n ** 90n), max: 2n ** 90n }), (a, b) => {
        expect(textOf(`[(${a}) + (${b}), (${a}) - (${b}), (${a}) * (${b})]`)).toBe(`[${a + b},${a - b},${a * b}]`);
        if (b !== 0n) expect(textOf(`(${a}) % (${b})`)).toBe(`${a % b}`);
      }),
      { numRuns: rounds(60) },
    );
  });

  test("a fraction reads back from its text", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }), (x) => {
        expect(Number(textOf(`json.unmarshal("${JSON.stringify(x)}")`))).toBe(x === 0 ? 0 : x);
      }),
      { numRuns: rounds(200) },
    );
  });
});
