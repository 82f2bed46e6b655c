/**
 * A deterministic state machine that rides on a replicated log.
 *
 * Laws:
 * - `apply` is pure: it reads no clock, no random source and no iteration order that depends on history, and never
 *   changes `state` in place. `at` is the time of the log entry, in milliseconds, never falling.
 * - a command that is refused, or was applied before, gives back **the same state object**; a command that is accepted
 *   gives a new one. Only accepted commands reach the log, so that refusals cost it nothing.
 * - a command is JSON and carries the caller's id; the machine answers a repeat from its own memory (see
 *   {@link rememberCommands} for machines without one).
 * - `apply` throws for a command that this version does not know: a replica that meets one in the log must stop.
 * - `encode` gives the bytes in pieces, each made when it is asked for; commands that are applied between two of them change
 *   none. `decode` of the whole behaves like `state`; equal states give equal `hash`es on every replica.
 */
export interface Machine<State, Command, Result> {
  readonly initial: State;
  apply(state: State, command: Command, at: number): { readonly state: State; readonly result: Result };
  encode(state: State): Iterable<Uint8Array>;
  decode(bytes: Uint8Array): State;
  hash(state: State): string;
}
