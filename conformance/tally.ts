import type { SuiteResult } from "./suite.ts";

/** Counts judged cases and keeps the first two hundred failures. */
export interface Tally {
  judge(ok: boolean, failure: string): void;
  skip(): void;
  /** Share of passed cases, 0 when none was judged. */
  rate(): number;
  result(figures?: Readonly<Record<string, number>>): SuiteResult;
}

/** An empty tally. */
export function tally(): Tally {
  let passed = 0;
  let failed = 0;
  let skipped = 0;
  const failures: string[] = [];
  return {
    judge(ok, failure) {
      if (ok) passed++;
      else {
        failed++;
        if (failures.length < 200) failures.push(failure.slice(0, 400));
      }
    },
    skip() {
      skipped++;
    },
    rate: () => (passed + failed === 0 ? 0 : passed / (passed + failed)),
    result: (figures) => ({ passed, failed, skipped, failures, ...(figures === undefined ? {} : { figures }) }),
  };
}
