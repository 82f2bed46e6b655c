import { openMemoryStore } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import {
  abortVaultMigration,
  migrateVault,
  openEmbeddedVault,
  openHttpVault,
  type VaultConnection,
  vaultCollections,
} from "@seneschal/adapters/vault";
import type { DocumentStore, Vault } from "@seneschal/kernel/ports";
import fc from "fast-check";
import { expect, test } from "vitest";

const unseal = { kind: "key", key: new Uint8Array(32).fill(7) } as const;
const at = "2026-01-01T00:00:00.000Z";
const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** What happens to a key before it moves. */
interface Life {
  readonly rotations: number;
  readonly minDecryption: number;
  readonly trimmed: boolean;
  readonly deletable: boolean;
}
const life: fc.Arbitrary<Life> = fc.record({
  rotations: fc.nat(3),
  minDecryption: fc.integer({ min: 1, max: 4 }),
  trimmed: fc.boolean(),
  deletable: fc.boolean(),
});

/** Ends with "killed" at the n-th of all calls and commits, which is carried out. */
function dying(
  connection: VaultConnection,
  store: DocumentStore,
  left: number,
): { connection: VaultConnection; store: DocumentStore } {
  let fuse = left;
  const burn = async <T>(work: Promise<T>): Promise<T> => {
    fuse -= 1;
    const done = await work;
    if (fuse < 0) throw new Error("killed");
    return done;
  };
  return {
    connection: { ...connection, call: (...given) => burn(connection.call(...given)) },
    store: { ...store, commit: (...given) => burn(store.commit(...given)) },
  };
}

/** Laws of keys that move from an embedded vault into a transit engine: the emulator's, and a real one's. */
export function migrateVaultSuite(options: {
  readonly label: string;
  readonly runs: number;
  readonly open: () => Promise<VaultConnection>;
}): void {
  const mount = "transit";
  const audit = () => ({ stream: "vault", event: { type: "vault.migrate" } });
  let places = 0;
  const parts = async () => {
    places += 1;
    const store = openMemoryStore({ collections: vaultCollections });
    return { store, crypto: nodeCrypto, random: systemRandom, clock: systemClock, prefix: `${options.label}-${places}` };
  };
  const target = async () => ({ connection: await options.open(), mount, name: "the other" });

  /** Makes keys with such lives, and what each of their versions sealed that may still be opened. */
  const filled = async (
    vault: Vault,
    prefix: string,
    lives: readonly Life[],
  ): Promise<readonly (readonly [string, string, string])[]> => {
    const sealed: (readonly [string, string, string])[] = [];
    for (const [at, { rotations, minDecryption, trimmed, deletable }] of lives.entries()) {
      const name = `${prefix}-key-${at}`;
      await vault.createKey(name);
      const own = [await vault.encrypt(name, text("1"), text(name))];
      for (let version = 2; version <= rotations + 1; version += 1) {
        await vault.rotateKey(name);
        own.push(await vault.encrypt(name, text(String(version)), text(name)));
      }
      const min = Math.min(minDecryption, rotations + 1);
      await vault.configureKey(name, {
        minDecryptionVersion: min,
        minEncryptionVersion: trimmed ? min : 0,
        deletionAllowed: deletable,
      });
      if (trimmed) await vault.trimKey(name, min);
      for (const [index, ciphertext] of own.entries()) if (index + 1 >= min) sealed.push([name, ciphertext, String(index + 1)]);
    }
    return sealed;
  };

  test("whatever became of the keys, and wherever it was cut off, the server opens what the embedded vault sealed, goes on with their versions, and the embedded vault is opened no more", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 3 }), async (lives) => {
        const { prefix, ...all } = await parts();
        const embedded = await openEmbeddedVault({ ...all, unseal });
        const sealed = await filled(embedded, prefix, lives);
        const infos = await Promise.all((await embedded.listKeys()).map((name) => embedded.keyInfo(name)));
        const to = await target();
        for (let cut = 1, killed = true; killed; cut += 3) {
          expect(cut).toBeLessThan(300);
          const cutOff = dying(to.connection, all.store, cut);
          killed = await migrateVault(
            { ...all, store: cutOff.store },
            unseal,
            { ...to, connection: cutOff.connection },
            at,
            audit,
          ).then(
            () => false,
            (error: Error) => {
              if (error.message !== "killed") throw error;
              return true;
            },
          );
        }
        await expect(openEmbeddedVault({ ...all, unseal })).rejects.toMatchObject({
          code: "vault_invalid",
          details: { reason: "moved" },
        });
        expect(await migrateVault(all, unseal, to, at, audit)).toBeUndefined();
        expect(await abortVaultMigration(all)).toBe(false);
        expect((await all.store.auditRead(0, 10)).map(({ event }) => event["type"])).toEqual(["vault.migrate"]);

        const http = openHttpVault({ connection: to.connection, mount });
        for (const [name, ciphertext, plain] of sealed)
          expect(new TextDecoder().decode(await http.decrypt(name, ciphertext, text(name)))).toBe(plain);
        for (const info of infos) {
          const name = info?.name ?? "";
          expect(await http.keyInfo(name)).toEqual(info);
          expect(await http.rotateKey(name)).toBe((info?.latestVersion ?? 0) + 1);
          const renewed = await http.encrypt(name, text("new"));
          expect(renewed).toMatch(`vault:v${(info?.latestVersion ?? 0) + 1}:`);
        }
        to.connection.close();
      }),
      { numRuns: options.runs },
    );
  });

  test("a server that has another key of a name is refused before anything is imported, and the embedded vault stays open", async () => {
    const { prefix, ...all } = await parts();
    const embedded = await openEmbeddedVault({ ...all, unseal });
    const [first, second] = [`${prefix}-a`, `${prefix}-b`];
    await embedded.createKey(first);
    await embedded.createKey(second);
    const to = await target();
    const http = openHttpVault({ connection: to.connection, mount });
    await http.createKey(second);
    await expect(migrateVault(all, unseal, to, at, audit)).rejects.toMatchObject({
      code: "vault_invalid",
      details: { reason: "other_key" },
    });
    expect(await http.keyInfo(first)).toBeUndefined();
    expect(await (await openEmbeddedVault({ ...all, unseal })).listKeys()).toEqual([first, second]);
    to.connection.close();
  });

  test("undone while it is under way, the embedded vault opens again, with the same keys, and can be moved later", async () => {
    const { prefix, ...all } = await parts();
    const embedded = await openEmbeddedVault({ ...all, unseal });
    const name = `${prefix}-a`;
    await embedded.createKey(name);
    const to = await target();
    const cutOff = dying(to.connection, all.store, 4);
    await expect(
      migrateVault({ ...all, store: cutOff.store }, unseal, { ...to, connection: cutOff.connection }, at, audit),
    ).rejects.toThrow("killed");
    await expect(openEmbeddedVault({ ...all, unseal })).rejects.toMatchObject({ details: { reason: "moved" } });
    await expect(migrateVault(all, unseal, { ...to, name: "a third" }, at, audit)).rejects.toMatchObject({
      details: { reason: "moved" },
    });
    expect(await abortVaultMigration(all)).toBe(true);
    const again = await openEmbeddedVault({ ...all, unseal });
    expect(await again.rotateKey(name)).toBe(2);
    expect(await migrateVault(all, unseal, to, at, audit)).toEqual({ keys: 1, versions: 2 });
    to.connection.close();
  });
}
