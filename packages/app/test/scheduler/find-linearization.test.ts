import fc from "fast-check";
import { expect, test } from "vitest";
import { findLinearization, type Operation } from "../integration/find-linearization.ts";

/** A counter that writes set to their position; a read sees a value. */
const write = (name: string, asked: number, answered: number, position: number): Operation => ({
  name,
  asked,
  answered,
  position,
});
const read = (name: string, asked: number, answered: number, saw: number, writes: readonly number[]): Operation => ({
  name,
  asked,
  answered,
  observedFrom: (from) => {
    const until = writes.find((at) => at > saw) ?? Number.POSITIVE_INFINITY;
    return Math.max(from, saw) < until ? Math.max(from, saw) : undefined;
  },
});

test("overlapping operations may take any order, those one after the other only theirs", () => {
  expect(findLinearization([write("a", 0, 10, 2), write("b", 5, 15, 1)])).toEqual([]);
  expect(findLinearization([write("a", 0, 4, 2), write("b", 5, 15, 1)])).toEqual(["b"]);
});

test("a stale read, a read of the future, a lost write and one acknowledged twice have no place", () => {
  const writes = [1, 2];
  const history = [write("a", 0, 1, 1), write("b", 2, 3, 2)];
  expect(findLinearization([...history, read("fresh", 4, 5, 2, writes)])).toEqual([]);
  expect(findLinearization([...history, read("stale", 4, 5, 1, writes)])).toEqual(["stale"]);
  expect(findLinearization([write("a", 0, 1, 1), read("early", 1.2, 1.4, 2, writes), write("b", 2, 3, 2)])).toEqual(["b"]);
  expect(findLinearization([...history, write("lost", 4, 5, Number.NaN)])).toEqual(["lost"]);
  expect(findLinearization([...history, write("again", 4, 5, 2)])).toEqual(["again"]);
});

/** The definition, by trying every order: exponential, for histories of a few operations. */
function slowIsLinearizable(operations: readonly Operation[], writes: readonly number[]): boolean {
  const place = (left: readonly Operation[], at: number): boolean => {
    if (left.length === 0) return true;
    return left.some((operation) => {
      if (left.some((other) => other.answered < operation.asked)) return false;
      const rest = left.filter((other) => other !== operation);
      if (operation.position !== undefined) return operation.position > at && place(rest, operation.position);
      // an observation may stand after any write that is not yet placed, as long as what it saw is true there
      return [at, ...writes.filter((p) => p > at)].some((p) => operation.observedFrom?.(p) === p && place(rest, p));
    });
  };
  return place(operations, 0);
}

test("it finds a linearization exactly where the definition has one", () => {
  const writes = [1, 2, 3];
  const time = fc.tuple(fc.nat(12), fc.integer({ min: 1, max: 6 }));
  const history = fc
    .tuple(
      fc.array(time, { minLength: 3, maxLength: 3 }),
      fc.array(fc.tuple(time, fc.integer({ min: 0, max: 3 })), { maxLength: 3 }),
    )
    .map(([writers, readers]) => [
      ...writers.map(([asked, took], i) => write(`w${i}`, asked, asked + took, writes[i] as number)),
      ...readers.map(([[asked, took], saw], i) => read(`r${i}`, asked, asked + took, saw, writes)),
    ]);
  fc.assert(
    fc.property(history, (operations) => {
      expect(findLinearization(operations).length === 0).toBe(slowIsLinearizable(operations, writes));
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 500) },
  );
});
