/** When identities were last authenticated, gathered in memory and written now and then: a write per request would cost more than it tells. */
export interface LastUse {
  /** Remembers that an identity of a kind was authenticated. `now` in milliseconds. */
  note(type: string, id: string, now: number): void;
  /** Hands out what was noted and starts over. */
  drain(): readonly { readonly type: string; readonly id: string; readonly at: number }[];
}

/** What one process has seen. */
export function lastUse(): LastUse {
  const noted = new Map<string, { readonly type: string; readonly id: string; readonly at: number }>();
  return {
    note: (type, id, at) => noted.set(`${type} ${id}`, { type, id, at }),
    drain() {
      const all = [...noted.values()];
      noted.clear();
      return all;
    },
  };
}
