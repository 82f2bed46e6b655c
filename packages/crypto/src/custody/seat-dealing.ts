import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { base64 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { type CrkPublic, crkFromJson, crkSet } from "../threshold/crk.ts";
import { dealGeneration, generatedShare } from "../threshold/dkg.ts";
import { commitRepair, dealRepair, repairShare, sumRepair } from "../threshold/repair.ts";
import { type Deal, dealRefresh, dealReshare, type ReceivedDeal, receiveReshare, refreshShare } from "../threshold/resharing.ts";
import type { Share } from "../threshold/share.ts";
import type { CommitmentAct, StartAct } from "./act.ts";
import type { CeremonyState } from "./ceremony-state.ts";
import { dealOf, dealtIndexes } from "./dealing.ts";
import { dealersOf, dealtTo, shareAfter, shareBefore } from "./parts.ts";
import type { TranscriptView } from "./transcript-view.ts";

/** Values by the seat that they are from or for. */
type Values = ReadonlyMap<number, Uint8Array>;

/** A seat's own part of the dealing: derived from the client's state anew each time, so that nothing of it needs keeping. */
export interface SeatDealing {
  /** `undefined`: the seat deals nothing. */
  readonly commitment?: CommitmentAct;
  /** The value for each seat that is dealt to. Needs all commitments. */
  values(view: TranscriptView): Values;
  /** Of a repair: what the seat hands on of what the others dealt to it. */
  contribution?(received: Values): Uint8Array;
  /** The share that the seat is given, from what the others sent to it; `undefined`: none. */
  share(view: TranscriptView, received: Values): Share | undefined;
}

/** `held` is the seat's share of the key that there is. Throws `share_invalid` when the seat deals with it and it is missing or another's. */
export function seatDealing(
  provider: CryptoProvider,
  state: CeremonyState,
  { start }: TranscriptView,
  held: Share | undefined,
): SeatDealing {
  const random = state.derive(provider, "polynomial", state.start);
  const { seat } = state;
  if (start.kind === "generate") return state.once("dealing", () => generating(start, seat, random));
  const crk = crkFromJson(start.crk);
  const index = shareBefore(start, seat);
  if (index === 0) return receiving(start, crk, seat);
  if (held === undefined || held.index !== index || held.epoch !== crk.epoch || !crkSet(crk).accepts(held)) {
    throw cryptoError("share_invalid", `a ${start.kind} needs this seat's share of the key`, { indexes: [index] });
  }
  if (start.kind === "refresh") return refreshing(start, crk, held, random);
  return start.kind === "reshare" ? resharing(start, crk, { seat, held, random }) : helping(start, crk, { seat, held, random });
}

type Of<K extends StartAct["kind"]> = Extract<StartAct, { readonly kind: K }>;
interface Dealer {
  readonly seat: number;
  readonly held: Share;
  readonly random: Random;
}

function generating(start: Of<"generate">, seat: number, random: Random): SeatDealing {
  const deal = dealGeneration({ index: seat, threshold: start.threshold, total: start.seats.length, random });
  const { commitment, values } = dealing(start, seat, deal);
  return {
    commitment: { ...commitment, proof: base64(deal.proof) },
    values,
    share: ({ crk }, received) => crk && generatedShare(crk, seat, [...received.values(), ownValue(deal, seat)]),
  };
}

function refreshing(start: Of<"refresh">, crk: CrkPublic, held: Share, random: Random): SeatDealing {
  const seat = held.index;
  const deal = dealRefresh(crk, seat, random);
  return {
    ...dealing(start, seat, deal),
    share: (of, received) => refreshShare(crk, held, deals(of, new Map(received).set(seat, ownValue(deal, seat)))),
  };
}

function resharing(start: Of<"reshare">, crk: CrkPublic, { seat, held, random }: Dealer): SeatDealing {
  const { threshold, total_shares: total } = start;
  const deal = dealReshare(crk, held, { dealers: dealtIndexes(start), threshold, total, random });
  const { share } = receiving(start, crk, seat);
  return {
    ...dealing(start, seat, deal),
    share: (of, received) => share(of, new Map(received).set(seat, ownValue(deal, seat))),
  };
}

function helping(start: Of<"repair">, crk: CrkPublic, { seat, held, random }: Dealer): SeatDealing {
  const helpers = dealersOf(start);
  const summands = dealRepair(crk, held, { lost: start.index, helpers: dealtIndexes(start), random });
  const value = (to: number) => summands[helpers.indexOf(to)]?.value ?? new Uint8Array();
  return {
    commitment: { type: "commitment", commitments: commitRepair(summands).map(base64) },
    values: () => new Map(dealtTo(start, seat).map((to) => [to, value(to)])),
    contribution: (received) => sumRepair([...received.values(), value(seat)]),
    share: () => undefined,
  };
}

/** A seat that has no share of the key and is given one. */
function receiving(start: Of<"refresh" | "reshare" | "repair">, crk: CrkPublic, seat: number): SeatDealing {
  return {
    values: () => new Map(),
    share(of, received) {
      const index = shareAfter(start, seat);
      if (index === 0) return undefined;
      if (start.kind === "repair") return repairShare(crk, index, [...received.values()]);
      const to = start.kind === "reshare" ? { threshold: start.threshold, total: start.total_shares } : crk;
      return receiveReshare(crk, index, deals(of, received), to);
    },
  };
}

/** What a dealer of a polynomial says: values stand by the index of the share that they make, which is the seat's number. */
function dealing(start: StartAct, seat: number, deal: Deal): Required<Pick<SeatDealing, "commitment" | "values">> {
  return {
    commitment: { type: "commitment", commitments: deal.commitments.map(base64) },
    values: () => new Map(dealtTo(start, seat).map((to) => [to, ownValue(deal, to)])),
  };
}

function ownValue(deal: Deal, index: number): Uint8Array {
  return deal.values[index - 1] ?? new Uint8Array();
}

function deals({ start, committed }: TranscriptView, received: Values): readonly ReceivedDeal[] {
  return [...committed].map(([from, act]) => ({ ...dealOf(start, from, act), value: received.get(from) ?? new Uint8Array() }));
}
