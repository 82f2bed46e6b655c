/** Metadata or a log, as far as it can be checked where it lies. */
interface Inspected {
  inspect?(): Promise<readonly string[]>;
}

/** What is known to be damaged of what the node stands on. */
export interface Damage {
  /** Once there is one, nothing is written or collected until the node was started again: its start checks everything. */
  readonly places: readonly string[];
  /** Reads it all. Gives what was not known before. */
  look(): Promise<readonly string[]>;
}

/** Nothing is known to be damaged until somebody looks. */
export function watchDamage(inspected: readonly Inspected[]): Damage {
  const known = new Set<string>();
  return {
    get places() {
      return [...known];
    },
    async look() {
      const found = (await Promise.all(inspected.map(async (one) => (await one.inspect?.()) ?? []))).flat();
      const fresh = found.filter((place) => !known.has(place));
      for (const place of fresh) known.add(place);
      return fresh;
    },
  };
}
