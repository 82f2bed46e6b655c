import { base32, nobleCrypto, totpCode, totpUri, utf8, verifyTotp } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import fc from "fast-check";
import { expect, test } from "vitest";

/** RFC 6238 appendix B: seconds, SHA-1, SHA-256, SHA-512. */
const VECTORS = [
  [59, "94287082", "46119246", "90693936"],
  [1111111109, "07081804", "68084774", "25091201"],
  [1111111111, "14050471", "67062674", "99943326"],
  [1234567890, "89005924", "91819424", "93441116"],
  [2000000000, "69279037", "90698825", "38618901"],
  [20000000000, "65353130", "77737706", "47863826"],
] as const;
const secretOf = (length: number) => utf8("12345678901234567890".repeat(4).slice(0, length));

test.each(VECTORS)("RFC 6238 appendix B at %d seconds", (seconds, sha1, sha256, sha512) => {
  const step = Math.floor(seconds / 30);
  expect(totpCode(nobleCrypto, secretOf(20), step, { digits: 8 })).toBe(sha1);
  expect(totpCode(nobleCrypto, secretOf(32), step, { digits: 8, algorithm: "sha256" })).toBe(sha256);
  expect(totpCode(nobleCrypto, secretOf(64), step, { digits: 8, algorithm: "sha512" })).toBe(sha512);
});

const secret = seeded("totp")(20);

test("a code is accepted one step around its own and nowhere else", () => {
  for (let offset = -3; offset <= 3; offset++) {
    const decision = verifyTotp(nobleCrypto, secret, totpCode(nobleCrypto, secret, 1000 + offset), { now: 1000 * 30_000 });
    expect(decision.valid).toBe(Math.abs(offset) <= 1);
  }
});

test("no accepted code is accepted twice, in any order of attempts", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 6 }), { maxLength: 20 }), (attempts) => {
      let lastStep = -1;
      const accepted: number[] = [];
      for (const step of attempts) {
        const code = totpCode(nobleCrypto, secret, 100 + step);
        const decision = verifyTotp(nobleCrypto, secret, code, { now: 103 * 30_000, lastStep });
        if (!decision.valid) continue;
        expect(decision.step).toBe(100 + step);
        accepted.push(decision.step);
        lastStep = decision.step;
      }
      expect(accepted).toEqual([...new Set(accepted)].sort((a, b) => a - b));
    }),
  );
});

test("wrong and replayed codes have their own reasons; other texts are wrong, not errors", () => {
  const now = 50 * 30_000;
  expect(verifyTotp(nobleCrypto, secret, totpCode(nobleCrypto, secret, 50), { now, lastStep: 50 })).toEqual({
    valid: false,
    reason: "replayed",
  });
  for (const code of ["", "12345", "1234567", "abcdef", "１２３４５６"]) {
    expect(verifyTotp(nobleCrypto, secret, code, { now })).toEqual({ valid: false, reason: "wrong" });
  }
  expect(() => totpCode(nobleCrypto, secret.subarray(0, 10), 1)).toThrow(expect.objectContaining({ code: "crypto_invalid" }));
});

test("base32 is RFC 4648 section 10 without padding, and the address carries all parameters", () => {
  const known = { "": "", f: "MY", fo: "MZXQ", foo: "MZXW6", foob: "MZXW6YQ", fooba: "MZXW6YTB", foobar: "MZXW6YTBOI" };
  for (const [text, encoded] of Object.entries(known)) expect(base32(utf8(text))).toBe(encoded);
  expect(totpUri(utf8("foobar"), { issuer: "Acme Ltd", account: "a@b.c" })).toBe(
    "otpauth://totp/Acme%20Ltd:a%40b.c?secret=MZXW6YTBOI&issuer=Acme%20Ltd&algorithm=SHA1&digits=6&period=30",
  );
});
