import { multiply } from "./galois.ts";

/** Constant times vector over GF(256), on a memory of its own. */
export interface Kernel {
  readonly memory: Uint8Array;
  /**
   * `to[i] ^= coefficient * from[i]` for at least `length` (>= 1) bytes, in steps of 16. The arguments are addresses
   * within `memory`; `table` holds the {@link nibbleTable} of the coefficient.
   */
  multiplyAdd(table: number, from: number, to: number, length: number): void;
}

export const tableBytes = 32;

/** The products of a coefficient with the sixteen low nibbles, then with the sixteen high nibbles. */
export function nibbleTable(coefficient: number): Uint8Array {
  return Uint8Array.from({ length: tableBytes }, (_, i) => multiply(coefficient, i < 16 ? i : (i - 16) << 4));
}

/**
 * A kernel with at least `bytes` of memory. A product is the exclusive or of the products of the two nibbles; the
 * products of all sixteen nibbles fit one SIMD register, where one instruction looks up sixteen of them (Plank, Greenan,
 * Miller: Screaming Fast Galois Field Arithmetic Using Intel SIMD Instructions, FAST 2013). The WebAssembly module is
 * assembled here: there is no binary to build or to trust. Throws `WebAssembly.CompileError` on a processor without SIMD.
 */
export function openKernel(bytes: number): Kernel {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(assemble(Math.ceil(bytes / 65_536))));
  const { memory, multiplyAdd } = exports as unknown as Pick<Kernel, "multiplyAdd"> & { readonly memory: WebAssembly.Memory };
  return { memory: new Uint8Array(memory.buffer), multiplyAdd };
}

/** The module in the binary format of the WebAssembly core specification 2.0, chapter 5. */
function assemble(pages: number): Uint8Array<ArrayBuffer> {
  const [i32, v128] = [0x7f, 0x7b];
  const simd = (opcode: number, ...immediates: readonly number[]) => [0xfd, opcode, ...immediates];
  const load = (offset: number) => simd(0x00, 4, offset);
  const [store, swizzle, splat] = [simd(0x0b, 4, 0), simd(0x0e), simd(0x0f)];
  const [and, xor, shiftRight] = [simd(0x4e), simd(0x51), simd(0x6d)];
  const [get, set, tee] = [0x20, 0x21, 0x22].map((opcode) => (local: number) => [opcode, local]) as [Local, Local, Local];
  const constant = (n: number) => [0x41, n];
  const [add, lessThan, loop, branchBack, end] = [[0x6a], [0x49], [0x03, 0x40], [0x0d, 0], [0x0b]];

  const [table, from, to, length, stop, low, high, mask, bytes] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const advance = (pointer: number) => [...get(pointer), ...constant(16), ...add, ...set(pointer)];
  const body = [
    ...[2, 1, i32, 4, v128],
    ...[...get(table), ...load(0), ...set(low)],
    ...[...get(table), ...load(16), ...set(high)],
    ...[...constant(15), ...splat, ...set(mask)],
    ...[...get(from), ...get(length), ...add, ...set(stop)],
    ...loop,
    ...get(to),
    ...[...get(to), ...load(0)],
    ...[...get(low), ...get(from), ...load(0), ...tee(bytes), ...get(mask), ...and, ...swizzle, ...xor],
    ...[...get(high), ...get(bytes), ...constant(4), ...shiftRight, ...swizzle, ...xor],
    ...store,
    ...[...advance(from), ...advance(to)],
    ...[...get(from), ...get(stop), ...lessThan, ...branchBack],
    ...[...end, ...end],
  ];
  const exported = (name: string, kind: number) => [...sized([...Buffer.from(name)]), kind, 0];
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...[1, ...sized([1, 0x60, ...sized([i32, i32, i32, i32]), 0])],
    ...[3, ...sized([1, 0])],
    ...[5, ...sized([1, 0, ...unsigned(pages)])],
    ...[7, ...sized([2, ...exported("memory", 2), ...exported("multiplyAdd", 0)])],
    ...[10, ...sized([1, ...sized(body)])],
  ]);
}

type Local = (local: number) => number[];

/** LEB128. */
function unsigned(n: number): number[] {
  return n < 128 ? [n] : [(n & 127) | 128, ...unsigned(n >>> 7)];
}

function sized(bytes: readonly number[]): number[] {
  return [...unsigned(bytes.length), ...bytes];
}
