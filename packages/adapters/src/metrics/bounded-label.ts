/** Stands for every name that has no value of its own. */
const OTHER = "other";

/**
 * Values of a label that others choose, such as ids of organisations: those in `named` have their own always, of the rest the first `limit` that are
 * seen, and all others share one. So a metric has at most `named.length + limit + 1` series by it, whoever comes.
 */
export function boundedLabel(named: readonly string[], limit: number): (value: string) => string {
  const always = new Set(named);
  const seen = new Set<string>();
  return (value) => {
    if (always.has(value) || seen.has(value)) return value;
    if (value === "" || seen.size >= limit) return OTHER;
    seen.add(value);
    return value;
  };
}
