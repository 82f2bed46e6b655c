import { createReedSolomon } from "@seneschal/adapters/erasure";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

/** Carry-less multiplication bit by bit, reduced by 0x11d: the slow, obvious field. */
function slowMultiply(a: number, b: number): number {
  let product = 0;
  for (let i = 0; i < 8; i++) if (b & (1 << i)) product ^= a << i;
  for (let i = 15; i >= 8; i--) if (product & (1 << i)) product ^= 0x11d << (i - 8);
  return product;
}

function slowInverse(a: number): number {
  for (let b = 1; b < 256; b++) if (slowMultiply(a, b) === 1) return b;
  throw new Error("0");
}

/** The Cauchy coefficient of parity row i and data column j, scaled so that row 0 and column 0 are ones. */
function slowCoefficient(data: number, i: number, j: number): number {
  const raw = (row: number, column: number) => slowMultiply(slowInverse((data + row) ^ column), data ^ column);
  return slowMultiply(raw(i, j), slowInverse(raw(i, 0)));
}

function slowParity(fragments: readonly Uint8Array[], parity: number): Uint8Array[] {
  return Array.from({ length: parity }, (_, i) => {
    const row = fragments.map((_, j) => slowCoefficient(fragments.length, i, j));
    return Uint8Array.from(fragments[0]!, (_, at) => fragments.reduce((sum, f, j) => sum ^ slowMultiply(row[j]!, f[at]!), 0));
  });
}

const stripe = fc
  .record({
    data: fc.integer({ min: 1, max: 16 }),
    parity: fc.integer({ min: 0, max: 8 }),
    length: fc.integer({ min: 0, max: 40 }),
  })
  .chain(({ data, parity, length }) =>
    fc.record({
      parity: fc.constant(parity),
      fragments: fc.array(fc.uint8Array({ minLength: length, maxLength: length }), { minLength: data, maxLength: data }),
      lost: fc.subarray(
        Array.from({ length: data + parity }, (_, i) => i),
        { maxLength: parity },
      ),
    }),
  );

describe("Reed-Solomon over GF(256)", () => {
  test("parity equals the slow field's Cauchy rows", () => {
    fc.assert(
      fc.property(stripe, ({ fragments, parity }) => {
        expect(createReedSolomon(fragments.length, parity).encode(fragments)).toEqual(slowParity(fragments, parity));
      }),
      { numRuns: 30 },
    );
  });
  test("any loss of at most `parity` fragments is rebuilt bit-equal", () => {
    fc.assert(
      fc.property(stripe, ({ fragments, parity, lost }) => {
        const code = createReedSolomon(fragments.length, parity);
        const all = [...fragments, ...code.encode(fragments)];
        const present = all.map((f, i) => (lost.includes(i) ? undefined : f));
        expect(code.rebuild(present, lost)).toEqual(lost.map((i) => all[i]));
      }),
    );
  });
  test("parity does not depend on how long a fragment is: borders of vectors and blocks", () => {
    const whole = Array.from({ length: 3 }, (_, j) => Uint8Array.from({ length: 33_000 }, (_, i) => (i * i * 7 + j * 89) & 255));
    const expected = createReedSolomon(3, 2).encode(whole);
    expect(expected.map((p) => p.subarray(32_700))).toEqual(
      slowParity(
        whole.map((f) => f.subarray(32_700)),
        2,
      ),
    );
    for (const length of [1, 15, 16, 17, 16_383, 16_384, 16_385, 32_768, 32_769])
      expect(createReedSolomon(3, 2).encode(whole.map((f) => f.subarray(0, length)))).toEqual(
        expected.map((p) => p.slice(0, length)),
      );
  });
  test("the parity of a known stripe: what devices hold today must stay readable", () => {
    const fragments = [
      [1, 2, 3],
      [4, 5, 6],
      [7, 8, 9],
      [250, 251, 252],
    ].map((f) => Uint8Array.from(f));
    expect(
      createReedSolomon(4, 2)
        .encode(fragments)
        .map((p) => [...p]),
    ).toEqual([
      [248, 244, 240],
      [105, 76, 4],
    ]);
  });
  test("parity is made where the caller has room for it, whatever is there, and nowhere else", () => {
    const pieces = [Uint8Array.of(1, 2, 3), Uint8Array.of(4, 5, 6)];
    for (const data of [1, 2]) {
      const code = createReedSolomon(data, 2);
      const memory = new Uint8Array(8).fill(255);
      const into = [memory.subarray(1, 4), memory.subarray(4, 7)];
      expect(code.encode(pieces.slice(0, data), into)).toBe(into);
      expect([...memory]).toEqual([255, ...code.encode(pieces.slice(0, data)).flatMap((piece) => [...piece]), 255]);
      for (const wrong of [[], into.slice(1), [into[0]!, memory]])
        expect(() => code.encode(pieces.slice(0, data), wrong)).toThrow(RangeError);
    }
  });
  test("copies of a single data fragment are copies, not views of it", () => {
    const source = Buffer.from([1, 2, 3]);
    const [copy] = createReedSolomon(1, 1).encode([source]);
    source[0] = 9;
    expect([...copy!]).toEqual([1, 2, 3]);
  });
  test("every pattern of two losses of 4+2, across a block border", () => {
    const code = createReedSolomon(4, 2);
    const fragments = Array.from({ length: 4 }, (_, j) => Uint8Array.from({ length: 16_387 }, (_, i) => (i * 31 + j * 97) & 255));
    const all = [...fragments, ...code.encode(fragments)];
    for (let a = 0; a < 6; a++)
      for (let b = a + 1; b < 6; b++) {
        const present = all.map((f, i) => (i === a || i === b ? undefined : f));
        const rebuilt = code.rebuild(present, [a, b]);
        expect(Buffer.compare(rebuilt[0]!, all[a]!) || Buffer.compare(rebuilt[1]!, all[b]!)).toBe(0);
      }
  });
  test("one fragment too few is refused, never guessed", () => {
    const code = createReedSolomon(2, 1);
    expect(() => code.rebuild([new Uint8Array(1), undefined, undefined], [1])).toThrow(RangeError);
  });
  test("fragments of unequal length are refused", () => {
    expect(() => createReedSolomon(2, 1).encode([new Uint8Array(1), new Uint8Array(2)])).toThrow(RangeError);
  });
});
