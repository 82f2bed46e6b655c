import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import type { Pkcs11Key } from "@seneschal/adapters/pkcs11";
import { systemRandom } from "@seneschal/adapters/system";
import {
  openEmbeddedVault,
  openPkcs11Wrapper,
  rekeyVault,
  storedSeal,
  type Unseal,
  vaultCollections,
} from "@seneschal/adapters/vault";
import { utf8 } from "@seneschal/crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadPkcs11, missingForTokens, openSoftToken, type SoftToken } from "../../../../tools/soft-token.ts";

const unavailable = expect.objectContaining({ code: "vault_unavailable" });

describe.skipIf(missingForTokens !== "")(
  `a seal in a hardware module${missingForTokens === "" ? ", of SoftHSM2" : ` (not installed: ${missingForTokens})`}`,
  () => {
    let token: SoftToken;
    let key: Pkcs11Key;
    const clock = settableClock(Date.UTC(2026, 0, 1));
    const wrapper = (change: Partial<Pkcs11Key> = {}) =>
      openPkcs11Wrapper({ ...key, ...change }, { random: systemRandom, load: loadPkcs11 });
    const sealed = (change: Partial<Pkcs11Key> = {}): Unseal => ({ kind: "pkcs11", wrapper: wrapper(change) });
    const parts = (store: ReturnType<typeof openMemoryStore>) => ({ store, crypto: nodeCrypto, random: systemRandom, clock });

    beforeAll(() => {
      token = openSoftToken("seneschal");
      token.generate("aes", "unseal", "other");
      key = { lib: token.lib, tokenLabel: token.tokenLabel, keyLabel: "unseal", pin: token.pin };
    });
    afterAll(() => token?.destroy());

    test("opens the vault by the module's key and by no other; what is wrong is said, and never the PIN", async () => {
      const store = openMemoryStore({ collections: vaultCollections });
      const vault = await openEmbeddedVault({ ...parts(store), unseal: sealed() });
      await vault.createKey("k");
      const ciphertext = await vault.encrypt("k", utf8("secret"));
      expect(await (await openEmbeddedVault({ ...parts(store), unseal: sealed() })).decrypt("k", ciphertext)).toEqual(
        utf8("secret"),
      );
      for (const change of [{ keyLabel: "other" }, { keyLabel: "none" }, { tokenLabel: "none" }, { lib: "/none.so" }])
        await expect(openEmbeddedVault({ ...parts(store), unseal: sealed(change) })).rejects.toThrow(unavailable);
      const refused = await openEmbeddedVault({ ...parts(store), unseal: sealed({ pin: "987654" }) }).catch(
        (error: unknown) => error,
      );
      expect(refused).toMatchObject({ code: "config_invalid", message: expect.stringContaining("CKR_PIN_INCORRECT") });
      expect(String((refused as Error).message)).not.toContain("987654");
    });

    test("a vault moves to the module and away from it, and what opened it before does not", async () => {
      const store = openMemoryStore({ collections: vaultCollections });
      const file: Unseal = { kind: "key", key: systemRandom(32) };
      const vault = await openEmbeddedVault({ ...parts(store), unseal: file });
      await vault.createKey("k");
      const ciphertext = await vault.encrypt("k", utf8("secret"));
      await rekeyVault(parts(store), file, sealed() as Extract<Unseal, { readonly kind: "pkcs11" }>);
      await expect(openEmbeddedVault({ ...parts(store), unseal: file })).rejects.toThrow(unavailable);
      expect(await (await openEmbeddedVault({ ...parts(store), unseal: sealed() })).decrypt("k", ciphertext)).toEqual(
        utf8("secret"),
      );
      const before = (await storedSeal(store))?.doc["wrapped"];
      await rekeyVault(parts(store), sealed(), sealed() as Extract<Unseal, { readonly kind: "pkcs11" }>);
      expect((await storedSeal(store))?.doc["wrapped"]).not.toBe(before);
      await rekeyVault(parts(store), sealed(), file);
      await expect(openEmbeddedVault({ ...parts(store), unseal: sealed() })).rejects.toThrow(unavailable);
      expect(await (await openEmbeddedVault({ ...parts(store), unseal: file })).decrypt("k", ciphertext)).toEqual(utf8("secret"));
    });
  },
);
