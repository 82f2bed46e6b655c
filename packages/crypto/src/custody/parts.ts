import { checkArgument } from "@seneschal/kernel";
import type { StartAct } from "./act.ts";

/**
 * Who does what in a ceremony, as its start alone tells. In a generation and a refresh every seat deals to every other, and holds a
 * share in the end. In a reshare seats 1 to `total_shares` are those who will hold a share, and in a repair seat 1 is; there
 * `deals` says with the share of which index of the key each seat deals, 0 for none.
 */
const seatsOf = (start: StartAct): readonly number[] => start.seats.map((_, i) => i + 1);

/** Seats that deal: they commit, and seal packages. */
export function dealersOf(start: StartAct): readonly number[] {
  return seatsOf(start).filter((seat) => start.kind === "generate" || shareBefore(start, seat) > 0);
}

/** The index of the seat's share of the key that there was before; 0: none. */
export function shareBefore(start: StartAct, seat: number): number {
  checkArgument("start", start, "object");
  checkArgument("seat", seat, "number");
  if (start.kind === "generate") return 0;
  return start.kind === "refresh" ? seat : (start.deals[seat - 1] ?? 0);
}

/** The index of the share that the seat ends with, or goes on with; 0: none. */
export function shareAfter(start: StartAct, seat: number): number {
  checkArgument("start", start, "object");
  checkArgument("seat", seat, "number");
  if (start.kind === "repair") return seat === 1 ? start.index : shareBefore(start, seat);
  return start.kind === "reshare" && seat > start.total_shares ? 0 : seat;
}

/** Seats that a ceremony gives a share: they accept, and confirm. */
export function receiversOf(start: StartAct): readonly number[] {
  checkArgument("start", start, "object");
  return start.kind === "repair" ? [1] : seatsOf(start).filter((seat) => shareAfter(start, seat) > 0);
}

/** Seats to which seat `from` seals a package each, in this order: in a repair those who help, else those who are given a share. */
export function dealtTo(start: StartAct, from: number): readonly number[] {
  return (start.kind === "repair" ? dealersOf(start) : receiversOf(start)).filter((seat) => seat !== from);
}

/** Seats that seal something to seat `to`, in this order: packages, and contributions to the one whose share is repaired. */
export function sendersOf(start: StartAct, to: number): readonly number[] {
  const receives = start.kind === "repair" || shareAfter(start, to) > 0;
  return receives ? dealersOf(start).filter((seat) => seat !== to) : [];
}

/** Seats that say where things go that are sealed to them. */
export function joinersOf(start: StartAct): readonly number[] {
  return start.kind === "repair" ? seatsOf(start) : receiversOf(start);
}
