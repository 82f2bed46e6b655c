/** So many runs by default; `FC_RUNS=n` deepens. */
export function runs(usual: number): { numRuns: number } {
  return { numRuns: Number(process.env["FC_RUNS"] ?? usual) };
}
