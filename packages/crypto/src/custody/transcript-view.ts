import type { CrkPublic } from "../threshold/crk.ts";
import type { Act, CommitmentAct, StartAct } from "./act.ts";
import { dealtTo, sendersOf } from "./parts.ts";

/** What signed evidence says of a seat: which entry, and what of it was false. Anyone can check it from the transcript alone. */
export interface Blame {
  readonly seat: number;
  readonly entry: number;
  readonly reason: BlameReason;
}

export type BlameReason =
  /** A transport key is of small order: nothing can be sealed to it. */
  | "transport_key"
  /** The commitment has a wrong degree, a foreign point or no proof, or would change the key. */
  | "commitment"
  /** A package or contribution does not open, or its value is not the committed one: the receiver has shown it. */
  | "package"
  /** The complaint shows nothing: another secret, or a package that holds. */
  | "complaint";

/**
 * What a transcript says so far. Values are never changed: an entry makes a new view.
 *
 * `open`: acts are awaited; `active`: every custodian confirmed one transcript hash and the witness signed it; `failed`: signed
 * evidence blames a seat, or the commitments cancel each other out; `ended`: by the starter. Only an open ceremony takes entries.
 */
export interface TranscriptView {
  readonly ceremony: string;
  readonly start: StartAct;
  readonly status: "open" | "active" | "failed" | "ended";
  /** Hash of every entry, in order. */
  readonly hashes: readonly string[];
  /** Who did what, in order. */
  readonly acts: readonly { readonly author: string; readonly type: Act["type"] }[];
  /** Transport keys, by seat: one for all who seal to it, or in a reshare and a repair one for each of them. */
  readonly joined: ReadonlyMap<number, readonly string[]>;
  readonly committed: ReadonlyMap<number, CommitmentAct>;
  /** The hash at which all had joined and committed: packages are bound to it. */
  readonly round?: string;
  /** Sealed packages by dealing seat, and the entry that brought them. */
  readonly dealt: ReadonlyMap<number, { readonly entry: number; readonly sealed: readonly string[] }>;
  /** Sealed sums of a repair by the seat that helps, and the entry that brought them. */
  readonly contributed: ReadonlyMap<number, { readonly entry: number; readonly sealed: string }>;
  readonly accepted: ReadonlySet<number>;
  /** The hash at which all had accepted: what custodians and witness confirm. */
  readonly transcript?: string;
  /** The public half that `transcript` made. */
  readonly crk?: CrkPublic;
  readonly confirmed: ReadonlySet<number>;
  readonly witnessed: boolean;
  readonly blame?: Blame;
}

/** The seat of an identity, or 0. */
export function seatOf(start: StartAct, custodianId: string): number {
  return start.seats.findIndex((card) => card.custodian_id === custodianId) + 1;
}

/** What seat `from` has sealed to seat `to`, and in which entry. */
export function sealedFor(
  view: TranscriptView,
  from: number,
  to: number,
): { readonly entry: number; readonly sealed: string } | undefined {
  if (view.start.kind === "repair" && to === 1) return view.contributed.get(from);
  const dealt = view.dealt.get(from);
  const sealed = dealt?.sealed[dealtTo(view.start, from).indexOf(to)];
  return dealt === undefined || sealed === undefined ? undefined : { entry: dealt.entry, sealed };
}

/** Which of a seat's transport keys is for what seat `from` seals to it. */
export function keyNumber({ kind }: StartAct, senders: readonly number[], from: number): number {
  return kind === "reshare" || kind === "repair" ? senders.indexOf(from) : 0;
}

/** The key to which seat `from` seals what is for seat `to`. */
export function transportKey({ joined, start }: TranscriptView, from: number, to: number): string | undefined {
  return joined.get(to)?.[keyNumber(start, sendersOf(start, to), from)];
}
