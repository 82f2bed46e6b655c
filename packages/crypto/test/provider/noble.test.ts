import { nobleCrypto } from "@seneschal/crypto";
import { cryptoProviderSuite } from "@seneschal/kernel/testing";
import { describe, expect, test } from "vitest";

const runner = {
  test,
  equal: (actual: unknown, expected: unknown, message?: string) => expect(actual, message).toEqual(expected),
};

describe("the noble provider", () => {
  cryptoProviderSuite({ runner, provider: nobleCrypto, reference: nobleCrypto, rounds: 6 });
});
