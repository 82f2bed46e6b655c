import { existsSync, openSync, readSync } from "node:fs";

/** What the kernel counts of this thread, the main one: nanoseconds on a processor come first. */
const COUNTERS = `/proc/self/task/${process.pid}/schedstat`;

/**
 * Measures the longest turn of the event loop: how long this thread was at work between two ticks of a timer of 1 ms, in milliseconds. It counts processor time
 * of the thread where the kernel tells it (Linux), and not the time that passes: on a busy machine a thread waits for its turn, and others made that pause.
 */
export function turnMeter(): { /** The longest since the last call. */ longest(): number } {
  const file = existsSync(COUNTERS) ? openSync(COUNTERS, "r") : undefined;
  const text = Buffer.alloc(64);
  const now = (): number => {
    if (file === undefined) return performance.now();
    readSync(file, text, 0, text.length, 0);
    return Number(text.subarray(0, text.indexOf(0x20)).toString("latin1")) / 1e6;
  };
  let last = now();
  let most = 0;
  const tick = (): void => {
    const at = now();
    most = Math.max(most, at - last);
    last = at;
    setTimeout(tick, 1);
  };
  tick();
  return {
    longest() {
      const found = most;
      most = 0;
      return found;
    },
  };
}
