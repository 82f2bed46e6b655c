import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { CallContext } from "../builtins/builtin.ts";
import { toJson } from "../value/json.ts";
import type { Value } from "../value/value.ts";

/** What an evaluation takes from outside: the engine itself has no clock, no randomness, no output. */
export interface Host {
  /** `time.now_ns()`, milliseconds since the epoch; 0 unless given. */
  readonly now?: number;
  /** Milliseconds for the wall clock budget; without it only the deterministic budgets hold. */
  readonly clock?: () => number;
  /** Seed of `rand.intn` and `uuid.rfc4122`; the same seed gives the same values. */
  readonly seed?: Uint8Array | string;
  readonly print?: ((message: string) => void) | undefined;
  readonly trace?: (message: string) => void;
  /** The keys of each test that a rule with one test a key begins. */
  readonly testCase?: (keys: unknown) => void;
}

/** The side of an evaluation that builtins see; what is not asked for costs nothing. */
export class HostCalls implements CallContext {
  readonly trace: ((message: string) => void) | undefined;
  readonly print: ((message: string) => void) | undefined;
  readonly testCase: ((keys: Value) => void) | undefined;
  readonly #host: Host;
  #kept: Map<string, unknown> | undefined;

  constructor(host: Host) {
    this.#host = host;
    this.trace = host.trace;
    this.print = host.print;
    const { testCase } = host;
    this.testCase = testCase === undefined ? undefined : (keys) => testCase(toJson(keys));
  }

  get now(): bigint {
    return BigInt(Math.trunc(this.#host.now ?? 0)) * 1_000_000n;
  }

  get cache(): Map<string, unknown> {
    this.#kept ??= new Map();
    return this.#kept;
  }

  random(key: string, length: number): Uint8Array {
    const { seed } = this.#host;
    return expand(typeof seed === "string" ? utf8ToBytes(seed) : (seed ?? new Uint8Array()), key, length);
  }
}

/** `length` bytes from SHA-256 in counter mode over seed and key. */
function expand(seed: Uint8Array, key: string, length: number): Uint8Array {
  const out = new Uint8Array(length);
  for (let at = 0, counter = 0; at < length; counter++) {
    const label = utf8ToBytes(`${counter}:${key}`);
    const input = new Uint8Array(seed.length + label.length);
    input.set(seed);
    input.set(label, seed.length);
    const block = sha256(input);
    out.set(block.subarray(0, Math.min(block.length, length - at)), at);
    at += block.length;
  }
  return out;
}
