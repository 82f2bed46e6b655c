import type { Vault } from "../ports/vault.ts";
import { refuses as demandRefusal, type SuiteRunner } from "./suite.ts";

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const text = (value: string): Uint8Array => Uint8Array.from(value, (c) => c.charCodeAt(0));

/**
 * The laws of the Vault port. `open` gives a vault; names are drawn with a random suffix so that the suite can run against
 * a server that keeps its keys. Keys that were made are deleted again.
 */
export function vaultSuite(runner: SuiteRunner, options: { readonly open: () => Promise<Vault>; readonly label: string }): void {
  let counter = 0;
  const test = (name: string, body: (vault: Vault, key: string) => Promise<void>): void =>
    runner.test(name, async () => {
      const vault = await options.open();
      const key = `${options.label}-${++counter}`;
      await vault.createKey(key);
      try {
        await body(vault, key);
      } finally {
        if ((await vault.keyInfo(key)) !== undefined) {
          await vault.configureKey(key, { deletionAllowed: true });
          await vault.deleteKey(key);
        }
      }
    });
  const same = (actual: unknown, expected: unknown, what?: string) => runner.equal(actual, expected, what);
  const refuses = (code: string, call: () => unknown, what?: string) => demandRefusal(runner, code, call, what);
  const reasonOf = async (call: () => Promise<unknown>): Promise<unknown> => {
    try {
      await call();
    } catch (error) {
      return (error as { details?: { reason?: unknown } }).details?.reason;
    }
    return "no error";
  };

  test("what was encrypted decrypts, also nothing and all byte values", async (vault, key) => {
    for (const plaintext of [bytes(), bytes(0), Uint8Array.from({ length: 256 }, (_, i) => i), new Uint8Array(70_000).fill(7)]) {
      const ciphertext = await vault.encrypt(key, plaintext);
      same(/^vault:v1:[A-Za-z0-9+/]+={0,2}$/.test(ciphertext), true, "shape of the ciphertext");
      same(await vault.decrypt(key, ciphertext), plaintext);
    }
  });

  test("two encryptions of one plaintext differ", async (vault, key) => {
    const made = [await vault.encrypt(key, text("x")), await vault.encrypt(key, text("x"))];
    same(new Set(made).size, 2);
  });

  test("associated data binds; absent equals empty", async (vault, key) => {
    const bound = await vault.encrypt(key, text("secret"), text("w1"));
    same(await vault.decrypt(key, bound, text("w1")), text("secret"));
    await refuses("decryption_failed", () => vault.decrypt(key, bound, text("w2")));
    await refuses("decryption_failed", () => vault.decrypt(key, bound));
    const unbound = await vault.encrypt(key, text("secret"));
    same(await vault.decrypt(key, unbound, bytes()), text("secret"));
    await refuses("decryption_failed", () => vault.decrypt(key, unbound, text("w1")));
  });

  test("a ciphertext opens under its own key only", async (vault, key) => {
    const other = `${key}-other`;
    await vault.createKey(other);
    const ciphertext = await vault.encrypt(key, text("secret"));
    await refuses("decryption_failed", () => vault.decrypt(other, ciphertext));
    await vault.configureKey(other, { deletionAllowed: true });
    await vault.deleteKey(other);
  });

  test("creating a key again changes nothing", async (vault, key) => {
    const ciphertext = await vault.encrypt(key, text("secret"));
    await vault.rotateKey(key);
    await vault.createKey(key);
    same((await vault.keyInfo(key))?.latestVersion, 2);
    same(await vault.decrypt(key, ciphertext), text("secret"));
  });

  test("a new key has version 1 and the least restrictive settings", async (vault, key) => {
    same(await vault.keyInfo(key), {
      name: key,
      latestVersion: 1,
      minDecryptionVersion: 1,
      minEncryptionVersion: 0,
      minAvailableVersion: 0,
      deletionAllowed: false,
    });
    same((await vault.listKeys()).includes(key), true, "listed");
  });

  test("an unknown key is named so and never comes into being by use", async (vault, key) => {
    const missing = `${key}-missing`;
    const ciphertext = await vault.encrypt(key, text("x"));
    same(await vault.keyInfo(missing), undefined);
    await refuses("key_not_found", () => vault.encrypt(missing, text("x")));
    await refuses("key_not_found", () => vault.decrypt(missing, ciphertext));
    await refuses("key_not_found", () => vault.rewrap(missing, ciphertext));
    await refuses("key_not_found", () => vault.rotateKey(missing));
    await refuses("key_not_found", () => vault.configureKey(missing, { deletionAllowed: true }));
    await refuses("key_not_found", () => vault.trimKey(missing, 1));
    await refuses("key_not_found", () => vault.deleteKey(missing));
    await refuses("key_not_found", () => vault.encryptMany(missing, [{ plaintext: text("x") }]));
    await refuses("key_not_found", () => vault.decryptMany(missing, [{ ciphertext }]));
    same((await vault.listKeys()).includes(missing), false, "not listed");
  });

  test("names that could leave their place are refused", async (vault) => {
    for (const name of ["", "../sys/seal", "a/b", "a b", ".hidden", "ä", "x".repeat(129)]) {
      await refuses("vault_invalid", () => vault.createKey(name), name);
      await refuses("vault_invalid", () => vault.encrypt(name, text("x")), name);
      await refuses("vault_invalid", () => vault.keyInfo(name), name);
    }
  });

  test("rotation: all versions decrypt until the minimum passes them, and lowering it allows them again", async (vault, key) => {
    const ciphertexts = [await vault.encrypt(key, text("v1"))];
    for (const version of [2, 3]) {
      same(await vault.rotateKey(key), version);
      ciphertexts.push(await vault.encrypt(key, text(`v${version}`)));
    }
    same(
      ciphertexts.map((c) => c.split(":")[1]),
      ["v1", "v2", "v3"],
    );
    const readable = async () =>
      (
        await vault.decryptMany(
          key,
          ciphertexts.map((ciphertext) => ({ ciphertext })),
        )
      ).map((r) => r.ok);
    same(await readable(), [true, true, true]);
    await vault.configureKey(key, { minDecryptionVersion: 3 });
    same(await readable(), [false, false, true]);
    await vault.configureKey(key, { minDecryptionVersion: 2 });
    same(await readable(), [false, true, true]);
    await vault.configureKey(key, { minDecryptionVersion: 1 });
    same(await readable(), [true, true, true]);
  });

  test("minima above the newest version, below zero or crossed are refused and change nothing", async (vault, key) => {
    await vault.rotateKey(key);
    await vault.rotateKey(key);
    await vault.configureKey(key, { minDecryptionVersion: 2, minEncryptionVersion: 3 });
    const before = await vault.keyInfo(key);
    for (const config of [
      { minDecryptionVersion: 4 },
      { minDecryptionVersion: -1 },
      { minEncryptionVersion: 4 },
      { minEncryptionVersion: -1 },
      { minEncryptionVersion: 1 },
      { minDecryptionVersion: 3, minEncryptionVersion: 2 },
    ]) {
      await refuses("vault_invalid", () => vault.configureKey(key, config), JSON.stringify(config));
    }
    same(await vault.keyInfo(key), before);
  });

  test("trimming needs both minima, never goes above them or back, and bounds later settings", async (vault, key) => {
    const old = await vault.encrypt(key, text("old"));
    for (let i = 0; i < 3; i++) await vault.rotateKey(key);
    await refuses("vault_invalid", () => vault.trimKey(key, 1), "no minimum for encryption");
    await vault.configureKey(key, { minDecryptionVersion: 3, minEncryptionVersion: 3 });
    await refuses("vault_invalid", () => vault.trimKey(key, 4), "above the minima");
    await refuses("vault_invalid", () => vault.trimKey(key, 0), "zero");
    await vault.trimKey(key, 3);
    same((await vault.keyInfo(key))?.minAvailableVersion, 3);
    await refuses("vault_invalid", () => vault.trimKey(key, 2), "back");
    await refuses("vault_invalid", () => vault.configureKey(key, { minDecryptionVersion: 2 }), "below what was trimmed");
    await refuses("decryption_failed", () => vault.decrypt(key, old));
    same(await vault.decrypt(key, await vault.encrypt(key, text("new"))), text("new"));
  });

  test("rewrap moves a ciphertext to the newest version with its associated data", async (vault, key) => {
    const old = await vault.encrypt(key, text("secret"), text("w1"));
    await vault.rotateKey(key);
    const fresh = await vault.rewrap(key, old, text("w1"));
    same(fresh.startsWith("vault:v2:"), true);
    same(await vault.decrypt(key, fresh, text("w1")), text("secret"));
    await refuses("decryption_failed", () => vault.rewrap(key, old, text("w2")));
    await refuses("decryption_failed", () => vault.decrypt(key, fresh));
  });

  test("every fault of a ciphertext has its own reason", async (vault, key) => {
    const good = await vault.encrypt(key, text("secret"));
    const [, , body = ""] = good.split(":");
    const flipped = `${body.slice(0, 20)}${body[20] === "A" ? "B" : "A"}${body.slice(21)}`;
    await vault.rotateKey(key);
    const cases = {
      prefix: `sealed:v1:${body}`,
      fields: "vault:v1",
      version: `vault:vX:${body}`,
      version_too_new: `vault:v9:${body}`,
      base64: "vault:v1:@@@@",
      authentication: `vault:v1:${flipped}`,
    };
    for (const [reason, ciphertext] of Object.entries(cases)) {
      await refuses("decryption_failed", () => vault.decrypt(key, ciphertext), reason);
      same(await reasonOf(() => vault.decrypt(key, ciphertext)), reason);
    }
    // Vault reads what follows as part of the body, others count the fields.
    await refuses("decryption_failed", () => vault.decrypt(key, `vault:v1:${body}:more`), "a field too many");
    await vault.configureKey(key, { minDecryptionVersion: 2 });
    same(await reasonOf(() => vault.decrypt(key, good)), "version_disallowed");
  });

  test("a batch answers item by item, in order, and a bad item leaves the others alone", async (vault, key) => {
    const sealed = await vault.encryptMany(key, [
      { plaintext: text("a"), aad: text("1") },
      { plaintext: bytes() },
      { plaintext: text("c") },
    ]);
    const values = sealed.map((item) => (item.ok ? item.value : ""));
    same(
      sealed.map((item) => item.ok),
      [true, true, true],
    );
    const opened = await vault.decryptMany(key, [
      { ciphertext: values[0] ?? "", aad: text("1") },
      { ciphertext: "vault:v1:AAAA" },
      { ciphertext: values[1] ?? "" },
      { ciphertext: "nonsense" },
      { ciphertext: values[2] ?? "" },
    ]);
    same(opened, [
      { ok: true, value: text("a") },
      { ok: false, code: "decryption_failed", reason: "authentication" },
      { ok: true, value: bytes() },
      { ok: false, code: "decryption_failed", reason: "prefix" },
      { ok: true, value: text("c") },
    ]);
    same(await vault.encryptMany(key, []), []);
  });

  test("deleting needs permission and destroys what the key sealed, for good", async (vault, key) => {
    const ciphertext = await vault.encrypt(key, text("secret"));
    await refuses("deletion_not_allowed", () => vault.deleteKey(key));
    same(await vault.decrypt(key, ciphertext), text("secret"), "nothing changed");
    await vault.configureKey(key, { deletionAllowed: true });
    await vault.deleteKey(key);
    same(await vault.keyInfo(key), undefined);
    await vault.createKey(key);
    await refuses("decryption_failed", () => vault.decrypt(key, ciphertext));
  });

  test("concurrent rotations each add a version, and encryptions beside them stay readable", async (vault, key) => {
    const [rotations, sealed] = await Promise.all([
      Promise.all(Array.from({ length: 6 }, () => vault.rotateKey(key))),
      Promise.all(Array.from({ length: 12 }, (_, i) => vault.encrypt(key, bytes(i)))),
    ]);
    same([...rotations].sort(), [2, 3, 4, 5, 6, 7]);
    for (const [i, ciphertext] of sealed.entries()) same(await vault.decrypt(key, ciphertext), bytes(i));
  });

  test("no error shows a plaintext", async (vault, key) => {
    const canary = "canary-plaintext-4711";
    const ciphertext = await vault.encrypt(key, text(canary), text("w1"));
    try {
      await vault.decrypt(key, ciphertext, text("w2"));
    } catch (error) {
      same(`${String(error)}${JSON.stringify(error)}`.includes(canary), false);
    }
  });

  test("health says initialised and not sealed", async (vault) => {
    const { sealed, initialized } = await vault.health();
    same({ sealed, initialized }, { sealed: false, initialized: true });
  });
}
