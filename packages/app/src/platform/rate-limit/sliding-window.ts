/** So many in any span of `windowMs`. */
export interface Rate {
  readonly limit: number;
  readonly windowMs: number;
}

/** What taking one came to. `resetMs` is the time until the whole limit is free again, `retryMs` until one is. */
export interface Take {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly resetMs: number;
  readonly retryMs: number;
}

/** Slices of a window. More make the window sharper. */
const SLICES = 20;

interface Bucket {
  /** Newest slice that was counted in, numbered since the epoch. */
  slice: number;
  /** Counts of the newest slice and the `SLICES` before it, newest first. */
  readonly counts: number[];
}

/**
 * Counts requests by key over a sliding window of slices. No span of `windowMs` ever holds more than `limit` admitted requests, not
 * across a window's edge either (the price: a place frees up to a twentieth of the window late). At most `maxKeys` keys are
 * kept; the least recently seen goes first.
 */
export class SlidingWindow {
  readonly #rate: Rate;
  readonly #maxKeys: number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(rate: Rate, maxKeys = 100_000) {
    this.#rate = rate;
    this.#maxKeys = maxKeys;
  }

  /** Takes one if there is one. A refusal costs nothing. */
  take(key: string, now: number): Take {
    const { limit, windowMs } = this.#rate;
    const width = windowMs / SLICES;
    const bucket = this.#buckets.get(key) ?? { slice: 0, counts: new Array<number>(SLICES + 1).fill(0) };
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#maxKeys) this.#buckets.delete(this.#buckets.keys().next().value ?? "");

    // A clock that jumps back must not open the window again.
    const slice = Math.max(bucket.slice, Math.floor(now / width));
    const { counts } = bucket;
    for (let passed = Math.min(slice - bucket.slice, counts.length); passed > 0; passed--) {
      counts.pop();
      counts.unshift(0);
    }
    bucket.slice = slice;

    const used = counts.reduce((sum, count) => sum + count, 0);
    const allowed = used < limit;
    if (allowed) counts[0] = (counts[0] ?? 0) + 1;
    // A count made in slice s is out of every window that begins behind slice s.
    const freeAt = (age: number): number => Math.max(1, (slice - age + SLICES + 1) * width - now);
    const newest = counts.findIndex((count) => count > 0);
    const oldest = counts.findLastIndex((count) => count > 0);
    return {
      allowed,
      remaining: Math.max(0, limit - used - (allowed ? 1 : 0)),
      resetMs: newest < 0 ? 0 : freeAt(newest),
      retryMs: allowed ? 0 : freeAt(oldest),
    };
  }
}
