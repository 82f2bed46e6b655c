import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import {
  openEmbeddedVault,
  openPkcs11Wrapper,
  type Pkcs11Key,
  rekeyVault,
  storedSeal,
  type Unseal,
  vaultCollections,
} from "@seneschal/adapters/vault";
import { utf8 } from "@seneschal/crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

/** Both are put there by tools/install-peers.sh. */
const lib = ["/usr/lib/softhsm/libsofthsm2.so", "/usr/local/lib/softhsm/libsofthsm2.so"].find((path) => existsSync(path));
const peers = new URL("../../../../.peers/pkcs11/", import.meta.url);
const pkcs11js = existsSync(new URL("node_modules/pkcs11js", peers));
const missing = [...(lib === undefined ? ["SoftHSM2"] : []), ...(pkcs11js ? [] : ["pkcs11js"])].join(" and ");
const load = (): unknown => createRequire(peers)("pkcs11js");
const unavailable = expect.objectContaining({ code: "vault_unavailable" });

describe.skipIf(missing !== "")(
  `a seal in a hardware module${missing === "" ? ", of SoftHSM2" : ` (not installed: ${missing})`}`,
  () => {
    const directory = mkdtempSync(join(tmpdir(), "seneschal-hsm-"));
    const key: Pkcs11Key = { lib: lib ?? "", tokenLabel: "seneschal", keyLabel: "unseal", pin: "1234" };
    const clock = settableClock(Date.UTC(2026, 0, 1));
    const wrapper = (change: Partial<Pkcs11Key> = {}) => openPkcs11Wrapper({ ...key, ...change }, { random: systemRandom, load });
    const sealed = (change: Partial<Pkcs11Key> = {}): Unseal => ({ kind: "pkcs11", wrapper: wrapper(change) });
    const parts = (store: ReturnType<typeof openMemoryStore>) => ({ store, crypto: nodeCrypto, random: systemRandom, clock });

    beforeAll(async () => {
      mkdirSync(join(directory, "tokens"));
      const conf = join(directory, "softhsm2.conf");
      writeFileSync(conf, `directories.tokendir = ${join(directory, "tokens")}\nobjectstore.backend = file\n`);
      process.env["SOFTHSM2_CONF"] = conf;
      execFileSync("softhsm2-util", ["--init-token", "--free", "--label", "seneschal", "--pin", "1234", "--so-pin", "5678"]);
      // biome-ignore lint/suspicious/noExplicitAny: the package is not there when types are checked
      const js = (await load()) as any;
      const module = new js.PKCS11();
      module.load(lib);
      module.C_Initialize();
      const slot = module.C_GetSlotList(true).find((one: Buffer) => module.C_GetTokenInfo(one).label.trim() === "seneschal");
      const session = module.C_OpenSession(slot, js.CKF_SERIAL_SESSION | js.CKF_RW_SESSION);
      module.C_Login(session, js.CKU_USER, "1234");
      for (const label of ["unseal", "other"])
        module.C_GenerateKey(session, { mechanism: js.CKM_AES_KEY_GEN }, [
          { type: js.CKA_CLASS, value: js.CKO_SECRET_KEY },
          { type: js.CKA_LABEL, value: label },
          { type: js.CKA_VALUE_LEN, value: 32 },
          ...["CKA_TOKEN", "CKA_ENCRYPT", "CKA_DECRYPT", "CKA_SENSITIVE"].map((type) => ({ type: js[type], value: true })),
          { type: js.CKA_EXTRACTABLE, value: false },
        ]);
      module.C_Finalize();
      module.close();
    });
    afterAll(() => rmSync(directory, { recursive: true, force: true }));

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
