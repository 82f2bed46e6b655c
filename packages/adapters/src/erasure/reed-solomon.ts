import { checkArgument } from "@seneschal/kernel";
import { invert, type Matrix, multiply, systematicMatrix } from "./galois.ts";
import { type Kernel, nibbleTable, openKernel, tableBytes } from "./multiply-add.ts";

/** A systematic Reed-Solomon code over GF(256). All fragments of a stripe have the same length. */
export interface ReedSolomon {
  readonly data: number;
  readonly parity: number;
  /** The parity fragments of `data` data fragments, in `into` where that is given. */
  encode(fragments: readonly Uint8Array[], into?: readonly Uint8Array[]): readonly Uint8Array[];
  /**
   * The fragments at `wanted`, from any `data` others. `present[i]` is fragment i or `undefined`.
   * Throws RangeError when fewer than `data` are present.
   */
  rebuild(present: readonly (Uint8Array | undefined)[], wanted: readonly number[]): Uint8Array[];
}

/**
 * The code for `data` (1-128) and `parity` (0-127) fragments. With one data fragment every parity fragment is a
 * copy, which is how replication rides on the same code.
 *
 * @example
 * ```ts
 * import { createReedSolomon } from "@seneschal/adapters/erasure";
 * const code = createReedSolomon(2, 1);
 * const [a, b] = [Uint8Array.of(1, 2), Uint8Array.of(3, 4)];
 * const [parity] = code.encode([a, b]);
 * console.log(code.rebuild([undefined, b, parity], [0])); // [ Uint8Array(2) [ 1, 2 ] ]
 * ```
 */
export function createReedSolomon(data: number, parity: number): ReedSolomon {
  checkArgument("data", data, "number");
  checkArgument("parity", parity, "number");
  if (!(data >= 1 && data <= 128 && parity >= 0 && parity <= 127)) throw new RangeError(`no code for ${data}+${parity}`);
  const matrix = systematicMatrix(data, parity);
  const parityTables = tablesOf(matrix.slice(data));
  return {
    data,
    parity,
    encode(fragments, into) {
      checkArgument("fragments", fragments, "array");
      if (into !== undefined) checkArgument("into", into, "array");
      if (fragments.length !== data) throw new RangeError(`expected ${data} fragments, got ${fragments.length}`);
      const length = fragments[0]?.length ?? 0;
      const results = into ?? Array.from({ length: parity }, () => new Uint8Array(length));
      if (results.length !== parity || results.some((result) => result.length !== length))
        throw new RangeError(`expected ${parity} places of ${length} bytes`);
      if (data === 1) for (const result of results) result.set(fragments[0] as Uint8Array);
      else combine(parityTables, fragments, results);
      return results;
    },
    rebuild(present, wanted) {
      checkArgument("present", present, "array");
      checkArgument("wanted", wanted, "array");
      const have: number[] = [];
      for (let i = 0; i < data + parity && have.length < data; i++) if (present[i] !== undefined) have.push(i);
      if (have.length < data) throw new RangeError(`${have.length} fragments present, ${data} needed`);
      if (data === 1) return copies(present[have[0] as number] as Uint8Array, wanted.length);
      const inverted = invert(have.map((i) => matrix[i] as readonly number[]));
      const rows = wanted.map((w) => product(matrix[w] as readonly number[], inverted));
      const inputs = have.map((i) => present[i] as Uint8Array);
      const results = wanted.map(() => new Uint8Array(inputs[0]?.length ?? 0));
      combine(tablesOf(rows), inputs, results);
      return results;
    },
  };
}

function copies(fragment: Uint8Array, count: number): Uint8Array[] {
  // Not slice(), which of a Buffer is a view.
  return Array.from({ length: count }, () => new Uint8Array(fragment));
}

function product(row: readonly number[], matrix: Matrix): readonly number[] {
  return row.map((_, j) => row.reduce((sum, v, i) => sum ^ multiply(v, (matrix[i] as readonly number[])[j] as number), 0));
}

/** The nibble tables of all coefficients, row after row. */
function tablesOf(rows: Matrix): Uint8Array {
  return Buffer.concat(rows.flat().map(nibbleTable));
}

// Small enough that an input block and the output blocks of the usual codes stay in the processor's first caches.
const block = 16_384;
const maxInputs = 128;
const maxOutputs = 255;
const input = maxInputs * maxOutputs * tableBytes;
const output = input + block;
let opened: Kernel | undefined;

/** Puts the linear combinations of `inputs` that `tables` describe into `results`. Synchronous, so one kernel serves the whole thread. */
function combine(tables: Uint8Array, inputs: readonly Uint8Array[], results: readonly Uint8Array[]): void {
  const outputs = results.length;
  const length = inputs[0]?.length ?? 0;
  if (inputs.some((f) => f.length !== length)) throw new RangeError("fragments of one stripe have one length");
  opened ??= openKernel(output + maxOutputs * block);
  const { memory, multiplyAdd } = opened;
  memory.set(tables);
  for (let at = 0; at < length; at += block) {
    const n = Math.min(block, length - at);
    memory.fill(0, output, output + outputs * block);
    inputs.forEach((fragment, column) => {
      memory.set(fragment.subarray(at, at + n), input);
      for (let row = 0; row < outputs; row++)
        multiplyAdd((row * inputs.length + column) * tableBytes, input, output + row * block, n);
    });
    results.forEach((result, row) => {
      result.set(memory.subarray(output + row * block, output + row * block + n), at);
    });
  }
}
