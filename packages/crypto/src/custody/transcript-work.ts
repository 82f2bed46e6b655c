import { checkArgument } from "@seneschal/kernel";
import type { CrkPublicJson } from "../threshold/crk.ts";
import { crkToJson } from "../threshold/crk.ts";
import type { EntryRefusal } from "./admit-entry.ts";
import type { TranscriptEntry } from "./entry.ts";
import type { Blame, TranscriptView } from "./transcript-view.ts";

/** Where a transcript stands behind its last entry, as plain data. */
export interface TranscriptStanding {
  readonly status: TranscriptView["status"];
  readonly entries: number;
  /** Hash of the last entry. */
  readonly head: string;
  /** Seats that have done each of their parts, in order. */
  readonly joined: readonly number[];
  readonly committed: readonly number[];
  readonly dealt: readonly number[];
  readonly contributed: readonly number[];
  readonly accepted: readonly number[];
  readonly confirmed: readonly number[];
  readonly witnessed: boolean;
  /** What custodians and witness confirm, and the public half that it made: present when all have accepted. */
  readonly transcript?: string;
  readonly crk?: CrkPublicJson;
  readonly blame?: Blame;
}

/** What {@link TranscriptWork.admitEntry} says of an entry. */
export type EntryOutcome =
  | { readonly admitted: true; readonly standing: TranscriptStanding }
  | { readonly admitted: false; readonly reason: EntryRefusal; readonly flaw?: string };

/** A transcript that a relay keeps: `head` is the hash of its last entry. The entries are asked for where the work does not know it yet. */
export interface KeptTranscript {
  readonly head: string;
  readonly entries: () => Promise<readonly TranscriptEntry[]>;
}

/**
 * What a relay does with transcripts, done apart from the thread that serves: with many custodians an entry takes a while. `owner` is whose
 * budget the work is charged to. Throws `service_unavailable` when the owner has too much under way or it takes too long.
 */
export interface TranscriptWork {
  /** {@link admitEntry} behind a transcript that was admitted before; `undefined` before the start. */
  admitEntry(behind: KeptTranscript | undefined, entry: unknown, owner: string): Promise<EntryOutcome>;
}

/** Where a transcript stands. */
export function standingOf(view: TranscriptView): TranscriptStanding {
  checkArgument("view", view, "object");
  const { status, hashes, transcript, crk, blame, witnessed } = view;
  const seats = (of: Iterable<number>): readonly number[] => [...of].sort((a, b) => a - b);
  return {
    status,
    entries: hashes.length,
    head: hashes.at(-1) ?? "",
    witnessed,
    joined: seats(view.joined.keys()),
    committed: seats(view.committed.keys()),
    dealt: seats(view.dealt.keys()),
    contributed: seats(view.contributed.keys()),
    accepted: seats(view.accepted),
    confirmed: seats(view.confirmed),
    ...(transcript === undefined ? {} : { transcript }),
    ...(crk === undefined ? {} : { crk: crkToJson(crk) }),
    ...(blame === undefined ? {} : { blame }),
  };
}
