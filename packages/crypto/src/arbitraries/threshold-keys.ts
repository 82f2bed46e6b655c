import type { Random } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { type CrkPublic, dealCrk, type Share } from "../threshold/index.ts";
import { seeded } from "./seeded.ts";

/** Sources of randomness that a seed reproduces; for tests, never for keys. */
export const randomSources: fc.Arbitrary<Random> = fc.integer().map((seed) => seeded(`source/${seed}`));

/** A key with its shares, some of them that are enough to sign, and a source of randomness. */
export interface DealtKey {
  readonly crk: CrkPublic;
  readonly shares: readonly Share[];
  /** At least the threshold, in any order. */
  readonly quorum: readonly Share[];
  readonly random: Random;
}

/**
 * Threshold keys of 2 to `maxThreshold` custodians out of up to two more, each with a quorum.
 *
 * @example
 * ```ts
 * import { thresholdKeys } from "@seneschal/crypto/arbitraries";
 * import fc from "fast-check";
 *
 * fc.assert(
 *   fc.property(thresholdKeys(), ({ crk, quorum }) => quorum.length >= crk.threshold),
 *   { numRuns: 3 },
 * );
 * ```
 */
export const thresholdKeys = (maxThreshold = 4): fc.Arbitrary<DealtKey> =>
  fc
    .record({ threshold: fc.integer({ min: 2, max: maxThreshold }), more: fc.nat(2), random: randomSources })
    .chain(({ threshold, more, random }) => {
      const { crk, shares } = dealCrk({ threshold, total: threshold + more, random });
      return fc.shuffledSubarray([...shares], { minLength: threshold }).map((quorum) => ({ crk, shares, quorum, random }));
    });

/** Copies of some bytes in which one bit is another. */
export const flippedBit = (bytes: Uint8Array): fc.Arbitrary<Uint8Array> =>
  fc.nat(bytes.length * 8 - 1).map((bit) => bytes.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)));
