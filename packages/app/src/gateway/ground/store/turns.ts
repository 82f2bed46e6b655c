/**
 * Work runs side by side, until one asks to run alone: it waits for what is under way, and what comes meanwhile waits for it.
 * Work that runs alone must not begin other work of the same turns: that one would wait for it for ever.
 */
export function openTurns() {
  let running = 0;
  let idle: (() => void) | undefined;
  let alone: Promise<void> | undefined;

  return {
    async together<R>(work: () => Promise<R>): Promise<R> {
      while (alone !== undefined) await alone;
      running += 1;
      try {
        return await work();
      } finally {
        running -= 1;
        if (running === 0) idle?.();
      }
    },
    async alone<R>(work: () => Promise<R>): Promise<R> {
      while (alone !== undefined) await alone;
      let end = (): void => undefined;
      alone = new Promise((resolve) => {
        end = resolve;
      });
      if (running > 0) await new Promise<void>((resolve) => (idle = resolve));
      try {
        return await work();
      } finally {
        idle = undefined;
        alone = undefined;
        end();
      }
    },
  };
}

const turns = new WeakMap<object, ReturnType<typeof openTurns>>();

/** The turns of what works on `store` in this process. */
export function turnsOf(store: object): ReturnType<typeof openTurns> {
  const known = turns.get(store) ?? openTurns();
  turns.set(store, known);
  return known;
}
