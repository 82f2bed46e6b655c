import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { CallContext } from "../builtins/builtin.ts";

/** What an evaluation takes from outside: the engine itself has no clock, no randomness, no output. */
export interface Host {
  /** `time.now_ns()`, milliseconds since the epoch; 0 unless given. */
  readonly now?: number;
  /** Milliseconds for the wall clock budget; without it only the deterministic budgets hold. */
  readonly clock?: () => number;
  /** Seed of `rand.intn` and `uuid.rfc4122`; the same seed gives the same values. */
  readonly seed?: Uint8Array | string;
  readonly print?: (message: string) => void;
  readonly trace?: (message: string) => void;
}

export function callContext(host: Host): CallContext {
  const seed = typeof host.seed === "string" ? utf8ToBytes(host.seed) : (host.seed ?? new Uint8Array());
  return {
    now: BigInt(Math.trunc(host.now ?? 0)) * 1_000_000n,
    cache: new Map(),
    random: (key, length) => expand(seed, key, length),
    trace: host.trace,
    print: host.print,
    file: "",
    row: 0,
  };
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
