/** One figure of `npm run conformance`: reads third-party cases below `dataDir` and judges the product by them. */
export interface ConformanceSuite {
  /** For example `rego/core-language`. */
  readonly name: string;
  /** Lowest share of passed cases (0..1) that CI accepts. */
  readonly floor: number;
  run(dataDir: string): Promise<SuiteResult>;
}

/** Suites that depend on which files the data has. */
export type SuitesOf = (dataDir: string) => readonly ConformanceSuite[];

export interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** One line per failed case, at most 200 kept. */
  readonly failures: readonly string[];
  /** Further figures of the suite (F1, recall ...), by name. */
  readonly figures?: Readonly<Record<string, number>>;
}
