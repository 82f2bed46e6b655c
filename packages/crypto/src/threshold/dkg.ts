import { ed25519_FROST as FROST } from "@noble/curves/ed25519.js";
import { checkArgument, checkOptions } from "@seneschal/kernel";
import type { Random } from "@seneschal/kernel/ports";
import { base64, fromBase64 } from "../bytes.ts";
import { cryptoError } from "../errors.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { type CrkPublic, identifier } from "./crk.ts";
import { acceptsBroadcast, type DkgBroadcast, type DkgMessage, generatedPublic } from "./dkg-public.ts";
import { onPolynomial } from "./on-polynomial.ts";
import { type Deal, finish } from "./resharing.ts";
import { evaluate, readScalar, scalars } from "./scalar-field.ts";
import { assertThreshold, type Share } from "./share.ts";

type Step =
  | { readonly kind: "committed"; readonly values: Deal["values"] }
  | { readonly kind: "dealt"; readonly values: Deal["values"]; readonly broadcasts: readonly DkgBroadcast[] }
  | { readonly kind: "done" };

interface DkgOptions {
  readonly index: number;
  readonly threshold: number;
  readonly total: number;
  readonly random: Random;
}

/**
 * One participant's part of a key generation: a random polynomial (FROST's key generation, round 1, with its proof of knowledge of the
 * constant term). Throws `invalid_threshold`, `protocol_invalid`.
 */
export function dealGeneration({ index, threshold, total, random }: DkgOptions): Deal & { readonly proof: Uint8Array } {
  assertThreshold(threshold, total);
  if (!Number.isInteger(index) || index < 1 || index > total) throw cryptoError("protocol_invalid", "index out of range");
  const draw = (length = 32) => random(length) as never;
  const { public: broadcast, secret } = FROST.DKG.round1(identifier(index), { min: threshold, max: total }, undefined, draw);
  const coefficients = secret.coefficients ?? [];
  return {
    from: index,
    commitments: broadcast.commitment,
    proof: broadcast.proofOfKnowledge,
    values: Array.from({ length: total }, (_, i) => scalars.toBytes(evaluate(coefficients, i + 1))),
  };
}

/** The share that its parts make, one of every participant's and each known to hold. Throws `protocol_invalid` when it is not the key's. */
export function generatedShare(crk: CrkPublic, index: number, values: readonly Uint8Array[]): Share {
  return finish(
    crk,
    index,
    values.reduce((sum, value) => scalars.add(sum, readScalar(value)), 0n),
  );
}

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

  constructor(options: DkgOptions) {
    checkOptions("options", options, { index: "number", threshold: "number", total: "number", random: "function" });
    const { commitments, proof, values } = dealGeneration(options);
    this.index = options.index;
    this.#threshold = options.threshold;
    this.#total = options.total;
    this.broadcast = { index: this.index, commitments: commitments.map(base64), proof: base64(proof) };
    this.#step = { kind: "committed", values };
  }

  /** Checks every broadcast (the own one included in the list) and deals. Throws `cheating` naming wrong senders. */
  deal(broadcasts: readonly DkgBroadcast[]): readonly DkgMessage[] {
    checkArgument("broadcasts", broadcasts, "array");
    if (this.#step.kind !== "committed") throw cryptoError("protocol_invalid", "already dealt");
    const { values } = this.#step;
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
    this.#step = { kind: "dealt", values, broadcasts: sorted };
    return others.map(({ index: to }) => ({ from: this.index, to, share: base64(values[to - 1] ?? new Uint8Array()) }));
  }

  /** Checks what the others dealt to us and ends. Throws `cheating` naming senders of wrong messages. */
  finish(messages: readonly DkgMessage[]): { readonly crk: CrkPublic; readonly share: Share } {
    if (this.#step.kind !== "dealt") throw cryptoError("protocol_invalid", "not dealt yet, or already finished");
    const { values, broadcasts } = this.#step;
    const senders = messages.map((m) => m.from).sort((a, b) => a - b);
    const others = broadcasts.map((b) => b.index).filter((i) => i !== this.index);
    if (messages.some((m) => m.to !== this.index) || canonicalJson(senders) !== canonicalJson(others)) {
      throw cryptoError("protocol_invalid", "one message of every other participant is required");
    }
    const cheaters = messages.filter((m) => !holds(broadcasts, m)).map((m) => m.from);
    if (cheaters.length > 0) {
      throw cryptoError("cheating", `wrong key generation messages: ${cheaters.join(", ")}`, { indexes: cheaters });
    }
    const crk = generatedPublic(broadcasts, this.#threshold);
    const received = messages.map((m) => fromBase64(m.share));
    const share = generatedShare(crk, this.index, [...received, values[this.index - 1] ?? new Uint8Array()]);
    this.#step = { kind: "done" };
    return { crk, share };
  }
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
