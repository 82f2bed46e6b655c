import { ed25519_FROST as FROST } from "@noble/curves/ed25519.js";
import type { Random } from "@seneschal/kernel/ports";
import { base64, fromBase64 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { type CrkPublic, crkShare, identifier } from "./crk.ts";
import { acceptsBroadcast, type DkgBroadcast, type DkgMessage, generatedPublic } from "./dkg-public.ts";
import { onPolynomial } from "./on-polynomial.ts";
import { assertThreshold, type Share } from "./share.ts";

type Step =
  | { readonly kind: "committed"; readonly secret: ReturnType<typeof FROST.DKG.round1>["secret"] }
  | {
      readonly kind: "dealt";
      readonly secret: ReturnType<typeof FROST.DKG.round1>["secret"];
      readonly broadcasts: readonly DkgBroadcast[];
    }
  | { readonly kind: "done" };

/**
 * One participant of a distributed key generation (PedPoP): nobody ever holds the key, not even for a moment.
 *
 * 1. everybody sends {@link DkgParticipant.broadcast} to all, over a channel that shows all the same list;
 * 2. {@link DkgParticipant.deal} answers with one secret message per other participant;
 * 3. {@link DkgParticipant.finish} checks the received messages and gives the public half and the own share.
 *
 * The protocol has no reliable broadcast of its own: custodians compare {@link dkgTranscript}, and a list that was shown
 * differently to different people gives different public keys and set ids.
 *
 * @example
 * ```ts
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { DkgParticipant } from "@seneschal/crypto/threshold";
 * const people = [1, 2, 3].map((index) => new DkgParticipant({ index, threshold: 2, total: 3, random: systemRandom }));
 * const list = people.map((p) => p.broadcast);
 * const messages = people.flatMap((p) => p.deal(list));
 * const keys = people.map((p) => p.finish(messages.filter((m) => m.to === p.index)));
 * console.log(keys.every((k) => String(k.crk.publicKey) === String(keys[0]?.crk.publicKey))); // true
 * ```
 */
export class DkgParticipant {
  readonly index: number;
  readonly broadcast: DkgBroadcast;
  readonly #threshold: number;
  readonly #total: number;
  #step: Step;

  constructor(options: { readonly index: number; readonly threshold: number; readonly total: number; readonly random: Random }) {
    const { index, threshold, total, random } = options;
    assertThreshold(threshold, total);
    if (!Number.isInteger(index) || index < 1 || index > total) throw cryptoError("protocol_invalid", "index out of range");
    const round = FROST.DKG.round1(
      identifier(index),
      { min: threshold, max: total },
      undefined,
      (length = 32) => random(length) as never,
    );
    this.index = index;
    this.#threshold = threshold;
    this.#total = total;
    this.broadcast = {
      index,
      commitments: round.public.commitment.map((c) => base64(c)),
      proof: base64(round.public.proofOfKnowledge),
    };
    this.#step = { kind: "committed", secret: round.secret };
  }

  /** Checks every broadcast (the own one included in the list) and deals. Throws `cheating` naming wrong senders. */
  deal(broadcasts: readonly DkgBroadcast[]): readonly DkgMessage[] {
    if (this.#step.kind !== "committed") throw cryptoError("protocol_invalid", "already dealt");
    const { secret } = this.#step;
    const sorted = [...broadcasts].sort((a, b) => a.index - b.index);
    const complete = sorted.length === this.#total && sorted.every((b, i) => b.index === i + 1);
    const own = sorted[this.index - 1];
    if (!complete || own === undefined || canonicalJson(own) !== canonicalJson(this.broadcast)) {
      throw cryptoError("protocol_invalid", "the list must hold one broadcast of every index, ours unchanged");
    }
    const others = sorted.filter((b) => b.index !== this.index);
    const cheaters = others.filter((b) => !acceptsBroadcast(b, this.#threshold)).map((b) => b.index);
    if (cheaters.length > 0) {
      throw cryptoError("cheating", `wrong key generation broadcasts: ${cheaters.join(", ")}`, { indexes: cheaters });
    }
    const dealt = FROST.DKG.round2(secret, others.map(toPackage) as never);
    this.#step = { kind: "dealt", secret, broadcasts: sorted };
    return others.map((b) => ({
      from: this.index,
      to: b.index,
      share: base64(dealt[identifier(b.index)]?.signingShare ?? new Uint8Array()),
    }));
  }

  /** Checks what the others dealt to us and ends. Throws `cheating` naming senders of wrong messages. */
  finish(messages: readonly DkgMessage[]): { readonly crk: CrkPublic; readonly share: Share } {
    if (this.#step.kind !== "dealt") throw cryptoError("protocol_invalid", "not dealt yet, or already finished");
    const { secret, broadcasts } = this.#step;
    const senders = messages.map((m) => m.from).sort((a, b) => a - b);
    const others = broadcasts.map((b) => b.index).filter((i) => i !== this.index);
    if (messages.some((m) => m.to !== this.index) || canonicalJson(senders) !== canonicalJson(others)) {
      throw cryptoError("protocol_invalid", "one message of every other participant is required");
    }
    const cheaters = messages.filter((m) => !holds(broadcasts, m)).map((m) => m.from);
    if (cheaters.length > 0) {
      throw cryptoError("cheating", `wrong key generation messages: ${cheaters.join(", ")}`, { indexes: cheaters });
    }
    const key = FROST.DKG.round3(
      secret,
      broadcasts.filter((b) => b.index !== this.index).map(toPackage) as never,
      messages.map((m) => ({ identifier: identifier(m.from), signingShare: fromBase64(m.share) })) as never,
    );
    this.#step = { kind: "done" };
    const crk = generatedPublic(broadcasts, this.#threshold);
    return { crk, share: crkShare(crk, this.index, key.secret.signingShare) };
  }
}

function toPackage(broadcast: DkgBroadcast) {
  return {
    identifier: identifier(broadcast.index),
    commitment: broadcast.commitments.map(fromBase64),
    proofOfKnowledge: fromBase64(broadcast.proof),
  };
}

/** Feldman's check of a message that some participant sent. */
function holds(broadcasts: readonly DkgBroadcast[], message: DkgMessage): boolean {
  const sender = broadcasts.find((b) => b.index === message.from);
  try {
    return sender !== undefined && onPolynomial(sender.commitments.map(fromBase64), message.to, fromBase64(message.share));
  } catch {
    return false;
  }
}
