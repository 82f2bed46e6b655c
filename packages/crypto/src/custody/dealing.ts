import { fromBase64 } from "../bytes.ts";
import { type CrkPublic, crkFromJson } from "../threshold/crk.ts";
import { acceptsBroadcast, type DkgBroadcast, generatedPublic } from "../threshold/dkg-public.ts";
import { refreshedPublic, refreshes } from "../threshold/resharing.ts";
import type { CommitmentAct, StartAct } from "./act.ts";

/** How many shares make the key that a ceremony is about. */
export function thresholdOf(start: StartAct): number {
  return start.kind === "generate" ? start.threshold : start.crk.threshold;
}

/** A seat's commitment as the key generation has it. */
export function broadcastOf(seat: number, { commitments, proof = "" }: CommitmentAct): DkgBroadcast {
  return { index: seat, commitments, proof };
}

/** A seat's commitment as the refresh has it. */
export function dealOf(seat: number, { commitments }: CommitmentAct) {
  return { from: seat, commitments: commitments.map(fromBase64) };
}

/** Whether a seat's commitment is one: of the right degree, in the group, and with a proof, or zero where it must be zero. */
export function acceptsCommitment(start: StartAct, seat: number, act: CommitmentAct): boolean {
  if (start.kind === "generate") return acceptsBroadcast(broadcastOf(seat, act), start.threshold);
  return refreshes(dealOf(seat, act).commitments, start.crk.threshold);
}

/** The public half that all commitments make. Throws `protocol_invalid` when they cancel each other out. */
export function publicOf(start: StartAct, committed: ReadonlyMap<number, CommitmentAct>): CrkPublic {
  const all = [...committed].sort(([a], [b]) => a - b);
  if (start.kind === "refresh")
    return refreshedPublic(
      crkFromJson(start.crk),
      all.map(([seat, act]) => dealOf(seat, act)),
    );
  return generatedPublic(
    all.map(([seat, act]) => broadcastOf(seat, act)),
    start.threshold,
  );
}
