import { invert, type Matrix, multiply, systematicMatrix } from "./galois.ts";

/** A systematic Reed-Solomon code over GF(256). All fragments of a stripe have the same length. */
export interface ReedSolomon {
  readonly data: number;
  readonly parity: number;
  /** The parity fragments of `data` data fragments. */
  encode(fragments: readonly Uint8Array[]): Uint8Array[];
  /**
   * The fragments at `wanted`, from any `data` others. `present[i]` is fragment i or `undefined`.
   * Throws RangeError when fewer than `data` are present.
   */
  rebuild(present: readonly (Uint8Array | undefined)[], wanted: readonly number[]): Uint8Array[];
}

/**
 * The code for `data` (1-128) and `parity` (0-127) fragments. With one data fragment every parity fragment is a
 * copy up to a constant factor, which is how replication rides on the same code.
 *
 * Speed: one table look-up per data byte yields up to four output bytes at once, since the four products of a byte are
 * packed into one 32-bit word; the sums of four columns stay in registers.
 */
export function createReedSolomon(data: number, parity: number): ReedSolomon {
  if (!(data >= 1 && parity >= 0 && data + parity <= 255)) throw new RangeError(`no code for ${data}+${parity}`);
  const matrix = systematicMatrix(data, parity);
  const encoder = compile(matrix.slice(data), data);
  return {
    data,
    parity,
    encode(fragments) {
      if (fragments.length !== data) throw new RangeError(`expected ${data} fragments, got ${fragments.length}`);
      return data === 1 ? copies(fragments[0] as Uint8Array, parity) : run(encoder, fragments, parity);
    },
    rebuild(present, wanted) {
      const have: number[] = [];
      for (let i = 0; i < data + parity && have.length < data; i++) if (present[i] !== undefined) have.push(i);
      if (have.length < data) throw new RangeError(`${have.length} fragments present, ${data} needed`);
      if (data === 1) return copies(present[have[0] as number] as Uint8Array, wanted.length);
      const inverted = invert(have.map((i) => matrix[i] as readonly number[]));
      const rows = wanted.map((w) => product(matrix[w] as readonly number[], inverted));
      return run(
        compile(rows, data),
        have.map((i) => present[i] as Uint8Array),
        wanted.length,
      );
    },
  };
}

function copies(fragment: Uint8Array, count: number): Uint8Array[] {
  return Array.from({ length: count }, () => fragment.slice());
}

/** Rows in groups of four, columns in groups of four; `tables[column][byte]` packs the products of the group's rows. */
type Program = readonly (readonly Uint32Array[])[];

function compile(rows: Matrix, columns: number): Program {
  const groups: Uint32Array[][] = [];
  for (let r = 0; r < rows.length; r += 4) {
    const tables = Array.from({ length: Math.ceil(columns / 4) * 4 }, (_, c) => {
      const table = new Uint32Array(256);
      for (let byte = 0; c < columns && byte < 256; byte++) {
        let word = 0;
        for (let k = 0; k < 4 && r + k < rows.length; k++)
          word |= multiply((rows[r + k] as readonly number[])[c] as number, byte) << (8 * k);
        table[byte] = word >>> 0;
      }
      return table;
    });
    groups.push(tables);
  }
  return groups;
}

function product(row: readonly number[], matrix: Matrix): readonly number[] {
  return row.map((_, j) => row.reduce((sum, v, i) => sum ^ multiply(v, (matrix[i] as readonly number[])[j] as number), 0));
}

const block = 4096;

function run(program: Program, inputs: readonly Uint8Array[], outputs: number): Uint8Array[] {
  const length = inputs[0]?.length ?? 0;
  if (inputs.some((f) => f.length !== length)) throw new RangeError("fragments of one stripe have one length");
  const result = Array.from({ length: outputs }, () => new Uint8Array(length));
  const sums = new Uint32Array(block);
  const spare = inputs[0] ?? new Uint8Array(0);
  program.forEach((tables, group) => {
    const rows = result.slice(group * 4, group * 4 + 4);
    for (let at = 0; at < length; at += block) {
      const n = Math.min(block, length - at);
      for (let c = 0; c < tables.length; c += 4) {
        // Columns beyond the last have all-zero tables, so any input serves for them.
        addFour(
          sums,
          at,
          n,
          c === 0,
          inputs[c] ?? spare,
          inputs[c + 1] ?? spare,
          inputs[c + 2] ?? spare,
          inputs[c + 3] ?? spare,
          tables,
          c,
        );
      }
      unpack(sums, rows, at, n);
    }
  });
  return result;
}

function addFour(
  sums: Uint32Array,
  at: number,
  n: number,
  first: boolean,
  a: Uint8Array,
  b: Uint8Array,
  c: Uint8Array,
  d: Uint8Array,
  tables: readonly Uint32Array[],
  column: number,
): void {
  const ta = tables[column] as Uint32Array;
  const tb = tables[column + 1] as Uint32Array;
  const tc = tables[column + 2] as Uint32Array;
  const td = tables[column + 3] as Uint32Array;
  for (let i = 0, j = at; i < n; i++, j++) {
    const word =
      (ta[a[j] as number] as number) ^
      (tb[b[j] as number] as number) ^
      (tc[c[j] as number] as number) ^
      (td[d[j] as number] as number);
    sums[i] = first ? word : (sums[i] as number) ^ word;
  }
}

function unpack(sums: Uint32Array, rows: readonly Uint8Array[], at: number, n: number): void {
  rows.forEach((row, k) => {
    const shift = 8 * k;
    for (let i = 0; i < n; i++) row[at + i] = (sums[i] as number) >>> shift;
  });
}
