import { checkArgument } from "@seneschal/kernel";
import { fromBase64 } from "../bytes.ts";
import { type CrkPublic, crkFromJson } from "../threshold/crk.ts";
import { acceptsBroadcast, type DkgBroadcast, generatedFrom } from "../threshold/dkg-public.ts";
import { onPolynomial } from "../threshold/on-polynomial.ts";
import { isContribution, isSummand, repairs } from "../threshold/repair.ts";
import { addPoints, refreshes, reshares, successor } from "../threshold/resharing.ts";
import { sumOfJudged } from "../threshold/scalar-field.ts";
import type { CommitmentAct, StartAct } from "./act.ts";
import { dealersOf, shareBefore } from "./parts.ts";
import type { TranscriptView } from "./transcript-view.ts";

/** How many shares make the key that a ceremony is about. */
export function thresholdOf(start: StartAct): number {
  checkArgument("start", start, "object");
  return start.kind === "generate" || start.kind === "reshare" ? start.threshold : start.crk.threshold;
}

/** How many points a seat commits to. */
export function pointsOf(start: StartAct): number {
  return start.kind === "repair" ? dealersOf(start).length : thresholdOf(start);
}

/** Indexes of the shares with which a reshare or repair is dealt, in the order of seats. */
export function dealtIndexes(start: StartAct): readonly number[] {
  return dealersOf(start).map((seat) => shareBefore(start, seat));
}

/** A seat's commitment as the key generation has it. */
export function broadcastOf(seat: number, { commitments, proof = "" }: CommitmentAct): DkgBroadcast {
  return { index: seat, commitments, proof };
}

/** A seat's commitment as refresh and reshare have it, from the share that it has of the key. */
export function dealOf(start: StartAct, seat: number, { commitments }: CommitmentAct) {
  return { from: shareBefore(start, seat), commitments: commitments.map(fromBase64) };
}

/** Whether a seat's commitment is one: of the right degree, in the group, and with a proof, or with the constant that it must have. */
export function acceptsCommitment(start: StartAct, seat: number, act: CommitmentAct): boolean {
  if (start.kind === "generate") return acceptsBroadcast(broadcastOf(seat, act), start.threshold);
  const { from, commitments } = dealOf(start, seat, act);
  if (start.kind === "refresh") return refreshes(commitments, start.crk.threshold);
  const dealer = { from, dealers: dealtIndexes(start), verifyingShare: fromBase64(start.crk.verifying_shares[from - 1] ?? "") };
  return start.kind === "reshare" ? reshares(commitments, start.threshold, dealer) : repairs(commitments, start.index, dealer);
}

/** Whether a value that seat `from` sealed to seat `to` is what was committed to. */
export function holds(view: TranscriptView, from: number, to: number, value: Uint8Array): boolean {
  const { start, committed } = view;
  const pointsBy = (seat: number) => committed.get(seat)?.commitments.map(fromBase64) ?? [];
  if (start.kind !== "repair") return onPolynomial(pointsBy(from), to, value);
  const helpers = dealersOf(start);
  if (to === 1) return isContribution(helpers.map(pointsBy), helpers.indexOf(from), value);
  return isSummand(pointsBy(from), helpers.indexOf(to), value);
}

/** The public half that all commitments make, each accepted before. Throws `protocol_invalid` when they cancel each other out. */
export function publicOf(start: StartAct, committed: ReadonlyMap<number, CommitmentAct>): CrkPublic {
  if (start.kind === "repair") return crkFromJson(start.crk);
  const all = [...committed].sort(([a], [b]) => a - b);
  const sums = sumOfJudged(all.map(([, { commitments }]) => commitments.map(fromBase64)));
  if (start.kind === "generate") {
    return generatedFrom(
      all.map(([seat, act]) => broadcastOf(seat, act)),
      start.threshold,
      sums,
    );
  }
  const crk = crkFromJson(start.crk);
  if (start.kind === "reshare") return successor(crk, start.threshold, start.total_shares, sums);
  return successor(crk, crk.threshold, crk.total, addPoints(sumOfJudged([crk.commitments]), sums));
}
