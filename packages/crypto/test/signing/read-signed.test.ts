import { canonicalJson, concat, utf8 } from "@seneschal/crypto";
import { flippedBit } from "@seneschal/crypto/arbitraries";
import { operationBytes, readSigned, SIGNING_PREFIXES, type SigningPurpose, signingBytes } from "@seneschal/crypto/signing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../submit.ts";

const operation = {
  ...({ v: 1, op: "workspace.delete", org_id: "acme", audience: "gw-1", resource_type: "workspace", resource_id: "w1" } as const),
  body_sha256: "44".repeat(32),
  crk_id: "crk-1",
  crk_epoch: 1,
  nonce: "5b8efff798038103d269b633813fc60c",
  iat: 10,
  exp: 20,
};
const coded = expect.objectContaining({ code: "not_canonical" });
const purposes = Object.keys(SIGNING_PREFIXES) as SigningPurpose[];

test("what is signed is read back as the document that it is, whatever the purpose", () => {
  expect(readSigned(operationBytes(operation))).toEqual({ purpose: "operation", payload: operation });
  const plain = fc.dictionary(
    fc.stringMatching(/^[a-z]{1,9}$/),
    fc.oneof(fc.string({ unit: "grapheme" }), fc.integer(), fc.boolean()),
  );
  const document = fc.tuple(fc.constantFrom(...purposes.filter((name) => name !== "operation")), plain);
  fc.assert(
    fc.property(document, ([purpose, payload]) => {
      expect(readSigned(signingBytes(purpose, payload))).toEqual({ purpose, payload: { ...payload } });
    }),
    runs(30),
  );
});

test("bytes of which any bit is another are no document, or another one: never what was shown before", () => {
  const bytes = operationBytes(operation);
  fc.assert(
    fc.property(flippedBit(bytes), (changed) => {
      let read: ReturnType<typeof readSigned>;
      try {
        read = readSigned(changed);
      } catch (error) {
        expect(error).toEqual(coded);
        return;
      }
      if (read !== undefined)
        expect(concat(utf8(SIGNING_PREFIXES[read.purpose]), Uint8Array.of(0), utf8(canonicalJson(read.payload)))).toEqual(
          changed,
        );
    }),
    runs(200),
  );
});

test("what begins like a document and is none is refused: another form of it, an unknown purpose, an operation that lacks something", () => {
  const text = canonicalJson(operation);
  for (const bytes of [
    `seneschal/operation/v1\0${text} `,
    `seneschal/operation/v1\0 ${text}`,
    `seneschal/operation/v1${text}`,
    `seneschal/operation/v2\0${text}`,
    "seneschal/",
    "seneschal/operation/v1\0",
    "seneschal/operation/v1\0[]",
    `seneschal/operation/v1\0${text.replace('"v":1', '"v":1.0')}`,
    `seneschal/operation/v1\0${text.replace(',"v":1', "")}`,
    `seneschal/operation/v1\0${text.replace('"v":1', '"v":1,"w":1')}`,
  ]) {
    expect(() => readSigned(utf8(bytes)), bytes).toThrow(coded);
  }
  for (const bytes of ["", "release 7", "Seneschal/operation/v1\0{}"]) expect(readSigned(utf8(bytes))).toBeUndefined();
  const first = { v: 1, op: "admin.bootstrap", org_id: "acme", audience: "gw-1", body_sha256: "44".repeat(32) };
  expect(readSigned(signingBytes("operation", first))).toEqual({ purpose: "operation", payload: first });
  expect(() => readSigned(signingBytes("operation", { ...first, op: "workspace.delete" }))).toThrow(coded);
});
