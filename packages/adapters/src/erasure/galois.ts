/** GF(2^8) with the polynomial x^8+x^4+x^3+x^2+1 (0x11d) and generator 2, as in RAID-6 and most Reed-Solomon codes. */
const exp = new Uint8Array(512);
const log = new Uint8Array(256);
{
  let x = 1;
  for (let i = 0; i < 255; i++) {
    exp[i] = x;
    log[x] = i;
    x <<= 1;
    if (x & 0x100) x ^= 0x11d;
  }
  for (let i = 255; i < 512; i++) exp[i] = exp[i - 255] as number;
}

export function multiply(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : (exp[(log[a] as number) + (log[b] as number)] as number);
}

/** Throws RangeError for 0, which has no inverse. */
function inverse(a: number): number {
  if (a === 0) throw new RangeError("0 has no inverse in GF(256)");
  return exp[255 - (log[a] as number)] as number;
}

export type Matrix = readonly (readonly number[])[];

/** Gauss-Jordan; throws RangeError when the matrix is singular. */
export function invert(matrix: Matrix): Matrix {
  const n = matrix.length;
  const work = matrix.map((row, i) => [...row, ...Array.from({ length: n }, (_, j) => (i === j ? 1 : 0))]);
  for (let column = 0; column < n; column++) {
    const pivot = work.findIndex((row, i) => i >= column && row[column] !== 0);
    if (pivot < 0) throw new RangeError("singular matrix");
    const row = work[pivot] as number[];
    work[pivot] = work[column] as number[];
    const scale = inverse(row[column] as number);
    const scaled = row.map((v) => multiply(v, scale));
    work[column] = scaled;
    for (let i = 0; i < n; i++) {
      const factor = (work[i] as number[])[column] as number;
      if (i === column || factor === 0) continue;
      work[i] = (work[i] as number[]).map((v, j) => v ^ multiply(factor, scaled[j] as number));
    }
  }
  return work.map((row) => row.slice(n));
}

/**
 * The rows of a systematic code: identity above a scaled Cauchy matrix 1 / (x_i + y_j). Every square submatrix of a Cauchy
 * matrix is invertible, so any `data` of the `data + parity` rows rebuild the rest.
 */
export function systematicMatrix(data: number, parity: number): Matrix {
  const identity = Array.from({ length: data }, (_, i) => Array.from({ length: data }, (_, j) => (i === j ? 1 : 0)));
  const cauchy = Array.from({ length: parity }, (_, i) => Array.from({ length: data }, (_, j) => inverse((data + i) ^ j)));
  // Scaling rows and columns keeps every minor invertible: the first parity row becomes all ones, and with one data
  // fragment every row does, so that replication is copying.
  const columns = cauchy[0]?.map(inverse) ?? [];
  const scaled = cauchy.map((row) => row.map((v, j) => multiply(v, columns[j] as number)));
  return [...identity, ...scaled.map((row) => row.map((v) => multiply(v, inverse(row[0] as number))))];
}
