import { checkArgument } from "../argument.ts";
import type { Json } from "../json.ts";
import { headerLine, splitHeader } from "./ascii-json.ts";
import type { Machine } from "./machine.ts";
import { type Receipt, Receipts, type ReceiptWindow } from "./receipts.ts";

/** A machine's state with the answers that it remembers. */
export interface Remembering<State> {
  readonly inner: State;
  readonly receipts: Receipts;
}

/**
 * Gives a machine a memory of accepted commands: a command whose id was accepted within the window is answered as it was
 * then and changes nothing. Part of the state and of its snapshot; forgotten by entry time, equally on every replica.
 * Default window: the newest 100,000 commands of the last 24 hours.
 *
 * @example
 * ```ts
 * import { rememberCommands } from "@seneschal/kernel/log";
 * const counter = {
 *   initial: 0,
 *   apply: (total: number, { add }: { id: string; add: number }) => ({ state: total + add, result: "ok" }),
 *   encode: (total: number) => [Uint8Array.of(total)],
 *   decode: ([total = 0]: Uint8Array) => total,
 *   hash: String,
 * };
 * const machine = rememberCommands(counter);
 * const first = machine.apply(machine.initial, { id: "c1", add: 1 }, 0);
 * console.log(machine.apply(first.state, { id: "c1", add: 1 }, 0).state === first.state); // true
 * ```
 */
export function rememberCommands<State, Command extends { readonly id: string }, Result extends Json>(
  machine: Machine<State, Command, Result>,
  window: ReceiptWindow = { commands: 100_000, ms: 86_400_000 },
): Machine<Remembering<State>, Command, Result> {
  checkArgument("machine", machine, "object");
  return {
    initial: { inner: machine.initial, receipts: Receipts.from([]) },
    apply(state, command, at) {
      const known = state.receipts.get(command.id);
      if (known !== undefined) return { state, result: known[2] as Result };
      const next = machine.apply(state.inner, command, at);
      if (next.state === state.inner) return { state, result: next.result };
      const receipts = state.receipts.add([command.id, at, next.result], window);
      return { state: { inner: next.state, receipts }, result: next.result };
    },
    *encode({ inner, receipts }) {
      yield headerLine(receipts.rows());
      yield* machine.encode(inner);
    },
    decode(bytes) {
      const { header, body } = splitHeader(bytes);
      return { inner: machine.decode(body), receipts: Receipts.from(header as unknown as readonly Receipt[]) };
    },
    hash: ({ inner, receipts }) => `${machine.hash(inner)}/${receipts.size}/${receipts.rows().at(-1)?.[0] ?? ""}`,
  };
}
