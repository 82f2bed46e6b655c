import { checkArgument } from "@seneschal/kernel";
import { type KeysCode, refusal } from "./codes.ts";

/** What a cell of a transition table says: the next status, or the code of the refusal. */
export type Cell<Status extends string> = { readonly to: Status } | { readonly refuse: KeysCode };

/** One cell for every status and every input: exhaustive by type. */
export type TransitionTable<Status extends string, Input extends string> = Readonly<
  Record<Status, Readonly<Record<Input, Cell<Status>>>>
>;

/** The new state of a noun and what the caller now has to do, in this order. */
export interface Step<State, Effect> {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** A cell that moves. */
export const to = <Status extends string>(status: Status): Cell<Status> => ({ to: status });

/** The cell for "not in this status". */
export const wrongState = { refuse: "STATE_CONFLICT" } as const satisfies Cell<never>;

/**
 * The status behind an input; throws the cell's refusal.
 *
 * @example
 * ```ts
 * import { nextStatus } from "@seneschal/core/keys";
 * const table = { open: { close: { to: "closed" } }, closed: { close: { refuse: "STATE_CONFLICT" } } } as const;
 * console.log(nextStatus("door", table, "open", "close")); // closed
 * ```
 */
export function nextStatus<Status extends string, Input extends string>(
  noun: string,
  table: TransitionTable<Status, Input>,
  status: Status,
  input: Input,
): Status {
  checkArgument("noun", noun, "string");
  checkArgument("table", table, "object");
  checkArgument("status", status, "string");
  checkArgument("input", input, "string");
  const cell = table[status][input];
  if ("to" in cell) return cell.to;
  throw refusal(cell.refuse, `${input.replaceAll("_", " ")} is not possible: the ${noun} is ${status}`, { status });
}
