import { checkArgument, type RateWindow, takeFrom } from "@seneschal/kernel";
import type { Random, RateCounter } from "@seneschal/kernel/ports";

/**
 * A {@link RateCounter} of this process alone. At most `maxKeys` keys are kept, in two generations: when the younger one is full, what was not seen since
 * it began goes. Nothing is moved at a call that is counted again, as a map that is always rewritten burdens the garbage collector.
 */
export function openMemoryRates(random: Random, maxKeys = 100_000): RateCounter {
  checkArgument("random", random, "function");
  let younger = new Map<string, RateWindow>();
  let older = new Map<string, RateWindow>();
  return {
    salt: random(32),
    async take(key, rate, now) {
      const { window, take } = takeFrom(younger.get(key) ?? older.get(key), rate, now);
      if (younger.size >= maxKeys / 2 && !younger.has(key)) {
        older = younger;
        younger = new Map();
      }
      younger.set(key, window);
      return take;
    },
    async close() {
      younger = new Map();
      older = new Map();
    },
  };
}
