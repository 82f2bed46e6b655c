/** Names nodes that have just been away for `afterMs`, once for each absence. Call it each round with who does not answer. */
export function watchAbsences(afterMs: number): (away: readonly string[], now: number) => readonly string[] {
  const since = new Map<string, number>();
  const told = new Set<string>();
  return (away, now) => {
    for (const node of [...since.keys()]) {
      if (away.includes(node)) continue;
      since.delete(node);
      told.delete(node);
    }
    return away.filter((node) => {
      const start = since.get(node) ?? now;
      since.set(node, start);
      if (told.has(node) || now - start < afterMs) return false;
      told.add(node);
      return true;
    });
  };
}
