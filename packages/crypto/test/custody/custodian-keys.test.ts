import { createPublicKey, verify } from "node:crypto";
import { inspect } from "node:util";
import { ARGON2_FLOOR, base64, canonicalJson, fromBase64, hex, nobleCrypto, PASSPHRASE_RULE, utf8 } from "@seneschal/crypto";
import { flippedBit, seeded } from "@seneschal/crypto/arbitraries";
import {
  CustodianKeys,
  cardFingerprint,
  custodianCard,
  openKeyFile,
  prfSeal,
  readCard,
  readKeyFile,
  sealKeyFile,
  tokenSeal,
} from "@seneschal/crypto/custody";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { xeddsaSign, xeddsaVerify } from "../../src/custody/xeddsa.ts";

const coded = (code: string, reason?: string) =>
  expect.objectContaining(reason === undefined ? { code } : { code, details: { reason } });
const made = (label: string) => {
  const keys = CustodianKeys.generate(nobleCrypto, seeded(label));
  return { keys, card: custodianCard(nobleCrypto, keys, { orgId: "acme", custodianId: label }, seeded(`${label}/z`)) };
};
const ada = made("ada");
const bob = made("bob");
const bytes = fc.uint8Array({ maxLength: 100 });
const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("XEdDSA", () => {
  test("signs for any X25519 key and message, and for no other", () => {
    fc.assert(
      fc.property(secrets, secrets, bytes, bytes, (secret, other, message, changed) => {
        const key = nobleCrypto.x25519PublicKey(secret);
        const signature = xeddsaSign(nobleCrypto, secret, message, seeded("z"));
        expect(xeddsaVerify(nobleCrypto, key, message, signature)).toBe(true);
        fc.pre(Buffer.compare(message, changed) !== 0);
        expect(xeddsaVerify(nobleCrypto, key, changed, signature)).toBe(false);
        const stranger = nobleCrypto.x25519PublicKey(other);
        expect(xeddsaVerify(nobleCrypto, stranger, message, signature)).toBe(Buffer.compare(key, stranger) === 0);
      }),
      { numRuns: 20 },
    );
  });

  test("its signature is ordinary Ed25519 for OpenSSL, under y = (u - 1) / (u + 1)", () => {
    const secret = seeded("secret")(32);
    const p = 2n ** 255n - 19n;
    const u = BigInt(`0x${Buffer.from(nobleCrypto.x25519PublicKey(secret)).reverse().toString("hex")}`);
    const power = (base: bigint, exponent: bigint): bigint =>
      exponent === 0n ? 1n : (power((base * base) % p, exponent / 2n) * (exponent % 2n === 1n ? base : 1n)) % p;
    const y = ((u - 1n) * power(u + 1n, p - 2n)) % p;
    const x = Buffer.from(y.toString(16).padStart(64, "0"), "hex").reverse().toString("base64url");
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    expect(verify(null, utf8("m"), key, xeddsaSign(nobleCrypto, secret, utf8("m"), seeded("z")))).toBe(true);
  });

  test("keys that are not reduced, of small order or not on the curve verify nothing", () => {
    const signature = new Uint8Array(64);
    for (const lead of [0, 1, 0xec, 0xed, 0xff]) {
      const key = new Uint8Array(32).fill(lead === 0xec || lead === 0xed || lead === 0xff ? 0xff : 0);
      key[0] = lead;
      key[31] = lead > 1 ? 0x7f : 0;
      expect(xeddsaVerify(nobleCrypto, key, utf8("m"), signature)).toBe(false);
    }
  });
});

describe("a custodian's keys", () => {
  test("show nothing private to a log, a copy or JSON", () => {
    const secret = ada.keys.toBytes();
    const halves = [secret.subarray(0, 32), secret.subarray(32)];
    /** Whether a text holds one of the halves: as its bytes in decimals, whatever stands for the indexes, in hex or in base64. */
    const tells = (text: string): boolean => {
      const values = text.replaceAll(/"\d+":|\s/g, "");
      return halves.some((half) => [half.join(","), hex(half), base64(half)].some((form) => values.includes(form)));
    };
    const shows = (value: object): boolean =>
      [JSON.stringify([value, { ...value }, structuredClone({ ...value })]), inspect(value, { showHidden: true, depth: 9 })].some(
        tells,
      );
    expect(shows(ada.keys)).toBe(false);
    for (const leak of [secret, { key: halves[1] }, { key: hex(secret) }, { key: base64(halves[0]!) }])
      expect(shows(leak)).toBe(true);
    expect(Object.keys(ada.keys).sort()).toEqual(["agreementKey", "signingKey"]);
  });

  test("are 64 bytes, and gone when erased", () => {
    expect(() => new CustodianKeys(nobleCrypto, new Uint8Array(63))).toThrow(coded("crypto_invalid"));
    const { keys } = made("gone");
    const before = keys.toBytes();
    keys.erase();
    expect(keys.toBytes()).toEqual(new Uint8Array(64));
    expect(new CustodianKeys(nobleCrypto, before).signingKey).toEqual(keys.signingKey);
  });
});

describe("what a custodian keeps sealed for itself", () => {
  const sealed = ada.keys.sealOwn("share/crk-1", utf8("a share"), seeded("own"));

  test("opens by the same keys, for the same purpose", () => {
    expect(ada.keys.openOwn("share/crk-1", sealed)).toEqual(utf8("a share"));
    expect(new CustodianKeys(nobleCrypto, ada.keys.toBytes()).openOwn("share/crk-1", sealed)).toEqual(utf8("a share"));
  });

  test("opens by no others, for no other purpose and with no other byte", () => {
    expect(() => bob.keys.openOwn("share/crk-1", sealed)).toThrow(coded("decryption_failed"));
    expect(() => ada.keys.openOwn("share/crk-2", sealed)).toThrow(coded("decryption_failed"));
    expect(() => ada.keys.openOwn("share/crk-1", sealed.subarray(0, 28))).toThrow(coded("decryption_failed"));
    fc.assert(
      fc.property(flippedBit(sealed), (changed) => {
        expect(() => ada.keys.openOwn("share/crk-1", changed)).toThrow(coded("decryption_failed"));
      }),
    );
  });
});

describe("a card", () => {
  test("proves possession of both keys under one name: no member can be another's", () => {
    expect(readCard(nobleCrypto, ada.card)).toEqual(ada.card);
    for (const [member, value] of Object.entries(bob.card)) {
      if (value === ada.card[member as keyof typeof ada.card]) continue;
      expect(() => readCard(nobleCrypto, { ...ada.card, [member]: value }), member).toThrow(coded("custody_invalid", "proof"));
    }
    for (const proof of ["signing", "agreement"] as const) {
      const proofs = { ...ada.card.proofs, [proof]: bob.card.proofs[proof] };
      expect(() => readCard(nobleCrypto, { ...ada.card, proofs }), proof).toThrow(coded("custody_invalid", "proof"));
    }
  });

  test("has exactly its members, each of its size", () => {
    const { v: _, ...without } = ada.card;
    for (const value of [
      ...[undefined, null, 7, "card", [], {}, without, { ...ada.card, extra: 1 }, { ...ada.card, v: 2 }],
      ...[
        { ...ada.card, org_id: "" },
        { ...ada.card, org_id: "a\nb" },
        { ...ada.card, custodian_id: "x".repeat(129) },
      ],
      ...[
        { ...ada.card, signing_key: "AA==" },
        { ...ada.card, agreement_key: ada.card.proofs.agreement },
      ],
      ...[
        { ...ada.card, proofs: { signing: ada.card.proofs.signing } },
        { ...ada.card, proofs: { ...ada.card.proofs, more: 1 } },
      ],
    ]) {
      expect(() => readCard(nobleCrypto, value)).toThrow(coded("custody_invalid", "malformed"));
    }
    expect(() => custodianCard(nobleCrypto, ada.keys, { orgId: "acme", custodianId: "" }, seeded("z"))).toThrow(
      coded("crypto_invalid"),
    );
  });

  test("has one fingerprint, which the proofs' randomness does not change", () => {
    const again = custodianCard(nobleCrypto, ada.keys, { orgId: "acme", custodianId: "ada" }, seeded("other"));
    expect(again.proofs.agreement).not.toBe(ada.card.proofs.agreement);
    expect(cardFingerprint(nobleCrypto, again)).toBe(cardFingerprint(nobleCrypto, ada.card));
    expect(cardFingerprint(nobleCrypto, bob.card)).not.toBe(cardFingerprint(nobleCrypto, ada.card));
  });
});

describe("a key file", async () => {
  const file = await sealKeyFile(nobleCrypto, ada, "pass\u0301word of ada", seeded("file"), ARGON2_FLOOR);
  const document = JSON.parse(Buffer.from(file).toString()) as Record<string, unknown>;
  const written = (change: object) => utf8(`${canonicalJson({ ...document, ...change })}\n`);

  test("gives the keys and the card back, however the passphrase is typed", async () => {
    const { keys, card } = await openKeyFile(nobleCrypto, file, "pas\u015Bword of ada");
    expect(keys.toBytes()).toEqual(ada.keys.toBytes());
    expect(card).toEqual(ada.card);
    expect(Buffer.from(file).includes(Buffer.from(ada.keys.toBytes()))).toBe(false);
  });

  test("opens by no other passphrase", async () => {
    await expect(openKeyFile(nobleCrypto, file, "password of ada")).rejects.toThrow(coded("decryption_failed"));
    await expect(openKeyFile(nobleCrypto, file, new Uint8Array(32))).rejects.toThrow(coded("custody_invalid", "other_seal"));
  });

  test("is sealed by no passphrase that is easily guessed", async () => {
    for (const weak of ["", "correct hor", "abcdabcdabcdabcd", "\u0041\u030a".repeat(12)])
      await expect(sealKeyFile(nobleCrypto, ada, weak, seeded("f"), ARGON2_FLOOR)).rejects.toThrow(
        expect.objectContaining({ code: "crypto_invalid", message: PASSPHRASE_RULE }),
      );
  });

  test("is refused by code when a byte of it is another", async () => {
    // The passphrase is stretched where the file could be whole: by a stand-in that is as fast as the property needs.
    const stretched = await nobleCrypto.argon2id(
      utf8("pas\u015Bword of ada".normalize("NFKC")),
      seeded("file")(16),
      ARGON2_FLOOR,
      32,
    );
    const quick = { ...nobleCrypto, argon2id: async () => stretched.slice() };
    await openKeyFile(quick, file, "");
    await fc.assert(
      fc.asyncProperty(flippedBit(file), async (changed) => {
        const error: unknown = await openKeyFile(quick, changed, "").catch((thrown: unknown) => thrown);
        expect(isCoded(error, "decryption_failed", "custody_invalid")).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test("of another version is told from one that is damaged", async () => {
    const open = (changed: Uint8Array) => openKeyFile(nobleCrypto, changed, "password");
    await expect(open(written({ version: 3, cipher: "later" }))).rejects.toThrow(coded("custody_invalid", "version"));
    const kdf = document["kdf"] as object;
    for (const change of [
      { format: "other" },
      { extra: 1 },
      { version: 2 },
      { kdf: { ...kdf, time: 1 } },
      { kdf: { ...kdf, memory_kib: 2 ** 22 } },
    ]) {
      await expect(open(written(change))).rejects.toThrow(coded("custody_invalid", "malformed"));
    }
    for (const changed of [
      file.subarray(1),
      file.subarray(0, -1),
      utf8("null\n"),
      utf8("[]\n"),
      new Uint8Array(),
      utf8(`{"a":"${"x".repeat(5000)}"}\n`),
    ]) {
      await expect(open(changed)).rejects.toThrow(coded("custody_invalid", "malformed"));
    }
  });

  test("does not hold another's card", async () => {
    await expect(
      sealKeyFile(nobleCrypto, { keys: ada.keys, card: bob.card }, "pass\u0301word of ada", seeded("f"), ARGON2_FLOOR),
    ).rejects.toThrow(coded("crypto_invalid"));
    await expect(openKeyFile(nobleCrypto, written({ card: bob.card }), "pas\u015Bword of ada")).rejects.toThrow(
      coded("decryption_failed"),
    );
  });

  /** A file with this card, sealed by the passphrase "p" as any program may do it. */
  const byHand = async (card: typeof ada.card) => {
    const { ciphertext: _, ...head }: Record<string, unknown> = { ...document, card };
    const salt = fromBase64((document["kdf"] as { salt: string }).salt);
    const key = await nobleCrypto.argon2id(utf8("p"), salt, ARGON2_FLOOR, 32);
    const aad = utf8(`seneschal/custodian-key-file/v1\0${canonicalJson(head)}`);
    const sealed = nobleCrypto.seal(key, fromBase64(document["nonce"] as string), ada.keys.toBytes(), aad);
    return written({ card, ciphertext: base64(sealed) });
  };

  test("that was sealed by a short passphrase once is opened by it", async () => {
    expect((await openKeyFile(nobleCrypto, await byHand(ada.card), "p")).keys.toBytes()).toEqual(ada.keys.toBytes());
  });

  test("written by hand to hold other keys, or a card without proof, is refused by reason", async () => {
    await expect(openKeyFile(nobleCrypto, await byHand(bob.card), "p")).rejects.toThrow(coded("custody_invalid", "other_keys"));
    const card = { ...ada.card, proofs: bob.card.proofs };
    await expect(openKeyFile(nobleCrypto, written({ card }), "p")).rejects.toThrow(coded("custody_invalid", "proof"));
  });
});

describe.each([
  [
    "a security key",
    (label: string) => prfSeal({ rpId: "custody.example", credentialId: seeded("id")(32) }, seeded(label)),
    { rp_id: "other.example" },
  ],
  ["a token", (label: string) => tokenSeal(nobleCrypto, { token: "ada", key: "custody" }, seeded(label)), { key: "other" }],
] as const)("a key file that is sealed by %s", async (_, newSeal, another) => {
  const seal = newSeal("seal");
  const answer = seeded("answer")(32);
  const file = await sealKeyFile(nobleCrypto, ada, { seal, answer }, seeded("file"));
  const document = JSON.parse(Buffer.from(file).toString()) as { readonly ciphertext: string };
  const written = (change: object) => utf8(`${canonicalJson({ ...document, ...change })}\n`);
  const open = (changed: Uint8Array, by: string | Uint8Array = answer) => openKeyFile(nobleCrypto, changed, by);

  test("says what the device is to be asked, each time something else, and opens by its answer", async () => {
    expect(newSeal("again")).not.toEqual(seal);
    expect(readKeyFile(file)).toEqual({ card: ada.card, seal });
    const { keys, card } = await open(file);
    expect([keys.toBytes(), card]).toEqual([ada.keys.toBytes(), ada.card]);
    const text = Buffer.from(file).toString();
    for (const secret of [answer, ada.keys.toBytes().subarray(0, 32), ada.keys.toBytes().subarray(32)])
      for (const form of [hex(secret), base64(secret).slice(0, 42)]) expect(text).not.toContain(form);
  });

  test("opens by no other answer, and by no passphrase; an answer to one seal is not the key of another", async () => {
    await expect(open(file, seeded("other")(32))).rejects.toThrow(coded("decryption_failed"));
    await expect(open(file, answer.subarray(1))).rejects.toThrow(coded("crypto_invalid"));
    await expect(open(file, "correct horse")).rejects.toThrow(coded("custody_invalid", "other_seal"));
    const kdf = { ...seal, ...another };
    await expect(open(written({ kdf }))).rejects.toThrow(coded("decryption_failed"));
    const same = await sealKeyFile(nobleCrypto, ada, { seal: kdf, answer }, seeded("file"));
    const { ciphertext } = JSON.parse(Buffer.from(same).toString()) as { readonly ciphertext: string };
    expect(ciphertext.slice(0, 85)).not.toBe(document.ciphertext.slice(0, 85));
  });

  test("is refused by code when a byte of it is another", async () => {
    await fc.assert(
      fc.asyncProperty(flippedBit(file), async (changed) => {
        const error: unknown = await open(changed).catch((thrown: unknown) => thrown);
        expect(isCoded(error, "decryption_failed", "custody_invalid")).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  test("has exactly its members, each of its size", async () => {
    const { name: _name, ...nameless } = seal;
    for (const change of [
      ...[{ version: 1 }, { kdf: {} }, { kdf: null }, { kdf: nameless }, { kdf: { ...seal, more: 1 } }],
      ...["other", "argon2id"].map((name) => ({ kdf: { ...seal, name } })),
      ...Object.keys(nameless).flatMap((member) =>
        ["", "a\n", 7, "x".repeat(201)].map((value) => ({ kdf: { ...seal, [member]: value } })),
      ),
    ])
      await expect(open(written(change)), JSON.stringify(change)).rejects.toThrow(coded("custody_invalid", "malformed"));
  });
});

test("a device's seal is made of names and sizes that a file may have, and no other is written into one", async () => {
  const made = prfSeal({ rpId: "custody.example", credentialId: new Uint8Array(32) }, seeded("s"));
  for (const seal of [
    { ...made, input: "" },
    { ...made, more: 1 },
  ])
    await expect(sealKeyFile(nobleCrypto, ada, { seal, answer: new Uint8Array(32) }, seeded("f"))).rejects.toThrow(
      coded("crypto_invalid"),
    );
  const credentialId = new Uint8Array(32);
  for (const wrong of [{ credentialId: new Uint8Array(15) }, { credentialId: new Uint8Array(1024) }, { rpId: "" }])
    expect(() => prfSeal({ rpId: "custody.example", credentialId, ...wrong }, seeded("s"))).toThrow(coded("crypto_invalid"));
  for (const wrong of [{ token: "" }, { key: "a\nb" }])
    expect(() => tokenSeal(nobleCrypto, { token: "ada", key: "custody", ...wrong }, seeded("s"))).toThrow(
      coded("crypto_invalid"),
    );
});
