import type { Clock } from "@seneschal/kernel/ports";
import type { Candidate, Holder, SequencerLease } from "../log/open-sequencer.ts";

/** A lease in memory that several candidates of one process compete for; for one process, it is always held. */
export interface MemoryLease {
  candidate(self: Candidate): SequencerLease;
}

/** Makes a {@link MemoryLease} that runs by `clock`. */
export function createMemoryLease(clock: Clock, ttlMs = 5000): MemoryLease {
  let held: { readonly holder: Holder; readonly until: number } | undefined;
  let term = 0;
  return {
    candidate: (self) => ({
      ttlMs,
      renew: async () => {
        const now = clock.now();
        if (held === undefined || held.until <= now) {
          term += 1;
          held = { holder: { ...self, term }, until: now + ttlMs };
        } else if (held.holder.id === self.id) held = { ...held, until: now + ttlMs };
        return held.holder;
      },
      release: async () => {
        if (held?.holder.id === self.id) held = undefined;
      },
    }),
  };
}
