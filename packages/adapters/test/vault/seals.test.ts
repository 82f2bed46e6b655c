import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLevelStore } from "@seneschal/adapters/level";
import { openMemoryStore, seededRandom, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import {
  initVault,
  initVaultAs,
  type NewSeal,
  openEmbeddedVault,
  openPkcs11Wrapper,
  openSeal,
  openTransitWrapper,
  rekeyVault,
  sharesOf,
  stagedSeal,
  storedSeal,
  type Unseal,
  vaultCollections,
  verifyRekey,
} from "@seneschal/adapters/vault";
import { utf8 } from "@seneschal/crypto";
import { combineSecret, Share } from "@seneschal/crypto/threshold";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { expect, test } from "vitest";

const clock = settableClock(1_700_000_000_000);
const random = seededRandom(7);
const crypto = nodeCrypto;
const unavailable = expect.objectContaining({ code: "vault_unavailable" });
const newStore = () => openMemoryStore({ collections: vaultCollections });
const open = (store: DocumentStore, unseal: Unseal) => openEmbeddedVault({ store, crypto, random, clock, unseal });
const parts = (store: DocumentStore) => ({ store, crypto, random });

/** Another vault, with a key that wraps. */
const elsewhere = await open(newStore(), { kind: "key", key: random(32) });
await elsewhere.createKey("autounseal");

const from = (doc: JsonObject, shares: readonly string[]): Promise<Uint8Array> => {
  const record = sharesOf(doc);
  const given = shares.slice(-record.threshold).map((data) => ({ index: Share.decode(data).index, data }));
  return combineSecret(record, given);
};

/** A fresh unseal key of each kind, and what opens the vault once its shares are known. */
const kinds: Readonly<Record<string, () => NewSeal>> = {
  key: () => ({ kind: "key", key: random(32) }),
  passphrase: () => ({
    kind: "passphrase",
    passphrase: Buffer.from(random(9)).toString("hex"),
    cost: { time: 2, memoryKiB: 19 * 1024, parallelism: 1 },
  }),
  shamir: () => ({ kind: "shamir", shares: 5, threshold: 3 }),
  transit: () => ({ kind: "transit", wrapper: openTransitWrapper(elsewhere, "autounseal") }),
};
const unsealOf = async (doc: JsonObject, seal: NewSeal, shares: readonly string[]): Promise<Unseal> =>
  seal.kind === "shamir" ? { kind: "shamir", key: await from(doc, shares) } : seal;
const docOf = async (store: DocumentStore): Promise<JsonObject> => (await storedSeal(store))!.doc;

/** A vault of a kind of seal with one key in it. */
async function made(kind: string, store: DocumentStore = newStore()) {
  const seal = kinds[kind]!();
  const shares = await initVault(parts(store), seal);
  const unseal = await unsealOf(await docOf(store), seal, shares);
  const vault = await open(store, unseal);
  await vault.createKey("k");
  return { store, unseal, vault, shares, ciphertext: await vault.encrypt("k", utf8("secret")) };
}

const pairs = Object.keys(kinds).flatMap((a) => Object.keys(kinds).map((b) => [a, b] as const));

test.each(pairs)(
  "rekeyed from %s to %s, the vault keeps its keys, opens by the new alone, and reads what it exported before",
  async (a, b) => {
    const { store, unseal, vault, ciphertext } = await made(a);
    const backup = await vault.exportKeys(() => true);
    const before = await docOf(store);
    const seal = kinds[b]!();
    const shares = await rekeyVault(parts(store), unseal, seal);
    if (seal.kind === "shamir") {
      expect(await docOf(store)).toEqual(before);
      const staged = (await stagedSeal(store))!;
      await verifyRekey(parts(store), await from(staged, shares));
    }
    expect(await stagedSeal(store)).toBeUndefined();
    const fresh = await unsealOf(await docOf(store), seal, shares);
    const again = await open(store, fresh);
    expect(await again.decrypt("k", ciphertext)).toEqual(utf8("secret"));
    expect(await (await again.openExport(backup)).decrypt("k", ciphertext)).toEqual(utf8("secret"));
    // A wrapping key opens whatever it wrapped; what was sealed before is what must be gone.
    expect((await docOf(store))["sealed"]).not.toBe(before["sealed"]);
    if (a !== "transit" || b !== "transit") await expect(open(store, unseal)).rejects.toThrow(unavailable);
  },
);

test("any threshold of the shares opens, whatever k and n become, and no shares of before do", async () => {
  const { store, unseal } = await made("shamir");
  const before = sharesOf(await docOf(store));
  const shares = await rekeyVault(parts(store), unseal, { kind: "shamir", shares: 3, threshold: 2 });
  const staged = (await stagedSeal(store))!;
  expect(sharesOf(staged)).toMatchObject({ threshold: 2, total: 3 });
  expect(Buffer.from(sharesOf(staged).setId)).not.toEqual(Buffer.from(before.setId));
  const keys = await Promise.all(
    [shares.slice(0, 2), shares.slice(1), [shares[0]!, shares[2]!]].map((some) => from(staged, some)),
  );
  for (const key of keys) expect(key).toEqual(keys[0]);
  await expect(verifyRekey(parts(store), unseal.kind === "shamir" ? unseal.key : random(32))).rejects.toThrow(unavailable);
  await verifyRekey(parts(store), keys[0]!);
  await expect(verifyRekey(parts(store), keys[0]!)).rejects.toMatchObject({ details: { reason: "no_rekey" } });
});

test("shares are stored nowhere, and a vault that has keys is not initialized again", async () => {
  const { store, shares } = await made("shamir");
  const text = JSON.stringify([await docOf(store), await store.get("vault_keys", "k"), await store.auditRead(0, 100)]);
  for (const share of shares) {
    expect(text).not.toContain(share);
    expect(text).not.toContain(Buffer.from(Share.decode(share).payload()).toString("base64"));
  }
  await expect(initVault(parts(store), kinds["shamir"]!())).rejects.toMatchObject({ details: { reason: "initialized" } });
  await expect(open(newStore(), { kind: "shamir", key: random(32) })).rejects.toMatchObject({ code: "vault_invalid" });
});

test("a clean vault begins with the seal of a lost one: the same shares open it, and what that one exported", async () => {
  const { store, unseal, vault, ciphertext } = await made("shamir");
  const backup = await vault.exportKeys(() => true);
  const clean = newStore();
  await initVaultAs(parts(clean), backup);
  expect(await docOf(clean)).toEqual(await docOf(store));
  const keys = await (await open(clean, unseal)).openExport(backup);
  expect(await keys.decrypt("k", ciphertext)).toEqual(utf8("secret"));
  await keys.adopt();
  await expect(initVaultAs(parts(clean), backup)).rejects.toMatchObject({ details: { reason: "initialized" } });
  await expect(initVaultAs(parts(newStore()), "bm9uZQ==")).rejects.toMatchObject({ details: { reason: "no_export" } });
});

test("a seal in a hardware module says by name which package it needs", async () => {
  const key = { lib: "/lib.so", tokenLabel: "t", keyLabel: "k", pin: "987654" };
  const seal: NewSeal = { kind: "pkcs11", wrapper: openPkcs11Wrapper(key, { random }) };
  const missing = { code: "back_end_missing", message: expect.stringContaining('npm install "pkcs11js@') };
  await expect(open(newStore(), seal)).rejects.toMatchObject(missing);
  const { store, unseal, ciphertext } = await made("key");
  await expect(rekeyVault(parts(store), unseal, seal)).rejects.toMatchObject(missing);
  expect(await (await open(store, unseal)).decrypt("k", ciphertext)).toEqual(utf8("secret"));
});

test("any member of a seal that is altered opens nothing", async () => {
  for (const kind of Object.keys(kinds)) {
    const { store, unseal } = await made(kind);
    const doc = await docOf(store);
    const altered = (value: unknown): unknown => {
      if (typeof value === "string") return value.replace(/[A-Za-z0-9](?=[^A-Za-z0-9]*$)/, (c) => (c === "A" ? "B" : "A"));
      if (typeof value === "number") return value + 1;
      return Array.isArray(value) ? [altered(value[0]), ...value.slice(1)] : value;
    };
    const places = Object.keys(doc).filter((name) => doc[name] !== null && typeof doc[name] !== "object");
    const variants = places.map((name) => ({ ...doc, [name]: altered(doc[name]) }));
    const shares = doc["shares"] as JsonObject | undefined;
    for (const name of Object.keys(shares ?? {}))
      variants.push({ ...doc, shares: { ...shares, [name]: altered(shares?.[name]) } });
    for (const variant of [...variants, { ...doc, more: 1 }])
      await expect(openSeal(crypto, unseal, variant as JsonObject), JSON.stringify(variant)).rejects.toThrow(unavailable);
  }
});

/** A store whose process is killed at its n-th operation, before it or after. */
function dying(store: DocumentStore, at: number, when: "before" | "after") {
  let count = 0;
  const killed = () => new Error("killed");
  const step =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      const turn = count++;
      if (turn > at || (turn === at && when === "before")) throw killed();
      const result = await work(...args);
      if (turn === at) throw killed();
      return result;
    };
  const dead: DocumentStore = {
    ...store,
    get: step((coll, id) => store.get(coll, id)),
    commit: step((commit) => store.commit(commit)),
    expunge: step(async () => store.expunge?.()),
  };
  return { dead, steps: () => count };
}

test("a rekey that is killed at any point leaves a vault that its old or its new key opens, and goes through when it is done again", async () => {
  const some = ["key", "shamir", "transit"];
  for (const [a, b] of pairs.filter((pair) => pair.every((kind) => some.includes(kind)))) {
    for (let at = 0, over = false; !over; at++) {
      for (const when of ["before", "after"] as const) {
        const { store, unseal, ciphertext } = await made(a);
        const seal = kinds[b]!();
        const { dead, steps } = dying(store, at, when);
        const held: string[] = [];
        const work = async () => {
          held.push(...(await rekeyVault(parts(dead), unseal, seal)));
          if (seal.kind === "shamir") await verifyRekey(parts(dead), await from((await stagedSeal(store))!, held));
        };
        const ended = await work().then(
          () => true,
          () => false,
        );
        if (ended) over = steps() <= at;
        // Somebody holds what opens it.
        const now = await docOf(store);
        const fresh =
          seal.kind === "shamir" && held.length === 0 ? undefined : await unsealOf(now, seal, held).catch(() => undefined);
        const opened = await Promise.any([unseal, ...(fresh === undefined ? [] : [fresh])].map((by) => open(store, by)));
        expect(await opened.decrypt("k", ciphertext), `${a} to ${b}, killed ${when} ${at}`).toEqual(utf8("secret"));
        const holder = await openSeal(crypto, unseal, now).then(
          () => unseal,
          () => fresh!,
        );
        const next: NewSeal = { kind: "key", key: random(32) };
        await rekeyVault(parts(store), holder, next);
        expect(await (await open(store, next)).decrypt("k", ciphertext)).toEqual(utf8("secret"));
      }
    }
  }
});

test("after a rekey no file of the store holds the old seal, also when the process was killed before it was taken out", async () => {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-rekey-"));
  const openAt = (name: string) => openLevelStore({ path: join(directory, name), collections: vaultCollections });
  const holds = async (name: string, text: string): Promise<boolean> => {
    const files = (await readdir(join(directory, name))).filter((file) => /\.(log|ldb)$/.test(file));
    const texts = await Promise.all(files.map((file) => readFile(join(directory, name, file), "latin1")));
    return texts.some((found) => found.includes(text));
  };
  try {
    for (const kill of [false, true]) {
      const name = kill ? "killed" : "whole";
      const { store, unseal } = await made("key", await openAt(name));
      const old = String((await docOf(store))["sealed"]).slice(0, 40);
      const seal: NewSeal = { kind: "key", key: random(32) };
      // Operations of a rekey: the seal is read, replaced, and then taken out of the files.
      await rekeyVault(parts(kill ? dying(store, 1, "after").dead : store), unseal, seal).catch(() => []);
      if (kill) {
        expect(await holds(name, old)).toBe(true);
        await open(store, seal);
      }
      await store.close();
      expect(await holds(name, old)).toBe(false);
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
