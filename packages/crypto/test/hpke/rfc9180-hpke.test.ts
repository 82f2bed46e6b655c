import { fromHex, hex, nobleCrypto, utf8 } from "@seneschal/crypto";
import { seeded } from "@seneschal/crypto/arbitraries";
import {
  HPKE_AEADS,
  type HpkeAead,
  hpkeDeriveSecret,
  hpkeOpen,
  hpkeReceiver,
  hpkeSeal,
  hpkeSender,
} from "@seneschal/crypto/hpke";
import { describe, expect, test } from "vitest";

const random = seeded("hpke");
const recipient = random(32);
const recipientKey = nobleCrypto.x25519PublicKey(recipient);
const sender = random(32);
const psk = { key: random(32), id: utf8("psk 1") };
const refused = expect.objectContaining({ code: "decryption_failed" });

test("RFC 9180 A.1.1: base mode, AES-128-GCM, first message and encapsulated key", () => {
  const r = hpkeDeriveSecret(nobleCrypto, fromHex("6db9df30aa07dd42ee5e8181afdb977e538f5e1fec8a06223f33f7013e525037"));
  expect(hex(nobleCrypto.x25519PublicKey(r))).toBe("3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d");
  const e = hpkeDeriveSecret(nobleCrypto, fromHex("7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234"));
  const { enc, context } = hpkeSender(nobleCrypto, nobleCrypto.x25519PublicKey(r), {
    aead: "aes-128-gcm",
    info: utf8("Ode on a Grecian Urn"),
    random: () => e,
  });
  expect(hex(enc)).toBe("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431");
  expect(hex(context.seal(utf8("Beauty is truth, truth beauty"), utf8("Count-0")))).toBe(
    "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
  );
});

describe.each(Object.keys(HPKE_AEADS) as HpkeAead[])("%s", (aead) => {
  const modes = {
    base: [{}, {}],
    psk: [{ psk }, { psk }],
    auth: [{ senderSecret: sender }, { senderKey: nobleCrypto.x25519PublicKey(sender) }],
    auth_psk: [
      { psk, senderSecret: sender },
      { psk, senderKey: nobleCrypto.x25519PublicKey(sender) },
    ],
  } as const;

  test.each(Object.entries(modes))(
    "mode %s opens for the recipient, in no other mode and with no other info or aad",
    (mode, [out, back]) => {
      const info = utf8("seneschal/message/v1");
      const aad = utf8("headers");
      const sealed = hpkeSeal(nobleCrypto, recipientKey, utf8("text"), { aead, info, aad, random, ...out });
      expect(hpkeOpen(nobleCrypto, recipient, sealed, { aead, info, aad, ...back })).toEqual(utf8("text"));
      for (const [other, [, options]] of Object.entries(modes)) {
        if (other !== mode)
          expect(() => hpkeOpen(nobleCrypto, recipient, sealed, { aead, info, aad, ...options })).toThrow(refused);
      }
      expect(() => hpkeOpen(nobleCrypto, recipient, sealed, { aead, aad, ...back })).toThrow(refused);
      expect(() => hpkeOpen(nobleCrypto, recipient, sealed, { aead, info, ...back })).toThrow(refused);
      expect(() => hpkeOpen(nobleCrypto, sender, sealed, { aead, info, aad, ...back })).toThrow(refused);
      if ("senderKey" in back) {
        const forger = { ...back, senderKey: nobleCrypto.x25519PublicKey(seeded("forger")(32)) };
        expect(() => hpkeOpen(nobleCrypto, recipient, sealed, { aead, info, aad, ...forger })).toThrow(refused);
      }
    },
  );
});

test("messages of one context open in order only, and a damaged one can be sent again", () => {
  const { enc, context } = hpkeSender(nobleCrypto, recipientKey, { random });
  const receiver = hpkeReceiver(nobleCrypto, recipient, enc);
  const [first, second] = [context.seal(utf8("1")), context.seal(utf8("2"))];
  expect(() => receiver.open(second)).toThrow(refused);
  expect(receiver.open(first)).toEqual(utf8("1"));
  expect(receiver.open(second)).toEqual(utf8("2"));
  expect(() => receiver.open(second)).toThrow(refused);
  expect(context.exportSecret(utf8("x"), 16)).toEqual(receiver.exportSecret(utf8("x"), 16));
});

test("an encapsulated key of low order, a cut message and a weak pre-shared key are refused", () => {
  const sealed = hpkeSeal(nobleCrypto, recipientKey, utf8("text"), { random });
  expect(() => hpkeOpen(nobleCrypto, recipient, new Uint8Array(sealed.length))).toThrow(refused);
  for (let n = 0; n < 48; n++) expect(() => hpkeOpen(nobleCrypto, recipient, sealed.subarray(0, n))).toThrow(refused);
  const invalid = expect.objectContaining({ code: "crypto_invalid" });
  expect(() =>
    hpkeSeal(nobleCrypto, recipientKey, utf8("t"), { random, psk: { key: new Uint8Array(31), id: utf8("i") } }),
  ).toThrow(invalid);
  expect(() => hpkeSeal(nobleCrypto, new Uint8Array(32), utf8("t"), { random })).toThrow(invalid);
});
