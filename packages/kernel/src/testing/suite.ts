/** What a conformance suite needs of a test runner; vitest, node:test and others fit without glue. */
export interface SuiteRunner {
  /** Registers one test. */
  readonly test: (name: string, body: () => Promise<void>) => void;
  /** Deep, strict equality. */
  readonly equal: (actual: unknown, expected: unknown, message?: string) => void;
}

/** Fails unless the call ends with a CodedError of this code. */
export async function refuses(runner: SuiteRunner, code: string, call: () => unknown, message = code): Promise<void> {
  let outcome: unknown = "no error";
  try {
    await call();
  } catch (error) {
    outcome = (error as { code?: unknown }).code ?? error;
  }
  runner.equal(outcome, code, message);
}
