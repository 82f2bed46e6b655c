import { checkArgument } from "@seneschal/kernel";
import { dealersOf, joinersOf, receiversOf } from "./parts.ts";
import type { TranscriptView } from "./transcript-view.ts";

/** Whose word a ceremony waits for. */
export interface Awaited {
  readonly seats: readonly number[];
  readonly witness: boolean;
}

/**
 * Whose word an open ceremony waits for: each of these has something to say now, where all that was sealed to it holds and, once there is
 * a transcript hash, it was compared. Nobody when the ceremony is over.
 */
export function awaitedIn(view: TranscriptView): Awaited {
  checkArgument("view", view, "object");
  const { status, start, round, transcript, witnessed } = view;
  if (status !== "open") return { seats: [], witness: false };
  const [dealers, receivers] = [dealersOf(start), receiversOf(start)];
  const lacks = (done: { has(seat: number): boolean }) => (seat: number) => !done.has(seat);
  const sorted = (...seats: readonly number[]) => [...new Set(seats)].sort((a, b) => a - b);
  if (transcript !== undefined) return { seats: receivers.filter(lacks(view.confirmed)), witness: !witnessed };
  if (round === undefined) {
    const joiners = joinersOf(start).filter(lacks(view.joined));
    return { seats: sorted(...joiners, ...dealers.filter(lacks(view.committed))), witness: false };
  }
  const undealt = dealers.filter(lacks(view.dealt));
  if (undealt.length > 0) return { seats: undealt, witness: false };
  const owing = start.kind === "repair" ? dealers.filter(lacks(view.contributed)) : [];
  return { seats: owing.length > 0 ? owing : receivers.filter(lacks(view.accepted)), witness: false };
}
