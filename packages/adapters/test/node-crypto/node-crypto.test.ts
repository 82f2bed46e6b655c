import { ed25519 } from "@noble/curves/ed25519.js";
import { nodeCrypto, openInto, sealInto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { ARGON2_DEFAULT, nobleCrypto, utf8 } from "@seneschal/crypto";
import { cryptoProviderSuite } from "@seneschal/kernel/testing";
import { describe, expect, test } from "vitest";

const runner = {
  test,
  equal: (actual: unknown, expected: unknown, message?: string) => expect(actual, message).toEqual(expected),
};

describe("the node:crypto provider against noble", () => {
  cryptoProviderSuite({ runner, provider: nodeCrypto, reference: nobleCrypto });
});

test("argon2id leaves the event loop free and gives noble's bytes at the default cost", async () => {
  let turns = 0;
  const ticking = setInterval(() => turns++, 1);
  const salt = systemRandom(16);
  const ours = await nodeCrypto.argon2id(utf8("correct horse"), salt, ARGON2_DEFAULT, 32);
  clearInterval(ticking);
  expect(turns).toBeGreaterThan(3);
  expect(ours).toEqual(await nobleCrypto.argon2id(utf8("correct horse"), salt, ARGON2_DEFAULT, 32));
});

test("what is sealed into memory is what is sealed, at the borders of the cipher's pieces; what does not open leaves zeros there", () => {
  const [key, nonce, aad] = [systemRandom(32), systemRandom(12), systemRandom(5)];
  for (const length of [0, 1, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, 1 << 20]) {
    const plaintext = systemRandom(length);
    const shared = new Uint8Array(new SharedArrayBuffer(length + 36), 20);
    sealInto(key, nonce, plaintext, aad, shared);
    expect(Buffer.from(shared).equals(nobleCrypto.seal(key, nonce, plaintext, aad))).toBe(true);
    const opened = new Uint8Array(length).fill(7);
    openInto(key, nonce, shared, aad, opened);
    expect(Buffer.from(opened).equals(plaintext)).toBe(true);
    for (const at of [0, length >> 1, length + 15]) {
      const damaged = Uint8Array.from(shared);
      damaged[at]! ^= 1;
      expect(() => openInto(key, nonce, damaged, aad, opened)).toThrow(expect.objectContaining({ code: "decryption_failed" }));
      expect(opened.every((byte) => byte === 0)).toBe(true);
    }
    for (const other of [length - 1, length + 1].filter((n) => n >= 0)) {
      expect(() => openInto(key, nonce, shared, aad, new Uint8Array(other))).toThrow(RangeError);
      expect(() => sealInto(key, nonce, plaintext, aad, new Uint8Array(other + 16))).toThrow(RangeError);
    }
  }
});

test("a flood of argon2id calls is answered in full, each with its own result", async () => {
  const params = { time: 2, memoryKiB: 19 * 1024, parallelism: 1 };
  const salts = Array.from({ length: 5 }, () => systemRandom(16));
  const hashes = await Promise.all(salts.map((salt) => nodeCrypto.argon2id(utf8("p"), salt, params, 16)));
  expect(new Set(hashes.map((h) => Buffer.from(h).toString("hex"))).size).toBe(5);
});

test("both providers judge keys outside the prime-order group alike: a cofactor would make them differ", () => {
  // A' = A + T with T of order 8. Signed with A's secret, the equation holds only where the challenge is a multiple of 8.
  const small = ed25519.Point.fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");
  const { scalar, point } = ed25519.utils.getExtendedPublicKey(new Uint8Array(32).fill(5));
  const { Fn } = ed25519.Point;
  const key = point.add(small).toBytes();
  const verdicts = Array.from({ length: 64 }, (_, i) => {
    const message = Uint8Array.of(i);
    const r = BigInt(i + 2);
    const R = ed25519.Point.BASE.multiply(r).toBytes();
    const challenge = nobleCrypto.hash("sha512", Uint8Array.from([...R, ...key, ...message]));
    const k = Fn.create(BigInt(`0x${Buffer.from(challenge.reverse()).toString("hex")}`));
    const signature = Uint8Array.from([...R, ...Fn.toBytes(Fn.add(r, Fn.mul(k, scalar)))]);
    const judged = [nobleCrypto, nodeCrypto].map((provider) => provider.ed25519Verify(key, message, signature));
    expect(judged[0]).toBe(judged[1]);
    return judged[0];
  });
  expect(new Set(verdicts)).toEqual(new Set([true, false]));
});
