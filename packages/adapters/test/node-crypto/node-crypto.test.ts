import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { cryptoProviderSuite } from "@seneschal/core/testing";
import { ARGON2_DEFAULT, nobleCrypto, utf8 } from "@seneschal/crypto";
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

test("a flood of argon2id calls is answered in full, each with its own result", async () => {
  const params = { time: 2, memoryKiB: 19 * 1024, parallelism: 1 };
  const salts = Array.from({ length: 5 }, () => systemRandom(16));
  const hashes = await Promise.all(salts.map((salt) => nodeCrypto.argon2id(utf8("p"), salt, params, 16)));
  expect(new Set(hashes.map((h) => Buffer.from(h).toString("hex"))).size).toBe(5);
});
