import { ed25519_FROST as FROST } from "@noble/curves/ed25519.js";
import { base64, nobleCrypto, utf8 } from "@seneschal/crypto";
import { flippedBit, seeded, thresholdKeys } from "@seneschal/crypto/arbitraries";
import {
  type CrkPublic,
  crkFromJson,
  crkSet,
  crkToJson,
  dealCrk,
  importCrk,
  inspectShares,
  reshareWithShares,
  Share,
  signWithShares,
} from "@seneschal/crypto/threshold";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { frostPublic, identifier } from "../../src/threshold/crk.ts";
import { runs, submit } from "../submit.ts";

const message = utf8("delete workspace w1");
const verifies = (crk: CrkPublic, signature: Uint8Array, text = message) =>
  nobleCrypto.ed25519Verify(crk.publicKey, text, signature);

test("any threshold of the shares signs, and the signature is ordinary Ed25519", () => {
  fc.assert(
    fc.property(thresholdKeys(), ({ crk, quorum, random }) => {
      expect(verifies(crk, signWithShares(crk, submit(quorum), message, random))).toBe(true);
    }),
    runs(8),
  );
});

test("fewer than the threshold sign nothing", () => {
  const { crk, shares } = dealCrk({ threshold: 3, total: 5, random: seeded("few") });
  expect(() => signWithShares(crk, submit(shares.slice(0, 2)), message, seeded("x"))).toThrow(
    expect.objectContaining({ code: "threshold_not_met", details: { required: 3, valid: 2 } }),
  );
});

test("an imported Ed25519 key keeps its public key, as seed or as seed and public key", () => {
  const seed = seeded("seed")(32);
  const publicKey = nobleCrypto.ed25519PublicKey(seed);
  for (const key of [seed, Uint8Array.from([...seed, ...publicKey])]) {
    const { crk, shares } = importCrk(key, { threshold: 2, total: 3, random: seeded("import") });
    expect(crk.publicKey).toEqual(publicKey);
    expect(verifies(crk, signWithShares(crk, submit(shares.slice(1)), message, seeded("s")))).toBe(true);
  }
  const foreign = Uint8Array.from([...seed, ...nobleCrypto.ed25519PublicKey(seeded("other")(32))]);
  expect(() => importCrk(foreign, { threshold: 2, total: 3, random: seeded("i") })).toThrow(
    expect.objectContaining({ code: "crypto_invalid" }),
  );
});

test("a threshold of one, or above the total, is refused", () => {
  for (const [threshold, total] of [
    [1, 3],
    [0, 3],
    [4, 3],
    [2, 256],
    [2.5, 3],
  ] as const) {
    expect(() => dealCrk({ threshold, total, random: seeded("t") })).toThrow(
      expect.objectContaining({ code: "invalid_threshold" }),
    );
  }
});

test("the verifying-share check agrees with the VSS check of RFC 9591 C.2", () => {
  const { crk, shares } = dealCrk({ threshold: 3, total: 4, random: seeded("vss") });
  for (const share of shares) {
    const secret = { identifier: identifier(share.index), signingShare: share.payload() };
    expect(() => FROST.validateSecret(secret, frostPublic(crk) as never)).not.toThrow();
    expect(crkSet(crk).accepts(share)).toBe(true);
    const wrong = share.payload();
    wrong[0] = (wrong[0] ?? 0) ^ 1;
    expect(() => FROST.validateSecret({ ...secret, signingShare: wrong as never }, frostPublic(crk) as never)).toThrow();
    expect(crkSet(crk).accepts(new Share(share, wrong))).toBe(false);
  }
});

test("the public half survives JSON, and a JSON whose parts do not fit each other is refused", () => {
  const { crk } = dealCrk({ threshold: 2, total: 3, random: seeded("json") });
  const json = crkToJson(crk);
  expect(crkFromJson(JSON.parse(JSON.stringify(json)))).toEqual(crk);
  const other = crkToJson(dealCrk({ threshold: 2, total: 3, random: seeded("other") }).crk);
  expect(() => crkFromJson({ ...json, public_key: other.public_key })).toThrow(
    expect.objectContaining({ code: "protocol_invalid" }),
  );
  expect(() => crkFromJson({ ...json, verifying_shares: other.verifying_shares })).toThrow(
    expect.objectContaining({ code: "protocol_invalid" }),
  );
  expect(() => crkFromJson({ ...json, commitments: json.commitments.slice(1) })).toThrow(
    expect.objectContaining({ code: "protocol_invalid" }),
  );
  // The identity and a point of small order are points, but not of the group.
  for (const point of [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  ]) {
    const bad = base64(Uint8Array.from(Buffer.from(point, "hex")));
    expect(() => crkFromJson({ ...json, commitments: [json.commitments[0]!, bad] })).toThrow(
      expect.objectContaining({ code: "protocol_invalid" }),
    );
  }
});

describe("a bad share is named by its index before anything is combined", () => {
  const { crk, shares } = dealCrk({ threshold: 3, total: 5, random: seeded("bad") });
  const other = dealCrk({ threshold: 3, total: 5, random: seeded("other set") });
  const stale = new Share({ ...shares[1]!, epoch: 2 }, shares[1]!.payload());
  const wrong = new Share(shares[1]!, other.shares[1]!.payload());
  const cases = {
    foreign: { index: 2, data: other.shares[1]!.encode() },
    stale: { index: 2, data: stale.encode() },
    wrong: { index: 2, data: wrong.encode() },
    duplicate: { index: 1, data: shares[0]!.encode() },
    index_mismatch: { index: 2, data: shares[2]!.encode() },
    malformed: { index: 2, data: "not a share" },
  } as const;
  for (const [problem, bad] of Object.entries(cases)) {
    test(problem, () => {
      const list = [...submit([shares[0]!]), bad, ...submit(shares.slice(3))];
      expect(inspectShares(crkSet(crk), list).problems).toEqual([{ index: bad.index, position: 1, problem }]);
      expect(() => signWithShares(crk, list, message, seeded("x"))).toThrow(
        expect.objectContaining({ code: "share_invalid", details: expect.objectContaining({ indexes: [bad.index] }) }),
      );
    });
  }

  test("any flipped bit, alone", () => {
    const good = submit(shares.slice(0, 3));
    const damagedShare = fc.nat({ max: 2 }).chain((at) => fc.tuple(fc.constant(at), flippedBit(shares[at]!.toBytes())));
    fc.assert(
      fc.property(damagedShare, ([at, bytes]) => {
        const list = good.map((share, i) => (i === at ? { index: share.index, data: base64(bytes) } : share));
        const { problems, sufficient } = inspectShares(crkSet(crk), list);
        expect(problems.map((p) => p.index)).toEqual([at + 1]);
        expect(sufficient).toBe(false);
      }),
    );
  });

  test("a flipped bit whose finder recomputed the checksum", () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 }), fc.nat({ max: 255 }), (at, bit) => {
        const payload = shares[at]!.payload();
        payload[bit >> 3] = payload[bit >> 3]! ^ (1 << (bit & 7));
        const list = submit(shares.slice(0, 3).map((share, i) => (i === at ? new Share(share, payload) : share)));
        expect(inspectShares(crkSet(crk), list).problems).toEqual([{ index: at + 1, position: at, problem: "wrong" }]);
      }),
    );
  });
});

test("a share shows its header and never its secret when it is logged, serialised or cloned", () => {
  const share = new Share(
    { scheme: "shamir", setId: new Uint8Array(16), epoch: 1, threshold: 2, total: 2, index: 1 },
    utf8("a very secret payload"),
  );
  expect(JSON.parse(JSON.stringify(share))).toEqual({
    scheme: share.scheme,
    set_id: Buffer.from(share.setId).toString("base64"),
    epoch: share.epoch,
    threshold: share.threshold,
    total_shares: share.total,
    index: share.index,
  });
  const shown = `${JSON.stringify(share)} ${String(share)} ${JSON.stringify(structuredClone(share))} ${Object.keys(share)}`;
  expect(shown).not.toMatch(/payload|97,32,118|secret/);
  share.erase();
  expect(share.payload()).toEqual(new Uint8Array(21));
});

test("the largest quorum that a key may have signs and is reshared in one process", () => {
  const random = seeded("largest");
  const { crk, shares } = dealCrk({ threshold: 255, total: 255, random });
  expect(verifies(crk, signWithShares(crk, submit(shares), message, random))).toBe(true);
  const next = reshareWithShares(crk, submit(shares), { threshold: 255, total: 255, random });
  expect([next.crk.epoch, next.crk.publicKey]).toEqual([2, crk.publicKey]);
  expect(verifies(crk, signWithShares(next.crk, submit(next.shares), message, random))).toBe(true);
});
