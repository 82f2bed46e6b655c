import { CodedError } from "@seneschal/core";
import type { Random } from "@seneschal/core/ports";
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
import { serveTasks } from "../worker-pool/index.ts";
import type { SentMaterial, ThresholdOutcome, ThresholdTask } from "./messages.ts";

/** Keys that were read last: each request about one reads it anew. */
const KNOWN = 16;
const known = new Map<string, CrkPublic>();

function crkOf(json: CrkPublicJson): CrkPublic {
  const text = JSON.stringify(json);
  const crk = known.get(text) ?? crkFromJson(json);
  known.delete(text);
  known.set(text, crk);
  const [oldest] = known.keys();
  if (known.size > KNOWN && oldest !== undefined) known.delete(oldest);
  return crk;
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
