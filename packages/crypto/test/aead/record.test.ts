import {
  bindRecord,
  canonicalJson,
  hex,
  nobleCrypto,
  openRecord,
  recordKeyVersion,
  sealRecord,
  utf8,
  xchachaOpen,
  xchachaSeal,
} from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../submit.ts";

const key = seeded("key")(32);
const domain = "seneschal/workspace-data/v1";
const refused = expect.objectContaining({ code: "decryption_failed" });

test("what was sealed opens with the same workspace, context and key version, and with nothing else", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: "grapheme" }),
      fc.string({ unit: "grapheme" }),
      (plaintext, purpose, workspaceId) => {
        const place = { domain, workspaceId, context: { purpose } };
        const sealed = sealRecord(nobleCrypto, { key, version: 7 }, bindRecord(place), plaintext, seeded("n"));
        const open = (changes: object, k = key) => openRecord(nobleCrypto, () => k, bindRecord({ ...place, ...changes }), sealed);
        expect(open({})).toEqual(plaintext);
        expect(() => open({ workspaceId: `${workspaceId}x` })).toThrow(refused);
        expect(() => open({ context: { purpose: `${purpose}x` } })).toThrow(refused);
        expect(() => open({ context: undefined })).toThrow(refused);
        expect(() => open({ domain: "other/v1" })).toThrow(refused);
        expect(() => open({}, seeded("other")(32))).toThrow(refused);
      },
    ),
    runs(40),
  );
});

test("the key version is bound: relabelling a record for another version of the same key opens nothing", () => {
  const sealed = sealRecord(
    nobleCrypto,
    { key, version: 1 },
    bindRecord({ domain, workspaceId: "w" }),
    utf8("text"),
    seeded("n"),
  );
  expect(recordKeyVersion(sealed)).toBe(1);
  sealed[4] = 2;
  expect(recordKeyVersion(sealed)).toBe(2);
  expect(() => openRecord(nobleCrypto, () => key, bindRecord({ domain, workspaceId: "w" }), sealed)).toThrow(refused);
});

test("every old version opens as long as its key is kept, and an unknown version opens nothing", () => {
  const keys = new Map([1, 2, 3].map((version) => [version, seeded(`k${version}`)(32)]));
  const binding = bindRecord({ domain, workspaceId: "w" });
  const sealed = [...keys].map(([version, k]) =>
    sealRecord(nobleCrypto, { key: k, version }, binding, utf8(`v${version}`), seeded("n")),
  );
  for (const [i, record] of sealed.entries()) {
    expect(openRecord(nobleCrypto, (v) => keys.get(v), binding, record)).toEqual(utf8(`v${i + 1}`));
  }
  keys.delete(2);
  expect(() => openRecord(nobleCrypto, (v) => keys.get(v), binding, sealed[1]!)).toThrow(refused);
});

test("an equal context written in another key order is the same context; absent equals empty", () => {
  const seal = (context?: object) =>
    sealRecord(
      nobleCrypto,
      { key, version: 1 },
      bindRecord({ domain, workspaceId: "w", ...(context ? { context: context as never } : {}) }),
      utf8("t"),
      seeded("n"),
    );
  expect(seal({ a: 1, b: 2 })).toEqual(seal({ b: 2, a: 1 }));
  expect(seal()).toEqual(seal({}));
});

test("workspace and domain cannot be confused with each other", () => {
  expect(() => bindRecord({ domain: "a\0b", workspaceId: "w" })).toThrow(expect.objectContaining({ code: "crypto_invalid" }));
});

test("the associated data is the domain, a zero byte, and the canonical JSON of context, key version and workspace", () => {
  fc.assert(
    fc.property(fc.string(), fc.dictionary(fc.string(), fc.string()), fc.nat(), (workspaceId, context, version) => {
      const expected = `${domain}\0${canonicalJson({ workspace_id: workspaceId, key_version: version, context })}`;
      expect(bindRecord({ domain, workspaceId, context }).associatedData(version)).toEqual(utf8(expected));
    }),
  );
});

test("a binding is of the context as it was given, whatever becomes of it", () => {
  const context = { purpose: "billing" };
  const binding = bindRecord({ domain, workspaceId: "w", context });
  context.purpose = "another";
  expect(binding.associatedData(1)).toEqual(
    bindRecord({ domain, workspaceId: "w", context: { purpose: "billing" } }).associatedData(1),
  );
});

test("cut, foreign and bit-flipped records are refused", () => {
  const binding = bindRecord({ domain, workspaceId: "w" });
  const sealed = sealRecord(nobleCrypto, { key, version: 1 }, binding, utf8("text"), seeded("n"));
  for (let length = 0; length < sealed.length; length++) {
    expect(() => openRecord(nobleCrypto, () => key, binding, sealed.subarray(0, length))).toThrow(refused);
  }
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const flipped = Uint8Array.from(sealed);
    flipped[bit >> 3] = flipped[bit >> 3]! ^ (1 << (bit & 7));
    expect(() => openRecord(nobleCrypto, () => key, binding, flipped)).toThrow(refused);
  }
});

test("XChaCha20-Poly1305 gives the bytes of draft-irtf-cfrg-xchacha-03 A.3", () => {
  const k = Uint8Array.from({ length: 32 }, (_, i) => 0x80 + i);
  const nonce = Uint8Array.from({ length: 24 }, (_, i) => 0x40 + i);
  const aad = Uint8Array.from(Buffer.from("50515253c0c1c2c3c4c5c6c7", "hex"));
  const text = utf8(
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
  );
  const sealed = xchachaSeal(nobleCrypto, k, nonce, text, aad);
  expect(hex(sealed.subarray(-16))).toBe("c0875924c1c7987947deafd8780acf49");
  expect(xchachaOpen(nobleCrypto, k, nonce, sealed, aad)).toEqual(text);
  expect(() => xchachaSeal(nobleCrypto, k, nonce.subarray(1), text, aad)).toThrow(
    expect.objectContaining({ code: "crypto_invalid" }),
  );
});
