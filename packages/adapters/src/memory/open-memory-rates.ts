import { type RateWindow, takeFrom } from "@seneschal/core";
import type { Random, RateCounter } from "@seneschal/core/ports";

/** A {@link RateCounter} of this process alone. At most `maxKeys` keys are kept; the least recently seen goes first. */
export function openMemoryRates(random: Random, maxKeys = 100_000): RateCounter {
  const windows = new Map<string, RateWindow>();
  return {
    salt: random(32),
    async take(key, rate, now) {
      const { window, take } = takeFrom(windows.get(key), rate, now);
      windows.delete(key);
      windows.set(key, window);
      if (windows.size > maxKeys) windows.delete(windows.keys().next().value ?? "");
      return take;
    },
    close: async () => windows.clear(),
  };
}
