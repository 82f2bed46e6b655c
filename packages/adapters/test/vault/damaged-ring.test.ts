import { openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { isCoded, type JsonObject } from "@seneschal/kernel";
import { describe, expect, test } from "vitest";

const unseal = { kind: "key", key: new Uint8Array(32).fill(7) } as const;
const parts = { crypto: nodeCrypto, random: systemRandom, clock: settableClock(0), unseal };

/** A document with one bit of its text flipped; `undefined` where it is no JSON object any more: the store says so itself. */
function flipped(doc: JsonObject, bit: number): JsonObject | undefined {
  const bytes = Buffer.from(JSON.stringify(doc));
  bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
  try {
    const changed: unknown = JSON.parse(bytes.toString());
    return typeof changed === "object" && changed !== null ? (changed as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

describe("of the key ring of the embedded vault", () => {
  test.each([
    ["vault_seal", "root"],
    ["vault_keys", "k"],
  ])("every flipped bit of %s/%s is found at the start or by the first use, and named", async (coll, id) => {
    const store = openMemoryStore({ collections: vaultCollections });
    const vault = await openEmbeddedVault({ ...parts, store });
    await vault.createKey("k");
    const sealed = await vault.encrypt("k", Uint8Array.of(1, 2, 3));
    const whole = (await store.get(coll, id))?.doc as JsonObject;
    let tried = 0;
    for (let bit = 0; bit < Buffer.byteLength(JSON.stringify(whole)) * 8; bit += 1) {
      const doc = flipped(whole, bit);
      if (doc === undefined) continue;
      const damaged = {
        ...store,
        get: async (from: string, at: string) => {
          const stored = await store.get(from, at);
          return from === coll && at === id && stored !== undefined ? { ...stored, doc } : stored;
        },
      };
      const used = openEmbeddedVault({ ...parts, store: damaged }).then((opened) => opened.decrypt("k", sealed));
      const error: unknown = await used.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(isCoded(error, "vault_unavailable"), `bit ${bit}: ${error}`).toBe(true);
      expect(String(error)).toMatch(/seal|a stored key is damaged/);
      tried += 1;
    }
    expect(tried).toBeGreaterThan(300);
    expect(await (await openEmbeddedVault({ ...parts, store })).decrypt("k", sealed)).toEqual(Uint8Array.of(1, 2, 3));
  });
});
