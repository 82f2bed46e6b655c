import { expect, test } from "vitest";
import { mtlsFetch } from "../../src/http/index.ts";

test("an identity that is none is refused at once, without what it says", () => {
  const attempt = () => mtlsFetch({ cert: "not a certificate", key: "not a key" });
  expect(attempt).toThrow(expect.objectContaining({ code: "tls_identity_invalid" }));
  expect(attempt).not.toThrow(/not a key/);
});
