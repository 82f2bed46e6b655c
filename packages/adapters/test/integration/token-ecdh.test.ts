import { createECDH } from "node:crypto";
import { type Pkcs11Key, tokenEcdh } from "@seneschal/adapters/pkcs11";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadPkcs11, missingForTokens, openSoftToken, type SoftToken } from "../../../../tools/soft-token.ts";

describe.skipIf(missingForTokens !== "")(
  `ECDH by a key in a token${missingForTokens === "" ? ", of SoftHSM2" : ` (not installed: ${missingForTokens})`}`,
  () => {
    let token: SoftToken;
    let key: Pkcs11Key;
    beforeAll(() => {
      token = openSoftToken("ada");
      token.generate("p256", "custody", "other", "twice", "twice");
      token.generate("aes", "aes");
      key = { lib: token.lib, tokenLabel: token.tokenLabel, keyLabel: "custody", pin: token.pin };
    });
    afterAll(() => token?.destroy());
    const ecdh = (point: Uint8Array, change: Partial<Pkcs11Key> = {}) => tokenEcdh({ ...key, ...change }, point, loadPkcs11);

    test("is what the holder of the point's secret computes with the key's public half, each time", () => {
      for (let i = 0; i < 5; i++) {
        const point = createECDH("prime256v1");
        point.generateKeys();
        for (const label of ["custody", "other"]) {
          const expected = Uint8Array.from(point.computeSecret(token.publicKey(label)));
          for (let again = 0; again < 2; again++) expect(ecdh(point.getPublicKey(), { keyLabel: label })).toEqual(expected);
        }
      }
    });

    test("is refused for what is no point, by what is no such key, and to who does not know the PIN, which no message tells", () => {
      const point = new Uint8Array(createECDH("prime256v1").generateKeys());
      const unavailable = expect.objectContaining({ code: "token_unavailable" });
      const beside = point.map((byte, i) => (i === 64 ? byte ^ 1 : byte));
      for (const wrong of [new Uint8Array(), new Uint8Array(65), beside, point.subarray(0, 33)])
        expect(() => ecdh(wrong)).toThrow(unavailable);
      for (const change of [
        ...[{ keyLabel: "none" }, { keyLabel: "twice" }, { keyLabel: "aes" }, { tokenLabel: "none" }, { lib: "/none.so" }],
      ])
        expect(() => ecdh(point, change), JSON.stringify(change)).toThrow(unavailable);
      const refused = (): unknown => ecdh(point, { pin: "987654" });
      expect(refused).toThrow(expect.objectContaining({ code: "pin_refused", message: expect.not.stringContaining("987654") }));
      expect(ecdh(point)).toHaveLength(32);
    });
  },
);
