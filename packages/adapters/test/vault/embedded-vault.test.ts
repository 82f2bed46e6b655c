import { openMemoryStore, seededRandom, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { initVault, openEmbeddedVault, rekeyVault, storedSeal, type Unseal, vaultCollections } from "@seneschal/adapters/vault";
import { PASSPHRASE_RULE, utf8 } from "@seneschal/crypto";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { vaultSuite } from "@seneschal/kernel/testing";
import { describe, expect, test } from "vitest";
import { runner } from "../suite-runner.ts";

const clock = settableClock(1_700_000_000_000);
const FLOOR = { time: 2, memoryKiB: 19 * 1024, parallelism: 1 };
const key: Unseal = { kind: "key", key: seededRandom(1)(32) };
const newStore = () => openMemoryStore({ collections: vaultCollections });
let seed = 100;
const open = (store: DocumentStore, unseal: Unseal = key) =>
  openEmbeddedVault({ store, crypto: nodeCrypto, random: seededRandom(seed++), clock, unseal });
const unavailable = expect.objectContaining({ code: "vault_unavailable" });

describe("the embedded vault", () => {
  vaultSuite(runner, { label: "embedded", open: () => open(newStore()) });
});

test("keys survive closing and opening again, by key file and by passphrase", async () => {
  const passphrase: Unseal = { kind: "passphrase", passphrase: "correct horse battery", cost: FLOOR };
  for (const unseal of [key, passphrase]) {
    const store = newStore();
    const first = await open(store, unseal);
    await first.createKey("k");
    const ciphertext = await first.encrypt("k", utf8("secret"));
    first.seal();
    expect(await (await open(store, unseal)).decrypt("k", ciphertext)).toEqual(utf8("secret"));
  }
});

test("a wrong key, passphrase or kind of unsealing opens nothing", async () => {
  const byKey = newStore();
  await open(byKey);
  await expect(open(byKey, { kind: "key", key: seededRandom(2)(32) })).rejects.toThrow(unavailable);
  await expect(open(byKey, { kind: "key", key: new Uint8Array(16) })).rejects.toThrow(unavailable);
  await expect(open(byKey, { kind: "passphrase", passphrase: "x" })).rejects.toThrow(unavailable);
  const byPassphrase = newStore();
  await open(byPassphrase, { kind: "passphrase", passphrase: "the right one", cost: FLOOR });
  await expect(open(byPassphrase, { kind: "passphrase", passphrase: "the wrong one" })).rejects.toThrow(unavailable);
});

test("a new seal by a passphrase is by the rule of passphrases, made or changed, or nothing is; one of before the rule opens as before", async () => {
  const parts = (store: DocumentStore) => ({ store, crypto: nodeCrypto, random: seededRandom(seed++) });
  const weak = expect.objectContaining({ code: "vault_invalid", message: `the vault's new seal: ${PASSPHRASE_RULE}` });
  for (const passphrase of ["", "right", "correct hor", "aaaaaaaaaaaaaaaaaaaa", "abcdabcdabcdabcd"]) {
    const seal = { kind: "passphrase", passphrase, cost: FLOOR } as const;
    const store = newStore();
    await expect(open(store, seal)).rejects.toThrow(weak);
    await expect(initVault(parts(store), seal)).rejects.toThrow(weak);
    expect(await storedSeal(store)).toBeUndefined();
    await open(store);
    const before = await storedSeal(store);
    await expect(rekeyVault(parts(store), key, seal)).rejects.toThrow(weak);
    expect(await storedSeal(store)).toEqual(before);
  }
  const doc = {
    kind: "passphrase",
    salt: "ttmAmb0vnEYKDZqlI3b95Q==",
    kdf: { time: 2, memory_kib: 19456, parallelism: 1 },
    nonce: "qFZOTO+QFLchkm8z",
    sealed: "KEik3mGUHuIeqtF/VzhlMIaFy1FZVzjKwtcNqr0BY3YfPcRTdp8iR2z/sBNkUFZX",
  };
  const old = newStore();
  await old.commit({ commitId: "of before", puts: [{ coll: "vault_seal", id: "root", doc, ifVersion: 0 }] });
  expect(await (await open(old, { kind: "passphrase", passphrase: "right" })).health()).toMatchObject({ sealed: false });
});

test("a sealed vault answers nothing", async () => {
  const vault = await open(newStore());
  await vault.createKey("k");
  const ciphertext = await vault.encrypt("k", utf8("secret"));
  vault.seal();
  await expect(vault.decrypt("k", ciphertext)).rejects.toThrow(unavailable);
  await expect(vault.encrypt("k", utf8("x"))).rejects.toThrow(unavailable);
  await expect(vault.listKeys()).rejects.toThrow(unavailable);
  expect(await vault.health()).toMatchObject({ sealed: true });
});

test("two processes on one store are one vault, also when both make it at once", async () => {
  const store = newStore();
  const [a, b] = await Promise.all([open(store), open(store)]);
  await Promise.all([a.createKey("k"), b.createKey("k")]);
  const ciphertext = await a.encrypt("k", utf8("secret"));
  expect(await b.decrypt("k", ciphertext)).toEqual(utf8("secret"));
  const versions = await Promise.all([a.rotateKey("k"), b.rotateKey("k"), a.rotateKey("k"), b.rotateKey("k")]);
  expect(versions.sort()).toEqual([2, 3, 4, 5]);
  await a.configureKey("k", { minDecryptionVersion: 5, deletionAllowed: true });
  await expect(b.decrypt("k", ciphertext)).rejects.toThrow(expect.objectContaining({ code: "decryption_failed" }));
  await b.deleteKey("k");
  await expect(a.encrypt("k", utf8("x"))).rejects.toThrow(expect.objectContaining({ code: "key_not_found" }));
});

test("the store holds no key in the clear, and a document moved to another name is refused", async () => {
  const store = newStore();
  const keys: string[] = [];
  const spying = {
    ...nodeCrypto,
    seal: (...args: Parameters<typeof nodeCrypto.seal>) => {
      keys.push(Buffer.from(args[2]).toString("latin1"));
      return nodeCrypto.seal(...args);
    },
  };
  const vault = await openEmbeddedVault({ store, crypto: spying, random: seededRandom(9), clock, unseal: key });
  await vault.createKey("a");
  const material = /"key":"([^"]+)"/.exec(keys.join())?.[1] ?? "";
  expect(material).toHaveLength(44);
  const stored = await store.get("vault_keys", "a");
  expect(JSON.stringify(stored)).not.toContain(material);
  await store.commit({ commitId: "move", puts: [{ coll: "vault_keys", id: "b", doc: { ...stored!.doc, name: "b" } }] });
  await expect(vault.encrypt("b", utf8("x"))).rejects.toThrow(unavailable);
});

test("a store that fails makes the vault unavailable, never empty", async () => {
  const store = newStore();
  const vault = await open(store);
  await vault.createKey("k");
  await store.close();
  await expect(vault.keyInfo("k")).rejects.toThrow(unavailable);
  await expect(vault.rotateKey("k")).rejects.toThrow(unavailable);
});

describe("keys that travel", () => {
  const holding = async (store = newStore()) => {
    const vault = await open(store);
    for (const name of ["storage-masters", "storage-tenant-acme", "other"]) await vault.createKey(name);
    return vault;
  };

  test("open in a clean vault with the same unseal key, every version of them, and no others", async () => {
    const vault = await holding();
    const old = await vault.encrypt("storage-masters", utf8("one"));
    await vault.rotateKey("storage-masters");
    const fresh = await vault.encrypt("storage-masters", utf8("two"));
    const text = await vault.exportKeys((name) => name.startsWith("storage-"));
    for (const word of ["storage", "acme"]) expect(Buffer.from(text, "base64").includes(word)).toBe(false);

    const clean = await open(newStore());
    const keys = await clean.openExport(text);
    expect(await keys.decrypt("storage-masters", old)).toEqual(utf8("one"));
    expect(await clean.listKeys()).toEqual([]);
    await keys.adopt();
    expect(await clean.listKeys()).toEqual(["storage-masters", "storage-tenant-acme"]);
    expect(await clean.decrypt("storage-masters", old)).toEqual(utf8("one"));
    expect(await clean.decrypt("storage-masters", fresh)).toEqual(utf8("two"));
    await expect(keys.decrypt("other", old)).rejects.toThrow(expect.objectContaining({ code: "key_not_found" }));
  });

  test("do not open under another unseal key, nor when a byte of them was changed", async () => {
    const text = await (await holding()).exportKeys((name) => name.startsWith("storage-"));
    const stranger = await open(newStore(), { kind: "key", key: seededRandom(2)(32) });
    await expect(stranger.openExport(text)).rejects.toThrow(expect.objectContaining({ code: "decryption_failed" }));
    const clean = await open(newStore());
    for (const bad of ["", "AAAA", text.slice(0, -8), text.replace(/.(?=.{40}$)/, (c) => (c === "A" ? "B" : "A"))])
      await expect(clean.openExport(bad)).rejects.toThrow(expect.objectContaining({ code: "decryption_failed" }));
    clean.seal();
    await expect(clean.openExport(text)).rejects.toThrow(unavailable);
  });

  test("leave a key that has gone on since alone, and replace one that is another", async () => {
    const vault = await holding();
    const old = await vault.encrypt("storage-masters", utf8("old"));
    const text = await vault.exportKeys((name) => name.startsWith("storage-"));
    await vault.rotateKey("storage-masters");
    const newer = await vault.encrypt("storage-masters", utf8("newer"));
    await (await vault.openExport(text)).adopt();
    expect(await vault.decrypt("storage-masters", newer)).toEqual(utf8("newer"));

    const other = await holding();
    await expect(other.decrypt("storage-masters", old)).rejects.toThrow(expect.objectContaining({ code: "decryption_failed" }));
    const mine = await other.encrypt("storage-tenant-acme", utf8("mine"));
    const arriving = await other.openExport(text);
    await expect(arriving.adopt({ lose: false })).rejects.toThrow(expect.objectContaining({ code: "vault_invalid" }));
    expect(await other.decrypt("storage-tenant-acme", mine)).toEqual(utf8("mine"));
    await arriving.adopt();
    expect(await other.decrypt("storage-masters", old)).toEqual(utf8("old"));
  });
});
