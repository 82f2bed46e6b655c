import { ed25519_FROST as FROST } from "@noble/curves/ed25519.js";
import { checkArgument } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { base64, bytesEqual, fromBase64 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { type CrkPublic, crkSet, frostPublic, identifier } from "./crk.ts";
import { readPoint } from "./scalar-field.ts";
import type { Share } from "./share.ts";

/** What is to be signed, known to every custodian before anybody commits. All bytes base64, so that it travels as JSON. */
export interface SigningRound {
  /** Unique; nonces are bound to it. */
  readonly id: string;
  readonly set_id: string;
  readonly epoch: number;
  /** The exact bytes to sign. */
  readonly message: string;
}

/** A custodian's public nonce commitments for one round (RFC 9591 section 5.1). */
export interface RoundCommitment {
  readonly index: number;
  readonly hiding: string;
  readonly binding: string;
}

/** A custodian's part of the signature (RFC 9591 section 5.2). */
export interface SignatureShare {
  readonly index: number;
  readonly share: string;
}

/**
 * One custodian in one signing round. Holds the secret nonces in memory only: they have no JSON form, are not copied by
 * structuredClone, serve one signature and are gone then. A restart loses them, and with them the round; that is wanted,
 * because nonces that sign twice give the share away.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { aggregateSignature, dealCrk, newSigningRound, Signer } from "@seneschal/crypto/threshold";
 * const { crk, shares } = dealCrk({ threshold: 2, total: 3, random: systemRandom });
 * const round = newSigningRound(crk, "round-1", Uint8Array.of(1, 2, 3));
 * const signers = shares.slice(0, 2).map((share) => new Signer(crk, share, round, systemRandom));
 * const commitments = signers.map((signer) => signer.commitment);
 * const parts = signers.map((signer) => signer.sign(round, commitments));
 * console.log(aggregateSignature(crk, round, commitments, parts).length); // 64
 * ```
 */
export class Signer {
  readonly index: number;
  readonly commitment: RoundCommitment;
  readonly #round: SigningRound;
  readonly #crk: CrkPublic;
  #secret: { readonly share: Uint8Array; readonly nonces: { hiding: Uint8Array; binding: Uint8Array } } | undefined;

  /** Draws fresh nonces. Throws `share_invalid` when the share is not one of this key, `protocol_invalid` for a foreign round. */
  constructor(crk: CrkPublic, share: Share, round: SigningRound, random: Random) {
    checkArgument("crk", crk, "object");
    checkArgument("share", share, "object");
    checkArgument("round", round, "object");
    checkArgument("random", random, "function");
    const set = crkSet(crk);
    if (!bytesEqual(share.setId, crk.setId) || share.epoch !== crk.epoch || !set.accepts(share)) {
      throw cryptoError("share_invalid", "the share is not one of this key and epoch", { indexes: [share.index] });
    }
    assertRound(crk, round);
    const signingShare = share.payload();
    const { nonces, commitments } = FROST.commit(
      { identifier: identifier(share.index), signingShare: signingShare as never },
      (length = 32) => random(length) as never,
    );
    this.index = share.index;
    this.commitment = { index: share.index, hiding: base64(commitments.hiding), binding: base64(commitments.binding) };
    this.#round = { ...round };
    this.#crk = crk;
    this.#secret = { share: signingShare, nonces };
  }

  /**
   * Signs once. `round` must be the one committed to: a coordinator cannot swap the message afterwards. Throws
   * `nonce_used` on the second call, also when the first one failed.
   */
  sign(round: SigningRound, commitments: readonly RoundCommitment[]): SignatureShare {
    const secret = this.#secret;
    if (secret === undefined) throw cryptoError("nonce_used", "this round's nonces are used up");
    this.#secret = undefined;
    try {
      if (round.id !== this.#round.id || round.message !== this.#round.message || round.epoch !== this.#round.epoch) {
        throw cryptoError("protocol_invalid", "the round is not the one that was committed to");
      }
      const share = FROST.signShare(
        { identifier: identifier(this.index), signingShare: secret.share as never },
        frostPublic(this.#crk) as never,
        secret.nonces as never,
        toFrost(this.#crk, commitments) as never,
        fromBase64(round.message),
      );
      return { index: this.index, share: base64(share) };
    } catch (cause) {
      if ((cause as { code?: string }).code !== undefined) throw cause;
      throw cryptoError("protocol_invalid", "the commitment list does not fit", {}, cause);
    } finally {
      secret.share.fill(0);
      secret.nonces.hiding.fill(0);
      secret.nonces.binding.fill(0);
    }
  }

  /** Throws the nonces away: the round was cancelled. */
  erase(): void {
    this.#secret?.share.fill(0);
    this.#secret?.nonces.hiding.fill(0);
    this.#secret?.nonces.binding.fill(0);
    this.#secret = undefined;
  }
}

/** Opens a signing round for a message. */
export function newSigningRound(crk: Pick<CrkPublic, "setId" | "epoch">, id: string, message: Uint8Array): SigningRound {
  checkArgument("crk", crk, "object");
  checkArgument("id", id, "string");
  checkArgument("message", message, "bytes");
  return { id, set_id: base64(crk.setId), epoch: crk.epoch, message: base64(message) };
}

/** Whether a commitment can enter a round: an index of this key, not yet present, two valid points. */
export function acceptsCommitment(crk: CrkPublic, present: readonly RoundCommitment[], commitment: RoundCommitment): boolean {
  checkArgument("crk", crk, "object");
  checkArgument("present", present, "array");
  checkArgument("commitment", commitment, "object");
  if (present.some((c) => c.index === commitment.index)) return false;
  try {
    const [own] = toFrost(crk, [commitment]);
    if (own === undefined) return false;
    readPoint(own.hiding);
    readPoint(own.binding);
    return true;
  } catch {
    return false;
  }
}

/** Whether a signature share is right; a false answer names its sender as a cheater. `commitments` is the fixed list. */
export function acceptsSignatureShare(
  crk: CrkPublic,
  round: SigningRound,
  commitments: readonly RoundCommitment[],
  part: SignatureShare,
): boolean {
  try {
    return FROST.verifyShare(
      frostPublic(crk) as never,
      toFrost(crk, commitments) as never,
      fromBase64(round.message),
      identifier(part.index),
      fromBase64(part.share),
    );
  } catch {
    return false;
  }
}

/**
 * Puts the parts together: an ordinary Ed25519 signature, verified before it is returned. Throws `cheating` with the
 * indexes of wrong parts, `threshold_not_met`, `protocol_invalid`.
 */
export function aggregateSignature(
  crk: CrkPublic,
  round: SigningRound,
  commitments: readonly RoundCommitment[],
  parts: readonly SignatureShare[],
): Uint8Array {
  checkArgument("crk", crk, "object");
  checkArgument("round", round, "object");
  checkArgument("commitments", commitments, "array");
  checkArgument("parts", parts, "array");
  assertRound(crk, round);
  if (commitments.length < crk.threshold || parts.length < commitments.length) {
    throw cryptoError("threshold_not_met", "a signature share of every committed signer is required", {
      required: Math.max(crk.threshold, commitments.length),
      valid: parts.length,
    });
  }
  const list = toFrost(crk, commitments);
  const shares = Object.fromEntries(parts.map((part) => [identifier(part.index), part]));
  const cheaters = (): number[] =>
    parts.filter((part) => !acceptsSignatureShare(crk, round, commitments, part)).map((part) => part.index);
  try {
    const bytes = Object.fromEntries(Object.entries(shares).map(([id, part]) => [id, fromBase64(part.share)]));
    return Uint8Array.from(FROST.aggregate(frostPublic(crk) as never, list as never, fromBase64(round.message), bytes as never));
  } catch (cause) {
    const indexes = cheaters();
    if (indexes.length > 0) throw cryptoError("cheating", `wrong signature shares: ${indexes.join(", ")}`, { indexes }, cause);
    throw cryptoError("protocol_invalid", "the signature shares do not fit the commitments", {}, cause);
  }
}

function assertRound(crk: CrkPublic, round: SigningRound): void {
  if (round.set_id !== base64(crk.setId) || round.epoch !== crk.epoch) {
    throw cryptoError("protocol_invalid", "the round belongs to another key or epoch");
  }
}

/** Decodes a commitment list; sorted by index, distinct, every point checked by the library when used. */
function toFrost(crk: CrkPublic, commitments: readonly RoundCommitment[]) {
  const indexes = commitments.map((c) => c.index);
  const fits = indexes.every((i) => Number.isInteger(i) && i >= 1 && i <= crk.total);
  if (!fits || new Set(indexes).size !== indexes.length) {
    throw cryptoError("protocol_invalid", "commitment indexes must be distinct and of this key");
  }
  return [...commitments]
    .sort((a, b) => a.index - b.index)
    .map((c) => ({
      identifier: identifier(c.index),
      hiding: fromBase64(c.hiding),
      binding: fromBase64(c.binding),
    }));
}
