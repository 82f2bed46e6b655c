import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { utf8 } from "../bytes.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { parseCanonicalJson } from "../json/parse-canonical-json.ts";
import { type CrkPublicJson, crkToJson } from "../threshold/crk.ts";
import type { StartAct } from "./act.ts";
import { type AdmissionOptions, admitEntry, type EntryRefusal } from "./admit-entry.ts";
import { cardFingerprint } from "./custodian-card.ts";
import { MAX_ENTRY_BYTES } from "./entry.ts";
import { shareAfter, shareBefore } from "./parts.ts";
import type { Blame, TranscriptView } from "./transcript-view.ts";

/** 16 MiB hold a ceremony of 255 seats. */
const MAX_BYTES = 16 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** What anybody can say of a transcript who has nothing else. */
export type TranscriptReport =
  | {
      readonly valid: true;
      readonly view: TranscriptView;
      readonly ceremony: string;
      readonly kind: StartAct["kind"];
      readonly status: TranscriptView["status"];
      readonly seats: readonly {
        readonly seat: number;
        readonly custodianId: string;
        readonly fingerprint: string;
        readonly confirmed: boolean;
        /** The index of the share of the key with which the seat dealt, and of the one that it is given or keeps; 0: none. */
        readonly deals: number;
        readonly holds: number;
      }[];
      readonly witness: { readonly custodianId: string; readonly fingerprint: string; readonly confirmed: boolean };
      /** Base64: what custodians and witness confirm; present when all have accepted. */
      readonly transcript?: string;
      /** The public half; present when all have accepted, to be used when `status` is `active`. */
      readonly crk?: CrkPublicJson;
      readonly blame?: Blame;
      /** Who did what, in order. */
      readonly acts: TranscriptView["acts"];
    }
  | {
      readonly valid: false;
      readonly refused: { readonly entry: number; readonly reason: EntryRefusal | "not_canonical" | "empty" };
    };

/** The transcript's file: one line of canonical JSON for each entry, each ended by a line feed. */
export function encodeTranscript(entries: readonly object[]): Uint8Array {
  checkArgument("entries", entries, "array");
  return utf8(entries.map((entry) => `${canonicalJson(entry)}\n`).join(""));
}

/**
 * Verifies a transcript, a file of {@link encodeTranscript} or values that were parsed, from itself alone: every signature, the chain,
 * every complaint. Never throws for bad input: a refusal names the first entry that is none, by its number, and why.
 *
 * A valid transcript is not yet one of the right people: give `knows`, or compare the fingerprints. And it may be a part of a longer
 * one, unless it is `active`: what was left out at its end does not show.
 *
 * @example
 * ```ts
 * import { nobleCrypto } from "@seneschal/crypto";
 * import { verifyTranscript } from "@seneschal/crypto/custody";
 * const report = verifyTranscript(nobleCrypto, new TextEncoder().encode('{"v":2}\n'));
 * console.log(report.valid || report.refused); // { entry: 0, reason: 'malformed' }
 * ```
 */
export function verifyTranscript(
  provider: CryptoProvider,
  source: Uint8Array | readonly unknown[],
  options: AdmissionOptions = {},
): TranscriptReport {
  checkOptions("options", options, { knows: "function?" });
  checkArgument("provider", provider, "object");
  let view: TranscriptView | undefined;
  let at = 0;
  for (const read of source instanceof Uint8Array ? transcriptLines(source) : source.map((value) => ({ value }))) {
    if ("reason" in read) return refused(at, read.reason);
    const admission = admitEntry(provider, view, read.value, options);
    if (!admission.admitted) return refused(at, admission.reason);
    view = admission.view;
    at++;
  }
  return view === undefined ? refused(0, "empty") : report(provider, view);
}

function report(provider: CryptoProvider, view: TranscriptView): TranscriptReport {
  const { start, transcript, crk, blame } = view;
  const person = (card: typeof start.witness) => ({
    custodianId: card.custodian_id,
    fingerprint: cardFingerprint(provider, card),
  });
  return {
    valid: true,
    view,
    ceremony: view.ceremony,
    kind: start.kind,
    status: view.status,
    acts: view.acts,
    seats: start.seats.map((card, i) => ({
      seat: i + 1,
      ...person(card),
      confirmed: view.confirmed.has(i + 1),
      deals: shareBefore(start, i + 1),
      holds: shareAfter(start, i + 1),
    })),
    witness: { ...person(start.witness), confirmed: view.witnessed },
    ...(transcript === undefined ? {} : { transcript }),
    ...(crk === undefined ? {} : { crk: crkToJson(crk) }),
    ...(blame === undefined ? {} : { blame }),
  };
}

/** One line at a time, so that a hostile file costs what its good part costs. */
export function* transcriptLines(
  bytes: Uint8Array,
): Generator<{ readonly value: unknown } | { readonly reason: "too_large" | "not_canonical" }> {
  if (bytes.length > MAX_BYTES) return yield { reason: "too_large" };
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end < 0) return yield { reason: "not_canonical" };
    if (end - start > MAX_ENTRY_BYTES) return yield { reason: "too_large" };
    try {
      yield { value: parseCanonicalJson(bytes.subarray(start, end)) };
    } catch {
      return yield { reason: "not_canonical" };
    }
    start = end + 1;
  }
}

function refused(entry: number, reason: EntryRefusal | "not_canonical" | "empty"): TranscriptReport {
  return { valid: false, refused: { entry, reason } };
}
