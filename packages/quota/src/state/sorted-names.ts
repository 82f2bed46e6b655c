/** The names in order, each once, so that equal lists are stored equally. */
export function sortedNames(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
