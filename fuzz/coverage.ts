import { type Profiler, Session } from "node:inspector";

/** What of our packages has run, block by block, by V8's own counters. */
export class Coverage {
  private readonly session = new Session();
  private readonly seen = new Set<string>();

  constructor() {
    this.session.connect();
    this.session.post("Profiler.enable");
    this.session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  }

  /** Blocks that have run. */
  get blocks(): number {
    return this.seen.size;
  }

  /** The number of blocks that ran since the last time and never before. */
  news(): number {
    let found = 0;
    this.session.post("Profiler.takePreciseCoverage", (error, answer) => {
      if (error !== null) throw error;
      for (const { scriptId, url, functions } of (answer as Profiler.TakePreciseCoverageReturnType).result) {
        if (!url.includes("/packages/")) continue;
        for (const { ranges } of functions) {
          for (const { startOffset, endOffset, count } of ranges) {
            if (count === 0) continue;
            const key = `${scriptId}:${startOffset}:${endOffset}`;
            if (this.seen.has(key)) continue;
            this.seen.add(key);
            found++;
          }
        }
      }
    });
    return found;
  }

  stop(): void {
    this.session.disconnect();
  }
}
