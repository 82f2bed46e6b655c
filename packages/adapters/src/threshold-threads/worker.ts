import {
  admitEntry,
  type EntryOutcome,
  entryHash,
  standingOf,
  type TranscriptEntry,
  type TranscriptView,
} from "@seneschal/crypto/custody";
import {
  acceptsCommitment,
  acceptsSignatureShare,
  aggregateSignature,
  type CrkPublic,
  type CrkPublicJson,
  type CrkWithShares,
  crkFromJson,
  crkSet,
  dealCrk,
  inspectShares,
  reshareWithShares,
  signWithShares,
} from "@seneschal/crypto/threshold";
import { CodedError } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { nodeCrypto } from "../node-crypto/index.ts";
import { serveTasks } from "../worker-pool/index.ts";
import { type SentMaterial, type ThresholdOutcome, type ThresholdTask, UNKNOWN_HEAD } from "./messages.ts";

/** Keys that were read last: each request about one reads it anew. */
const KNOWN = 16;
const known = new Map<string, CrkPublic>();
/** Transcripts by the hash of their last entry, which says what every entry before it was. */
const views = new Map<string, TranscriptView>();

function remember<T>(into: Map<string, T>, key: string, value: T): T {
  into.delete(key);
  into.set(key, value);
  const [oldest] = into.keys();
  if (into.size > KNOWN && oldest !== undefined) into.delete(oldest);
  return value;
}

function crkOf(json: CrkPublicJson): CrkPublic {
  const text = JSON.stringify(json);
  return remember(known, text, known.get(text) ?? crkFromJson(json));
}

/** Goes on from the last entry that was read before. Throws where the entries that were kept are not those that were admitted. */
function viewAt(head: string, entries: readonly TranscriptEntry[] | undefined): TranscriptView | undefined {
  const known = views.get(head);
  if (known !== undefined || entries === undefined) return known;
  const hashes = entries.map((entry) => entryHash(nodeCrypto, entry));
  const from = hashes.findLastIndex((hash) => views.has(hash));
  let view = views.get(hashes[from] ?? "");
  for (const entry of entries.slice(from + 1)) {
    const admission = admitEntry(nodeCrypto, view, entry);
    if (!admission.admitted) throw new Error("a transcript that was kept does not hold");
    view = admission.view;
  }
  if (view?.hashes.at(-1) !== head) throw new Error("a transcript that was kept does not hold");
  return view;
}

function admit({ head, entries, entry }: Extract<ThresholdTask, { readonly kind: "admit_entry" }>): unknown {
  const view = head === undefined ? undefined : viewAt(head, entries);
  if (head !== undefined && view === undefined) return UNKNOWN_HEAD;
  // What it continues stays: another entry may be behind it, where this one is refused or its commit lost.
  if (head !== undefined && view !== undefined) remember(views, head, view);
  const admission = admitEntry(nodeCrypto, view, entry);
  if (!admission.admitted) {
    return admission satisfies EntryOutcome;
  }
  const standing = standingOf(admission.view);
  remember(views, standing.head, admission.view);
  return { admitted: true, standing } satisfies EntryOutcome;
}

/** The bytes that came with the task, in pieces, none of them twice. */
function drawnFrom(bytes: Uint8Array): Random {
  let at = 0;
  return (length) => {
    if (at + length > bytes.length) throw new Error("the task came with too little randomness");
    const piece = bytes.slice(at, at + length);
    bytes.fill(0, at, at + length);
    at += length;
    return piece;
  };
}

function sent({ crk, shares }: CrkWithShares): SentMaterial {
  const bytes = shares.map((share) => share.toBytes());
  for (const share of shares) share.erase();
  return { crk, shares: bytes };
}

function work(task: ThresholdTask): unknown {
  switch (task.kind) {
    case "deal":
      return sent(dealCrk({ ...task.to, random: drawnFrom(task.random) }));
    case "reshare":
      return sent(reshareWithShares(crkOf(task.crk), task.shares, { ...task.to, random: drawnFrom(task.random) }));
    case "sign":
      return signWithShares(crkOf(task.crk), task.shares, task.message, drawnFrom(task.random));
    case "inspect":
      return inspectShares(crkSet(crkOf(task.crk)), task.shares).problems;
    case "accepts_commitment":
      return acceptsCommitment(crkOf(task.crk), task.present, task.commitment);
    case "accepts_share":
      return acceptsSignatureShare(crkOf(task.crk), task.round, task.commitments, task.part);
    case "aggregate":
      return aggregateSignature(crkOf(task.crk), task.round, task.commitments, task.parts);
    case "admit_entry":
      return admit(task);
    default:
      return task satisfies never;
  }
}

serveTasks((task: ThresholdTask): ThresholdOutcome => {
  try {
    return { value: work(task) };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    const { code, message, details } = error;
    return { code, message, details };
  }
});
