import { expect, test } from "vitest";
import { mtlsFetch } from "../../src/http/index.ts";

test("an identity that is none is refused at once, without what it says", () => {
  const attempt = () => mtlsFetch({ cert: "not a certificate", key: "not a key" });
  expect(attempt).toThrow(expect.objectContaining({ code: "tls_identity_invalid" }));
  expect(attempt).not.toThrow(/not a key/);
});

test("a part that is the path of a file, or anything else than PEM, is refused by its name", () => {
  for (const part of ["ca", "cert", "key"])
    for (const wrong of ["/etc/ssl/canary.pem", "", "canary"]) {
      const attempt = () => mtlsFetch({ [part]: wrong });
      expect(attempt).toThrow(
        expect.objectContaining({ code: "tls_identity_invalid", message: expect.stringMatching(new RegExp(`^${part}: `)) }),
      );
      expect(attempt).not.toThrow(/canary/);
    }
});
