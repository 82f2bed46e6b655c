/** One line of `npm run bench`: our figure beside a peer or a raw ceiling of the same run. */
export interface BenchResult {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly peer?: string;
  readonly peerValue?: number;
  /** Ours over the peer's. */
  readonly ratio?: number;
  /** What is asked of it, for the table. */
  readonly bar?: string;
}

/** The option of Node.js that docs/operating.md starts services with, and the one that `seneschal` sets itself. */
export const serverOptions: readonly string[] = ["--max-semi-space-size=32", "--no-allocation-site-pretenuring"];

export interface Bench {
  readonly name: string;
  run(): Promise<readonly BenchResult[]>;
}

/** Calls `work` for about `ms` milliseconds after a warm-up of a fifth of it and returns calls per second. */
export function rate(work: () => void, ms = 1000): number {
  const spin = (duration: number): number => {
    const start = performance.now();
    let calls = 0;
    let elapsed = 0;
    do {
      for (let i = 0; i < 16; i++) work();
      calls += 16;
      elapsed = performance.now() - start;
    } while (elapsed < duration);
    return (calls * 1000) / elapsed;
  };
  spin(ms / 5);
  return spin(ms);
}

/** Sequential calls per second. */
export async function rateAsync(work: () => Promise<unknown>, ms = 1000): Promise<number> {
  for (const end = performance.now() + ms / 5; performance.now() < end; ) await work();
  const start = performance.now();
  let calls = 0;
  for (; performance.now() - start < ms; calls++) await work();
  return (calls * 1000) / (performance.now() - start);
}

/** The value below which the share `q` (0..1) of values in ascending order lies. */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}
