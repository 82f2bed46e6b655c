import { isCoded } from "@seneschal/kernel";

/** One thing that reads bytes from outside. */
export interface FuzzTarget {
  /** Pieces of its format that mutations put in. */
  readonly words: readonly string[];
  /** Milliseconds of the processor that an input may take; two seconds where it is not said. */
  readonly slowMs?: number;
  /** Before a run of the fuzzer, not of the corpus alone: what it compares with. Gives what ends it. */
  open?(): Promise<() => void>;
  /** Reads the bytes and judges what came of it: anything thrown is a finding. Its corpus: `corpus/<name of its file>`. */
  run(bytes: Uint8Array): void | Promise<void>;
}

/** What `read` makes of its input; undefined where it refuses with a code of ours. Any other error is a finding. */
export function orRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (isCoded(error)) return undefined;
    throw error;
  }
}

/** {@link orRefused} of a reader that waits. */
export async function orRefusedLater<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isCoded(error)) return undefined;
    throw error;
  }
}

/** A law that does not hold is a finding. */
export function law(holds: boolean, what: string): void {
  if (!holds) throw new Error(`broken law: ${what}`);
}

/** Bytes as text; what is no UTF-8 becomes U+FFFD. */
export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
