import { checkOptions } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import type { Background } from "./background.ts";

/** What a turn came to: in how many milliseconds there is to be another, and what of it failed. */
export interface FollowerTurn {
  readonly waitsMs?: number | undefined;
  readonly error?: Error | undefined;
}

/** Work that is due when a store changes. */
export interface Follower {
  /** Its step of the background work. */
  readonly step: string;
  turn(): Promise<FollowerTurn>;
  /** For so many milliseconds a change makes it not due; absent: it always does. */
  waitsMs?(): number;
}

/** Work that follows a store, each piece by itself. */
export interface Following {
  /** Looks whether something is due, where the store is followed. */
  wake(): void;
  /** Begins to follow the store. */
  start(): void;
  stop(): Promise<void>;
}

/** What comes together is looked at together, milliseconds. */
export const gatherMs = 50;

/** Lets work follow a store on the process that leads; after a turn that failed it is due `retryMs` later at the latest. */
export function followStore(parts: {
  readonly store: Pick<DocumentStore, "subscribe">;
  readonly background: Background;
  readonly leads: () => boolean;
  readonly retryMs: number;
  readonly followers: readonly Follower[];
}): Following {
  checkOptions("parts", parts, {
    store: "object",
    background: "object",
    leads: "function",
    retryMs: "number",
    followers: "array",
  });
  const { store, background, leads, retryMs } = parts;
  const followers = parts.followers.map((follower) => {
    const due = background.soon(follower.step, retryMs, async () => {
      const { waitsMs, error } = await follower.turn();
      if (waitsMs !== undefined) due.due(waitsMs);
      if (error !== undefined) throw error;
    });
    return { ...follower, due };
  });
  const look = (): void => {
    for (const { step, due, waitsMs } of followers)
      if (leads()) due.due(Math.max(gatherMs, waitsMs?.() ?? 0));
      else background.skip(step);
  };
  let unsubscribe: (() => void) | undefined;
  return {
    wake() {
      if (unsubscribe !== undefined) look();
    },
    start() {
      if (followers.length === 0) return;
      unsubscribe ??= store.subscribe(look);
      look();
    },
    async stop() {
      unsubscribe?.();
      await Promise.all(followers.map(({ due }) => due.stop()));
    },
  };
}
