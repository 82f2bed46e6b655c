import type { JsonObject } from "@seneschal/kernel";
import type { Machine } from "@seneschal/kernel/log";
import { apply } from "./apply/apply.ts";
import type { Command } from "./command.ts";
import type { Rejection } from "./errors.ts";
import { decodeState, encodePieces, stateHash } from "./state/encoding.ts";
import { emptyState, type QuotaEvent, type QuotaState } from "./state/state.ts";

/** What the proposer of a command is told. */
export type Verdict =
  | { readonly ok: true; readonly repeat: boolean; readonly result: JsonObject; readonly events: readonly QuotaEvent[] }
  | Rejection;

/**
 * The quotas as a state machine for a replicated log: `openReplicated({ machine: quotaMachine, ... })`. Repeats, and refusals of
 * commands whose id no caller chose, leave the state object as it was, so they cost the log nothing.
 */
export const quotaMachine: Machine<QuotaState, Command, Verdict> = {
  initial: emptyState(),
  apply(state, command, at) {
    const outcome = apply(state, command, at);
    if (!outcome.ok) {
      const { state: next = state, ...refusal } = outcome;
      return { state: next, result: refusal };
    }
    const { repeat, result, events } = outcome;
    return { state: outcome.state, result: { ok: true, repeat, result, events } };
  },
  encode: encodePieces,
  decode: decodeState,
  hash: stateHash,
};
