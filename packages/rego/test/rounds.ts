/** Property runs: FC_RUNS deepens. */
export function rounds(usual: number): number {
  return Math.max(usual, Number(process.env["FC_RUNS"] ?? 0));
}
