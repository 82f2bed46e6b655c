import { checkOptions } from "@seneschal/kernel";
import type { Proposed, Replicated } from "@seneschal/kernel/log";

/** A process that can sequence: its id, and where the others reach it. */
export interface Candidate {
  readonly id: string;
  readonly address: string;
}

/** The process whose lease runs. `term` grows with every change of the holder. */
export interface Holder extends Candidate {
  readonly term: number;
}

/**
 * A lease that one candidate holds at a time. Performance only: nothing may go wrong when two processes believe to hold
 * it, or none does.
 */
export interface SequencerLease {
  /** How long a lease runs without renewal, in milliseconds. */
  readonly ttlMs: number;
  /** Takes the lease if it is free, renews it if it is ours; gives its holder now. */
  renew(): Promise<Holder>;
  /** Gives the lease up if it is ours. */
  release(): Promise<void>;
}

/** Options of {@link openSequencer}. */
export interface SequencerOptions<State, Command, Result> {
  readonly replicated: Replicated<State, Command, Result>;
  readonly lease: SequencerLease;
  readonly self: Candidate;
  /** Renews the lease again and again, every `ms`; a turn that throws did not reach it. */
  readonly every: (ms: number, renew: () => Promise<void>) => { stop(): Promise<void> };
  /** Proposes at another process, for example over mTLS: `replicated.propose` there. Throws when it does not answer. */
  readonly forward: (to: Holder, commands: readonly Command[]) => Promise<readonly Proposed<Result>[]>;
}

/** Proposals that go through one process of many while it answers. */
export interface Sequencer<Command, Result> {
  /**
   * Like `Replicated.propose`. Forwarded to the holder of the lease; if that fails in any way, proposed directly with the
   * same ids, so that a command whose reply was lost is a repeat.
   */
  propose(commands: readonly Command[]): Promise<readonly Proposed<Result>[]>;
  /** The holder as last seen; `undefined` while there is none or it does not answer. */
  holder(): Holder | undefined;
  close(): Promise<void>;
}

/**
 * Elects a sequencer for speed: proposals of all processes travel in one process's batches instead of racing for the head
 * of the log. Safety is the log's alone: a paused or deposed sequencer cannot commit anything, because its appends name
 * a head that has moved.
 */
export async function openSequencer<State, Command, Result>(
  options: SequencerOptions<State, Command, Result>,
): Promise<Sequencer<Command, Result>> {
  checkOptions("options", options, {
    replicated: "object",
    lease: "object",
    self: "object",
    every: "function",
    forward: "function",
  });
  const { replicated, lease, self, forward, every } = options;
  let holder: Holder | undefined;
  let closed = false;

  const renew = async (): Promise<void> => {
    try {
      const found = await lease.renew();
      if (!closed) holder = found;
    } catch (error) {
      holder = undefined;
      throw error;
    }
  };
  await renew().catch(() => undefined);
  const renewing = every(lease.ttlMs / 3, renew);

  return {
    propose: async (commands) => {
      const to = holder;
      if (to === undefined || to.id === self.id) return replicated.propose(commands);
      try {
        return await forward(to, commands);
      } catch {
        // Nobody is sent there again before the next renewal says who holds the lease.
        if (holder === to) holder = undefined;
        return replicated.propose(commands);
      }
    },
    holder: () => holder,
    close: async () => {
      closed = true;
      await renewing.stop();
      holder = undefined;
      await lease.release().catch(() => {});
    },
  };
}
