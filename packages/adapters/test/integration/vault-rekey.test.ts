import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { openPostgresStore } from "@seneschal/adapters/postgres";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import {
  connectVault,
  initVault,
  type NewSeal,
  openEmbeddedVault,
  openHttpVault,
  openTransitWrapper,
  rekeyVault,
  sharesOf,
  stagedSeal,
  storedSeal,
  type Unseal,
  vaultCollections,
  verifyRekey,
} from "@seneschal/adapters/vault";
import { startVaultEmulator } from "@seneschal/adapters/vault/emulator";
import { utf8 } from "@seneschal/crypto";
import { combineSecret, Share } from "@seneschal/crypto/threshold";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, postgresBinaries, startPostgres } from "../../../../tools/postgres-cluster.ts";

const real = process.env["VAULT_ADDR"];
const crypto = nodeCrypto;
const random = systemRandom;

/** The transit engine over HTTP is the emulator, or the Vault or OpenBao at `VAULT_ADDR`. */
if (postgresBinaries() === undefined) test.skip("PostgreSQL is not installed (apt-get install postgresql)", () => {});
else
  describe("the unseal key of a vault in PostgreSQL", () => {
    let server: PostgresServer;
    let emulator: Awaited<ReturnType<typeof startVaultEmulator>> | undefined;
    let kinds: Readonly<Record<string, () => NewSeal>>;
    const places: DocumentStore[] = [];
    beforeAll(async () => {
      server = await startPostgres();
      if (real === undefined) emulator = await startVaultEmulator({ crypto, random, now: Date.now });
      const auth = { kind: "token", token: emulator?.rootToken ?? process.env["VAULT_TOKEN"] ?? "" } as const;
      const connection = await connectVault({ address: emulator?.address ?? real ?? "", auth, now: Date.now });
      const elsewhere = openHttpVault({ connection });
      const name = `unseal-${Date.now()}`;
      await elsewhere.createKey(name);
      kinds = {
        key: () => ({ kind: "key", key: random(32) }),
        shamir: () => ({ kind: "shamir", shares: 5, threshold: 3 }),
        transit: () => ({ kind: "transit", wrapper: openTransitWrapper(elsewhere, name) }),
      };
    });
    afterAll(async () => {
      for (const store of places) await store.close();
      await emulator?.close();
      await server.destroy();
    });

    const placeOf = async (namespace: string): Promise<DocumentStore> => {
      const store = await openPostgresStore({ url: server.url, namespace, collections: vaultCollections });
      places.push(store);
      return store;
    };
    const open = (store: DocumentStore, unseal: Unseal) =>
      openEmbeddedVault({ store, crypto, random, clock: systemClock, unseal });
    const from = (doc: JsonObject, shares: readonly string[]): Promise<Uint8Array> => {
      const record = sharesOf(doc);
      const given = shares.slice(-record.threshold).map((data) => ({ index: Share.decode(data).index, data }));
      return combineSecret(record, given);
    };
    const docOf = async (store: DocumentStore): Promise<JsonObject> => (await storedSeal(store))!.doc;
    const unsealOf = async (doc: JsonObject, seal: NewSeal, shares: readonly string[]): Promise<Unseal> =>
      seal.kind === "shamir" ? { kind: "shamir", key: await from(doc, shares) } : seal;

    test("rotates from each seal to each beside a vault that serves, which goes on; who opens it next does so by the new alone", async () => {
      const names = Object.keys(kinds);
      for (const [a, b] of names.flatMap((one) => names.map((other) => [one, other] as const))) {
        const [serving, operator] = [await placeOf(`rekey_${a}_${b}`), await placeOf(`rekey_${a}_${b}`)];
        const old = kinds[a]!();
        const held = await initVault({ store: serving, crypto, random }, old);
        const before = await docOf(serving);
        const unseal = await unsealOf(before, old, held);
        const vault = await open(serving, unseal);
        await vault.createKey("k");
        const ciphertext = await vault.encrypt("k", utf8("secret"));

        const parts = { store: operator, crypto, random };
        const seal = kinds[b]!();
        const shares = await rekeyVault(parts, unseal, seal);
        if (seal.kind === "shamir") {
          // Nobody has shown to have the new shares: the old seal stands.
          expect(await docOf(serving), `${a} to ${b}`).toEqual(before);
          await verifyRekey(parts, await from((await stagedSeal(operator))!, shares));
        }
        expect(await stagedSeal(serving)).toBeUndefined();
        expect((await docOf(serving))["sealed"], `${a} to ${b}`).not.toBe(before["sealed"]);

        const during = await vault.encrypt("k", utf8("meanwhile"));
        await vault.createKey("later");
        const again = await open(await placeOf(`rekey_${a}_${b}`), await unsealOf(await docOf(serving), seal, shares));
        expect(await again.decrypt("k", ciphertext)).toEqual(utf8("secret"));
        expect(await again.decrypt("k", during)).toEqual(utf8("meanwhile"));
        expect((await again.listKeys()).length).toBe(2);
        if (a !== "transit" || b !== "transit") {
          await expect(open(operator, unseal), `${a} to ${b}`).rejects.toThrow(
            expect.objectContaining({ code: "vault_unavailable" }),
          );
        }
      }
    });
  });
