import {
  ARGON2_DEFAULT,
  decodePasswordHash,
  encodePasswordHash,
  hashPassword,
  needsRehash,
  nobleCrypto,
  verifyPassword,
} from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import { expect, test } from "vitest";

const floor = { time: 2, memoryKiB: 19 * 1024, parallelism: 1 };
const invalid = expect.objectContaining({ code: "crypto_invalid" });

test("a hash verifies its password in any Unicode form, and no other", async () => {
  const phc = await hashPassword(nobleCrypto, "caf\u00e9", seeded("salt"), floor);
  expect(phc).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await verifyPassword(nobleCrypto, "cafe\u0301", phc)).toBe(true);
  expect(await verifyPassword(nobleCrypto, "cafe", phc)).toBe(false);
  expect(needsRehash(phc)).toBe(true);
  expect(needsRehash(phc, floor)).toBe(false);
});

test("the PHC text of a hash comes apart and together again", () => {
  const hash = { params: ARGON2_DEFAULT, salt: seeded("s")(16), hash: seeded("h")(32) };
  expect(decodePasswordHash(encodePasswordHash(hash))).toEqual(hash);
});

test("hashes of other kinds, versions and below the floor are refused, not computed", async () => {
  const good = encodePasswordHash({ params: floor, salt: seeded("s")(16), hash: seeded("h")(32) });
  for (const phc of [
    "",
    good.replace("argon2id", "argon2i"),
    good.replace("v=19", "v=16"),
    good.replace("m=19456", "m=8"),
    good.replace("t=2", "t=1"),
    good.replace("m=19456", "m=99999999"),
    `${good}$`,
    good.replace(/\$[^$]+$/, "$@@"),
  ]) {
    await expect(verifyPassword(nobleCrypto, "x", phc)).rejects.toThrow(invalid);
  }
  await expect(hashPassword(nobleCrypto, "x", seeded("s"), { ...floor, time: 1 })).rejects.toThrow(invalid);
});
