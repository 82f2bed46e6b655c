import { ed25519_FROST as FROST } from "@noble/curves/ed25519.js";
import { nobleCrypto, utf8 } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  acceptsBroadcast,
  acceptsCommitment,
  acceptsSignatureShare,
  aggregateSignature,
  combineSecret,
  crkSet,
  type Deal,
  DkgParticipant,
  dealCrk,
  dealRefresh,
  dealRepair,
  dealReshare,
  deriveShareKey,
  dkgTranscript,
  inspectShares,
  newSigningRound,
  openShare,
  receiveReshare,
  refreshedPublic,
  refreshShare,
  repairShare,
  resharedPublic,
  reshareWithShares,
  Share,
  Signer,
  sealShare,
  seenBy,
  signWithShares,
  splitSecret,
  splitSet,
  sumRepair,
} from "@seneschal/crypto/threshold";
import fc from "fast-check";
import { combine } from "shamir-secret-sharing";
import { describe, expect, test } from "vitest";
import { identifier } from "../../src/threshold/crk.ts";
import { Point } from "../../src/threshold/scalar-field.ts";
import { splitBytes } from "../../src/threshold/split-bytes.ts";
import { runs, submit } from "../submit.ts";

const message = utf8("a message");
const coded = (code: string, details?: object) =>
  expect.objectContaining(details ? { code, details: expect.objectContaining(details) } : { code });

describe("a signing round", () => {
  const random = seeded("round");
  const { crk, shares } = dealCrk({ threshold: 2, total: 3, random });
  const open = (id = "r1", text = message) => {
    const round = newSigningRound(crk, id, text);
    const signers = shares.slice(0, 2).map((share) => new Signer(crk, share, round, random));
    return { round, signers, commitments: signers.map((s) => s.commitment) };
  };

  test("gives an Ed25519 signature without any share leaving its holder", () => {
    const { round, signers, commitments } = open();
    const parts = signers.map((s) => s.sign(round, commitments));
    expect(parts.every((part) => acceptsSignatureShare(crk, round, commitments, part))).toBe(true);
    const signature = aggregateSignature(crk, round, commitments, parts);
    expect(nobleCrypto.ed25519Verify(crk.publicKey, message, signature)).toBe(true);
  });

  test("a nonce signs once, also when the first attempt failed", () => {
    const { round, signers, commitments } = open();
    signers[0]!.sign(round, commitments);
    expect(() => signers[0]!.sign(round, commitments)).toThrow(coded("nonce_used"));
    expect(() => signers[1]!.sign({ ...round, message: "" }, commitments)).toThrow(coded("protocol_invalid"));
    expect(() => signers[1]!.sign(round, commitments)).toThrow(coded("nonce_used"));
  });

  test("an erased signer signs nothing", () => {
    const { round, signers, commitments } = open();
    signers[0]!.erase();
    expect(() => signers[0]!.sign(round, commitments)).toThrow(coded("nonce_used"));
  });

  test("whatever crashes and whatever runs side by side, nonces that were shown in one round sign in no other, and once", () => {
    const rounds = 3;
    const event = fc.record({
      round: fc.nat(rounds - 1),
      what: fc.constantFrom(
        "commit" as const,
        "crash" as const,
        "sign" as const,
        "sign among others" as const,
        "sign another message" as const,
      ),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 20 }), fc.string(), (events, seed) => {
        const random = seeded(`nonces/${seed}`);
        const opened = Array.from({ length: rounds }, (_, i) => newSigningRound(crk, `r${i}`, message));
        const others = opened.map((round) => [1, 2].map(() => new Signer(crk, shares[1]!, round, random).commitment));
        // One process for each round, which is all that a custodian has of it.
        const running: (Signer | undefined)[] = opened.map(() => undefined);
        const shown: string[] = [];
        const spent: string[] = [];
        for (const { round: at, what } of events) {
          const signer = running[at];
          if (what === "crash") running[at] = undefined;
          else if (what === "commit") {
            running[at] = new Signer(crk, shares[0]!, opened[at]!, random);
            shown.push(running[at].commitment.hiding, running[at].commitment.binding);
          } else if (signer !== undefined) {
            const list = [signer.commitment, others[at]![what === "sign among others" ? 1 : 0]!];
            const round = what === "sign another message" ? newSigningRound(crk, `r${at}`, utf8("another")) : opened[at]!;
            try {
              signer.sign(round, list);
              spent.push(signer.commitment.hiding);
            } catch (error) {
              expect(["nonce_used", "protocol_invalid"]).toContain((error as { code: string }).code);
            }
          }
        }
        expect(new Set(shown).size).toBe(shown.length);
        expect(new Set(spent).size).toBe(spent.length);
      }),
      runs(15),
    );
  });

  test("nonces have no serialised form: a copy of a signer cannot sign", () => {
    const { signers } = open();
    const copy = structuredClone(signers[0]) as unknown as Record<string, unknown>;
    expect(copy["sign"]).toBeUndefined();
    expect(Object.keys(copy).sort()).toEqual(["commitment", "index"]);
    expect(JSON.parse(JSON.stringify(signers[0]))).toEqual({ index: 1, commitment: signers[0]!.commitment });
  });

  test("a coordinator cannot swap the message, the round or the signer's own commitment", () => {
    const swap = (change: (o: ReturnType<typeof open>) => () => unknown) =>
      expect(change(open())).toThrow(coded("protocol_invalid"));
    swap(
      ({ round, signers, commitments }) =>
        () =>
          signers[0]!.sign({ ...round, id: "r2" }, commitments),
    );
    swap(
      ({ signers, commitments }) =>
        () =>
          signers[0]!.sign(newSigningRound(crk, "r1", utf8("other")), commitments),
    );
    swap(
      ({ round, signers, commitments }) =>
        () =>
          signers[0]!.sign(round, [{ ...commitments[1]!, index: 1 }, commitments[1]!]),
    );
    swap(
      ({ round, signers, commitments }) =>
        () =>
          signers[0]!.sign(round, [commitments[1]!]),
    );
    swap(
      ({ round, signers, commitments }) =>
        () =>
          signers[0]!.sign(round, [commitments[0]!, commitments[0]!]),
    );
  });

  test("every wrong signature share is named, and only those", () => {
    const { round, signers, commitments } = open();
    const parts = signers.map((s) => s.sign(round, commitments));
    const wrong = { index: 2, share: parts[0]!.share };
    expect(acceptsSignatureShare(crk, round, commitments, wrong)).toBe(false);
    expect(() => aggregateSignature(crk, round, commitments, [parts[0]!, wrong])).toThrow(coded("cheating", { indexes: [2] }));
    expect(() => aggregateSignature(crk, round, commitments, [parts[0]!, { index: 2, share: "" }])).toThrow(
      coded("cheating", { indexes: [2] }),
    );
    expect(() => aggregateSignature(crk, round, commitments, [parts[0]!])).toThrow(coded("threshold_not_met"));
  });

  test("a share of another key, epoch or a wrong share commits to nothing", () => {
    const round = newSigningRound(crk, "r", message);
    const other = dealCrk({ threshold: 2, total: 3, random });
    for (const share of [
      other.shares[0]!,
      new Share({ ...shares[0]!, epoch: 2 }, shares[0]!.payload()),
      new Share(shares[0]!, shares[1]!.payload()),
    ]) {
      expect(() => new Signer(crk, share, round, random)).toThrow(coded("share_invalid", { indexes: [1] }));
    }
    expect(() => new Signer(other.crk, other.shares[0]!, round, random)).toThrow(coded("protocol_invalid"));
  });

  test("a commitment enters once, under an index of the key, with points of the group", () => {
    const { commitments } = open();
    expect(acceptsCommitment(crk, [], commitments[0]!)).toBe(true);
    expect(acceptsCommitment(crk, [commitments[0]!], commitments[0]!)).toBe(false);
    expect(acceptsCommitment(crk, [], { ...commitments[0]!, index: 4 })).toBe(false);
    expect(acceptsCommitment(crk, [], { ...commitments[0]!, hiding: "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" })).toBe(
      false,
    );
  });
});

describe("distributed key generation", () => {
  const start = (threshold: number, total: number, label = "dkg") =>
    Array.from(
      { length: total },
      (_, i) => new DkgParticipant({ index: i + 1, threshold, total, random: seeded(`${label}/${i}`) }),
    );

  test("gives everybody the same public half and shares that sign together", () => {
    const people = start(3, 5);
    const list = people.map((p) => p.broadcast);
    const messages = people.flatMap((p) => p.deal(list));
    const keys = people.map((p) => p.finish(messages.filter((m) => m.to === p.index)));
    const { crk } = keys[0]!;
    for (const key of keys) expect(key.crk).toEqual(crk);
    const signature = signWithShares(crk, submit(keys.slice(2).map((k) => k.share)), message, seeded("s"));
    expect(nobleCrypto.ed25519Verify(crk.publicKey, message, signature)).toBe(true);
    expect(Buffer.from(crk.setId).toString("base64")).toBe(
      Buffer.from(dkgTranscript(list), "base64").subarray(0, 16).toString("base64"),
    );
  });

  test("names who broadcast a proof that does not hold, a wrong degree or a foreign point", () => {
    const people = start(2, 3);
    const list = people.map((p) => p.broadcast);
    const stranger = start(2, 3, "stranger")[1]!.broadcast;
    const bad = [
      { ...list[1]!, proof: list[2]!.proof },
      { ...list[1]!, commitments: stranger.commitments },
      { ...list[1]!, commitments: [...list[1]!.commitments, list[0]!.commitments[0]!] },
      { ...list[1]!, commitments: [list[1]!.commitments[0]!, "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="] },
      // A replayed broadcast under another index: the proof binds the index.
      { ...list[2]!, index: 2 },
    ];
    for (const broadcast of bad) {
      expect(() => start(2, 3)[0]!.deal([list[0]!, broadcast, list[2]!])).toThrow(coded("cheating", { indexes: [2] }));
    }
  });

  test("takes no proof whose R is the same point but for a part of small order, or the neutral element", () => {
    const { broadcast } = start(2, 3)[0]!;
    const proof = Buffer.from(broadcast.proof, "base64");
    const torsion = Point.fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");
    const mixed = Point.fromBytes(proof.subarray(0, 32)).add(torsion).toBytes();
    const refused = (r: Uint8Array) =>
      acceptsBroadcast({ ...broadcast, proof: Buffer.concat([r, proof.subarray(32)]).toString("base64") }, 2);
    expect(acceptsBroadcast(broadcast, 2)).toBe(true);
    expect([mixed, Point.ZERO.toBytes(), torsion.toBytes()].map(refused)).toEqual([false, false, false]);
  });

  test("deals what the library deals from the same randomness", () => {
    const people = start(3, 4);
    const list = people.map((p) => p.broadcast);
    const first = FROST.DKG.round1(identifier(1), { min: 3, max: 4 }, undefined, seeded("dkg/0") as never);
    const others = list.slice(1).map(({ index, commitments, proof }) => ({
      identifier: identifier(index),
      commitment: commitments.map((c) => Buffer.from(c, "base64")),
      proofOfKnowledge: Buffer.from(proof, "base64"),
    }));
    const theirs = FROST.DKG.round2(first.secret, others as never);
    for (const { to, share } of people[0]!.deal(list)) {
      expect(share).toBe(Buffer.from(theirs[identifier(to)]!.signingShare).toString("base64"));
    }
  });

  test("names who dealt a value off the committed polynomial", () => {
    const people = start(2, 3);
    const list = people.map((p) => p.broadcast);
    const messages = people.flatMap((p) => p.deal(list));
    const mine = messages.filter((m) => m.to === 1).map((m) => (m.from === 3 ? { ...m, share: messages[0]!.share } : m));
    expect(() => people[0]!.finish(mine)).toThrow(coded("cheating", { indexes: [3] }));
  });

  test("refuses a list without us, steps out of order and missing messages", () => {
    const people = start(2, 3);
    const list = people.map((p) => p.broadcast);
    expect(() => people[0]!.deal(list.slice(1))).toThrow(coded("protocol_invalid"));
    expect(() => people[0]!.deal([{ ...list[0]!, proof: list[1]!.proof }, ...list.slice(1)])).toThrow(coded("protocol_invalid"));
    expect(() => people[0]!.finish([])).toThrow(coded("protocol_invalid"));
    people[0]!.deal(list);
    expect(() => people[0]!.deal(list)).toThrow(coded("protocol_invalid"));
    expect(() => people[0]!.finish([])).toThrow(coded("protocol_invalid"));
  });
});

describe("refresh", () => {
  const { crk, shares } = dealCrk({ threshold: 3, total: 5, random: seeded("refresh") });
  const deals = [1, 4].map((from) => dealRefresh(crk, from, seeded(`deal/${from}`)));
  const next = refreshedPublic(crk, deals);
  const renewed = shares.map((share) => refreshShare(crk, share, seenBy(deals, share.index)));

  test("keeps the public key, changes every share, raises the epoch and still signs", () => {
    expect(next.publicKey).toEqual(crk.publicKey);
    expect(next.epoch).toBe(2);
    for (const share of renewed) expect(share.payload()).not.toEqual(shares[share.index - 1]!.payload());
    const signature = signWithShares(next, submit(renewed.slice(2)), message, seeded("s"));
    expect(nobleCrypto.ed25519Verify(crk.publicKey, message, signature)).toBe(true);
  });

  test("a set of old and new shares signs nothing and names the stale holder", () => {
    const mixed = submit([renewed[0]!, shares[1]!, renewed[2]!]);
    expect(inspectShares(crkSet(next), mixed).problems).toEqual([{ index: 2, position: 1, problem: "stale" }]);
    expect(() => signWithShares(next, mixed, message, seeded("s"))).toThrow(coded("share_invalid", { indexes: [2] }));
  });

  test("a dealer who would change the key or the degree, or deals a wrong value, is named", () => {
    const evil = (change: (deal: Deal) => Deal) => [deals[0]!, change(deals[1]!)];
    const identity = Uint8Array.of(1, ...new Uint8Array(31));
    for (const list of [
      evil((d) => ({ ...d, commitments: [d.commitments[1]!, ...d.commitments.slice(1)] })),
      evil((d) => ({ ...d, commitments: [...d.commitments, d.commitments[1]!] })),
      evil((d) => ({ ...d, commitments: d.commitments.slice(0, 2) })),
      evil((d) => ({ ...d, commitments: [identity, identity, identity] })),
    ]) {
      expect(() => refreshedPublic(crk, list)).toThrow(coded("cheating", { indexes: [4] }));
    }
    const wrong = evil((d) => ({ ...d, values: [d.values[1]!, ...d.values.slice(1)] }));
    expect(() => refreshShare(crk, shares[0]!, seenBy(wrong, 1))).toThrow(coded("cheating", { indexes: [4] }));
  });
});

describe("reshare", () => {
  const random = seeded("reshare");
  const { crk, shares } = dealCrk({ threshold: 3, total: 5, random });
  const to = { threshold: 4, total: 7 };

  test("3 of 5 becomes 4 of 7 with the same public key, and four new shares sign", () => {
    const next = reshareWithShares(crk, submit([shares[0]!, shares[2]!, shares[4]!]), { ...to, random });
    expect(next.crk.publicKey).toEqual(crk.publicKey);
    expect([next.crk.threshold, next.crk.total, next.crk.epoch]).toEqual([4, 7, 2]);
    const signature = signWithShares(next.crk, submit(next.shares.slice(3)), message, random);
    expect(nobleCrypto.ed25519Verify(crk.publicKey, message, signature)).toBe(true);
    expect(() => signWithShares(next.crk, submit(next.shares.slice(4)), message, random)).toThrow(coded("threshold_not_met"));
    expect(() => signWithShares(next.crk, submit([...next.shares.slice(1, 4), shares[4]!]), message, random)).toThrow(
      coded("share_invalid", { indexes: [5] }),
    );
  });

  test("works distributed, for any dealers and any target", () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 3 }),
        fc.integer({ min: 2, max: 4 }),
        (dealers, threshold) => {
          const target = { threshold, total: 5 };
          const deals = dealers.map((i) => dealReshare(crk, shares[i - 1]!, { dealers, ...target, random }));
          const next = resharedPublic(crk, deals, target);
          const received = [1, 2, 3, 4, 5].map((i) => receiveReshare(crk, i, seenBy(deals, i), target));
          const signature = signWithShares(next, submit(received.slice(5 - threshold)), message, random);
          expect(nobleCrypto.ed25519Verify(crk.publicKey, message, signature)).toBe(true);
        },
      ),
      runs(5),
    );
  });

  test("a dealer who commits to another share, another degree or deals a wrong value is named", () => {
    const dealers = [1, 2, 3];
    const deals = dealers.map((i) => dealReshare(crk, shares[i - 1]!, { dealers, ...to, random }));
    const swapped = deals.map((d) => (d.from === 2 ? { ...d, commitments: deals[0]!.commitments } : d));
    expect(() => resharedPublic(crk, swapped, to)).toThrow(coded("cheating", { indexes: [2] }));
    const shorter = deals.map((d) => (d.from === 3 ? { ...d, commitments: d.commitments.slice(0, 3) } : d));
    expect(() => resharedPublic(crk, shorter, to)).toThrow(coded("cheating", { indexes: [3] }));
    const wrong = deals.map((d) => (d.from === 1 ? { ...d, values: [...d.values].reverse() } : d));
    expect(() => receiveReshare(crk, 1, seenBy(wrong, 1), to)).toThrow(coded("cheating", { indexes: [1] }));
    expect(() => resharedPublic(crk, deals.slice(1), to)).toThrow(coded("protocol_invalid"));
    expect(() => dealReshare(crk, shares[0]!, { dealers: [1, 2, 2], ...to, random })).toThrow(coded("protocol_invalid"));
  });
});

test("repair gives the lost share back, byte for byte, and no helper sees another's", () => {
  const random = seeded("repair");
  const { crk, shares } = dealCrk({ threshold: 3, total: 5, random });
  const helpers = [1, 3, 5];
  const summands = helpers.flatMap((i) => dealRepair(crk, shares[i - 1]!, { lost: 2, helpers, random }));
  const sums = helpers.map((to) => sumRepair(summands.filter((s) => s.to === to).map((s) => s.value)));
  expect(repairShare(crk, 2, sums).encode()).toBe(shares[1]!.encode());
  for (const share of shares) {
    expect(summands.some((s) => Buffer.from(s.value).equals(share.payload()))).toBe(false);
  }
  expect(() => repairShare(crk, 2, sums.slice(1))).toThrow(coded("protocol_invalid"));
  expect(() => dealRepair(crk, shares[0]!, { lost: 2, helpers: [1, 3], random })).toThrow(coded("protocol_invalid"));
  expect(() => dealRepair(crk, shares[0]!, { lost: 3, helpers, random })).toThrow(coded("protocol_invalid"));
});

describe("Shamir for opaque secrets", () => {
  test("any threshold of the shares gives the secret back", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        fc.integer({ min: 2, max: 5 }),
        fc.nat(3),
        async (secret, t, more) => {
          const { shares, record } = await splitSecret(secret, { threshold: t, total: t + more, random: seeded("s") });
          expect(await combineSecret(record, submit(shares.slice(more)))).toEqual(secret);
          expect(await combineSecret(record, submit(shares))).toEqual(secret);
        },
      ),
      runs(20),
    );
  });

  test("the same bytes of the source give the same shares", async () => {
    const of = async (label: string) =>
      (await splitSecret(utf8("secret"), { threshold: 3, total: 5, random: seeded(label) })).shares.map((share) =>
        share.encode(),
      );
    expect(await of("a")).toEqual(await of("a"));
    const others = await of("b");
    for (const [i, share] of (await of("a")).entries()) expect(share).not.toEqual(others[i]);
  });

  test("a source that gives nothing random is refused: every holder would have the secret", async () => {
    const good = seeded("s");
    // From the first draw on, or from any later one.
    for (const bad of [
      (length: number) => new Uint8Array(length),
      (length: number) => new Uint8Array(length).fill(7),
      (length: number) => good(length).subarray(1),
      () => new Uint8Array(),
    ])
      for (let from = 0; from < 5; from++) {
        let drawn = 0;
        const random = (length: number) => (drawn++ < from ? good(length) : bad(length));
        await expect(splitSecret(utf8("secret"), { threshold: 3, total: 5, random }), String(from)).rejects.toThrow(
          coded("crypto_invalid"),
        );
      }
  });

  test("its shares are those of shamir-secret-sharing: the library combines them", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 16, maxLength: 64 }),
        fc.integer({ min: 2, max: 8 }),
        fc.nat(4),
        async (secret, t, more) => {
          const payloads = splitBytes(secret, t + more, t, seeded("l"));
          expect(await combine(payloads.slice(more))).toEqual(secret);
          expect(await combine(payloads)).toEqual(secret);
        },
      ),
      runs(50),
    );
  });

  test("a Buffer is taken like any other bytes; what is no key is refused", async () => {
    const options = { threshold: 2, total: 2, random: seeded("s") };
    const { shares, record } = await splitSecret(Buffer.from("key"), options);
    expect(await combineSecret(record, submit(shares))).toEqual(utf8("key"));
    await expect(splitSecret(new Uint8Array(1025), options)).rejects.toThrow(coded("crypto_invalid"));
    await expect(splitSecret(new Uint8Array(), options)).rejects.toThrow(coded("crypto_invalid"));
    await expect(splitSecret(utf8("k"), { ...options, threshold: 1 })).rejects.toThrow(coded("invalid_threshold"));
  });

  test("every wrong, foreign, repeated or missing share is refused before combining", async () => {
    const options = { threshold: 2, total: 3, random: seeded("a") };
    const { shares, record } = await splitSecret(utf8("secret"), options);
    const other = await splitSecret(utf8("secret"), { ...options, random: seeded("b") });
    const forged = new Share(shares[1]!, other.shares[1]!.payload());
    expect(inspectShares(splitSet(record), submit([shares[0]!, forged])).problems).toEqual([
      { index: 2, position: 1, problem: "wrong" },
    ]);
    for (const list of [
      [shares[0]!, forged],
      [shares[0]!, other.shares[1]!],
      [shares[0]!, shares[0]!],
    ]) {
      await expect(combineSecret(record, submit(list))).rejects.toThrow(coded("share_invalid"));
    }
    await expect(combineSecret(record, submit([shares[0]!]))).rejects.toThrow(coded("threshold_not_met"));
  });

  test("the self-check refuses a wrong reconstruction even if the record was forged to accept the share", async () => {
    const options = { threshold: 2, total: 2, random: seeded("c") };
    const { shares, record } = await splitSecret(utf8("secret"), options);
    const payload = shares[1]!.payload();
    payload[0] = payload[0]! ^ 1;
    const forged = new Share(shares[1]!, payload);
    const salted = Uint8Array.from([...record.salt, ...forged.toBytes()]);
    const lying = { ...record, commitments: [record.commitments[0]!, nobleCrypto.hash("sha256", salted)] };
    await expect(combineSecret(lying, submit([shares[0]!, forged]))).rejects.toThrow(coded("share_invalid"));
  });
});

test("a sealed share opens with the password and its exact binding, and with nothing else", async () => {
  const { crk, shares } = dealCrk({ threshold: 2, total: 3, random: seeded("seal") });
  const cost = { time: 2, memoryKiB: 19 * 1024, parallelism: 1 };
  const salt = seeded("salt")(16);
  const key = await deriveShareKey(nobleCrypto, "pass\u0301word", salt, cost);
  // The same text typed precomposed.
  expect(await deriveShareKey(nobleCrypto, "pas\u015Bword", salt, cost)).toEqual(key);
  const binding = { crkId: "crk-1", index: 2, epoch: 1, publicKey: crk.publicKey };
  const sealed = sealShare(nobleCrypto, key, shares[1]!, binding, seeded("nonce"));
  expect(openShare(nobleCrypto, key, sealed, binding).encode()).toBe(shares[1]!.encode());
  for (const wrong of [
    { ...binding, crkId: "crk-2" },
    { ...binding, index: 1 },
    { ...binding, epoch: 2 },
    { ...binding, publicKey: seeded("k")(32) },
  ]) {
    expect(() => openShare(nobleCrypto, key, sealed, wrong)).toThrow(coded("decryption_failed"));
  }
  expect(() => openShare(nobleCrypto, seeded("k")(32), sealed, binding)).toThrow(coded("decryption_failed"));
  expect(() => openShare(nobleCrypto, key, sealed.subarray(0, 20), binding)).toThrow(coded("decryption_failed"));
  expect(() => sealShare(nobleCrypto, key.subarray(1), shares[1]!, binding, seeded("n"))).toThrow(coded("crypto_invalid"));
});
