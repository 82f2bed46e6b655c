import type { CryptoProvider } from "@seneschal/kernel/ports";
import { base64, fromBase64 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { crkFromJson, crkSet } from "../threshold/crk.ts";
import { DkgParticipant } from "../threshold/dkg.ts";
import { dealRefresh, refreshShare } from "../threshold/resharing.ts";
import type { Share } from "../threshold/share.ts";
import type { CommitmentAct } from "./act.ts";
import type { CeremonyState } from "./ceremony-state.ts";
import { broadcastOf, dealOf } from "./dealing.ts";
import type { TranscriptView } from "./transcript-view.ts";

/** A seat's own part of the dealing: derived from the client's state anew each time, so that nothing of it needs keeping. */
export interface SeatDealing {
  readonly commitment: CommitmentAct;
  /** The value for each other seat. Needs all commitments. */
  values(view: TranscriptView): ReadonlyMap<number, Uint8Array>;
  /** The seat's share of the key, from what the others dealt to it. */
  share(view: TranscriptView, received: ReadonlyMap<number, Uint8Array>): Share;
}

/** `held` is the seat's share of the key that a refresh renews. Throws `share_invalid` when it is missing or another's. */
export function seatDealing(
  provider: CryptoProvider,
  state: CeremonyState,
  view: TranscriptView,
  held: Share | undefined,
): SeatDealing {
  const random = state.derive(provider, "polynomial", state.start);
  const { start } = view;
  const { seat } = state;
  if (start.kind === "generate") {
    const participant = new DkgParticipant({ index: seat, threshold: start.threshold, total: start.seats.length, random });
    const { index: _, ...broadcast } = participant.broadcast;
    const broadcasts = (of: TranscriptView) => [...of.committed].map(([from, act]) => broadcastOf(from, act));
    return {
      commitment: { type: "commitment", ...broadcast },
      values: (of) => new Map(participant.deal(broadcasts(of)).map(({ to, share }) => [to, fromBase64(share)])),
      share(of, received) {
        participant.deal(broadcasts(of));
        return participant.finish([...received].map(([from, value]) => ({ from, to: seat, share: base64(value) }))).share;
      },
    };
  }
  const crk = crkFromJson(start.crk);
  if (held === undefined || held.index !== seat || held.epoch !== crk.epoch || !crkSet(crk).accepts(held)) {
    throw cryptoError("share_invalid", "a refresh needs this seat's share of the key", { indexes: [seat] });
  }
  const deal = dealRefresh(crk, seat, random);
  const own = deal.values[seat - 1] ?? new Uint8Array();
  return {
    commitment: { type: "commitment", commitments: deal.commitments.map(base64) },
    values: () => new Map(deal.values.map((value, i) => [i + 1, value] as const).filter(([to]) => to !== seat)),
    share(of, received) {
      const values = new Map(received).set(seat, own);
      const deals = [...of.committed].map(([from, act]) => ({
        ...dealOf(from, act),
        value: values.get(from) ?? new Uint8Array(),
      }));
      return refreshShare(crk, held, deals);
    },
  };
}
