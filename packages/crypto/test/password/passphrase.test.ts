import { assertPassphrase, PASSPHRASE_RULE } from "@seneschal/crypto";
import fc from "fast-check";
import { expect, test } from "vitest";

const refused = (passphrase: string): boolean => {
  try {
    assertPassphrase(passphrase);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: "crypto_invalid", message: PASSPHRASE_RULE });
    return true;
  }
};

test("a new passphrase has at least 12 characters, 5 of them different, in whatever form it is typed", () => {
  expect(["", "correct hors", "correct horse", "abcdabcdabcd", "abcdeabcdea", "abcdeabcdeab"].map(refused)).toEqual([
    ...[true, false, false, true, true, false],
  ]);
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("a", "b", "1", "é", "Å", "\u{1f511}", "ﬁ"), maxLength: 24 }), (text) => {
      const characters = [...text.normalize("NFKC")];
      const weak = characters.length < 12 || new Set(characters).size < 5;
      for (const form of ["NFC", "NFD", "NFKC", "NFKD"] as const) expect(refused(text.normalize(form))).toBe(weak);
    }),
  );
});
