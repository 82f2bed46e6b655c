/** Crypto: providers beside a bare node:crypto loop, threshold signing, the Merkle log, lists, the vault. */
import { createCipheriv, randomBytes } from "node:crypto";
import { openMemoryStore } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemClock, systemRandom } from "@seneschal/adapters/system";
import { connectVault, openEmbeddedVault, openHttpVault, vaultCollections } from "@seneschal/adapters/vault";
import { startVaultEmulator } from "@seneschal/adapters/vault/emulator";
import { ARGON2_DEFAULT, bindRecord, nobleCrypto, sealRecord, utf8 } from "@seneschal/crypto";
import { CompactRange } from "@seneschal/crypto/merkle";
import {
  dealCrk,
  dealRefresh,
  refreshedPublic,
  refreshShare,
  reshareWithShares,
  seenBy,
  signWithShares,
} from "@seneschal/crypto/threshold";
import { createRevocationList, createRoot, localSigner, newPrivateKey, newSerial } from "@seneschal/crypto/x509";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import { type Bench, type BenchResult, rate } from "../bench.ts";

/** Median milliseconds of a few runs. */
async function millis(work: () => unknown, runs = 5): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[Math.floor(runs / 2)] ?? 0;
}

/** What node:crypto does in a loop without any of our code around it. */
function bareLoop(size: number): () => void {
  const key = randomBytes(32);
  const aad = randomBytes(64);
  const data = randomBytes(size);
  return () => {
    const cipher = createCipheriv("aes-256-gcm", key, randomBytes(12), { authTagLength: 16 });
    cipher.setAAD(aad);
    Buffer.concat([cipher.update(data), cipher.final(), cipher.getAuthTag()]);
  };
}

const aead: Bench = {
  name: "crypto/aead",
  async run() {
    const results: BenchResult[] = [];
    const key = systemRandom(32);
    const aad = systemRandom(64);
    for (const [label, size] of [
      ["1 KiB", 1024],
      ["64 KiB", 65536],
    ] as const) {
      const data = systemRandom(size);
      const bare = rate(bareLoop(size), 500);
      const speeds = new Map<CryptoProvider, number>();
      for (const provider of [nodeCrypto, nobleCrypto]) {
        const value = rate(() => provider.seal(key, systemRandom(12), data, aad), 500);
        speeds.set(provider, value);
        results.push({
          name: `crypto/aead seal ${label} ${provider.name}`,
          value,
          unit: "ops/s",
          peer: "bare node:crypto",
          peerValue: bare,
          ratio: value / bare,
        });
      }
      const [node = 0, noble = 1] = [speeds.get(nodeCrypto), speeds.get(nobleCrypto)];
      if (size > 1024)
        results.push({ name: `crypto/aead node over noble ${label}`, value: node / noble, unit: "times", bar: ">= 10" });
      else {
        const place = { domain: "seneschal/workspace-data/v1", workspaceId: "w1", context: { purpose: "billing" } };
        const value = rate(() => sealRecord(nodeCrypto, { key, version: 1 }, bindRecord(place), data, systemRandom), 500);
        results.push({
          name: "crypto/record seal 1 KiB node",
          value,
          unit: "ops/s",
          peer: "bare node:crypto",
          peerValue: bare,
          ratio: value / bare,
          bar: ">= 20,000/s, >= 40 %",
        });
      }
    }
    return results;
  },
};

const threshold: Bench = {
  name: "crypto/frost",
  async run() {
    const { crk, shares } = dealCrk({ threshold: 3, total: 5, random: systemRandom });
    const submitted = shares.slice(0, 3).map((share) => ({ index: share.index, data: share.encode() }));
    const message = utf8("a message");
    const refresh = () => {
      const deals = [1, 2, 3].map((from) => dealRefresh(crk, from, systemRandom));
      refreshedPublic(crk, deals);
      for (const share of shares) refreshShare(crk, share, seenBy(deals, share.index));
    };
    return [
      {
        name: "crypto/frost sign 3 of 5",
        value: await millis(() => signWithShares(crk, submitted, message, systemRandom)),
        unit: "ms",
        bar: "< 100",
      },
      { name: "crypto/frost refresh 3 of 5, all holders", value: await millis(refresh), unit: "ms", bar: "< 200" },
      {
        name: "crypto/frost reshare 3 of 5 to 4 of 7",
        value: await millis(() => reshareWithShares(crk, submitted, { threshold: 4, total: 7, random: systemRandom })),
        unit: "ms",
        bar: "< 200",
      },
    ];
  },
};

const merkle: Bench = {
  name: "crypto/merkle",
  async run() {
    const leaf = utf8(
      JSON.stringify({
        id: "0123456789abcdef",
        type: "encrypt",
        actor: "alice",
        at: "2026-01-01T00:00:00.000Z",
        workspace: "w1",
      }),
    );
    const appends = (hash?: (data: Uint8Array) => Uint8Array) => {
      const log = new CompactRange(0, [], hash);
      return rate(() => log.append(leaf), 1000);
    };
    const node = (data: Uint8Array) => nodeCrypto.hash("sha256", data);
    const verify = async () => {
      const log = new CompactRange(0, [], node);
      for (let i = 0; i < 1_000_000; i++) log.append(leaf);
      log.root();
    };
    return [
      { name: "crypto/merkle append noble", value: appends(), unit: "leaves/s", bar: ">= 50,000/s" },
      { name: "crypto/merkle append node", value: appends(node), unit: "leaves/s", bar: ">= 50,000/s" },
      { name: "crypto/merkle verify 1,000,000 records", value: (await millis(verify, 1)) / 1000, unit: "s", bar: "<= 6 s" },
    ];
  },
};

const lists: Bench = {
  name: "crypto/crl",
  async run() {
    const signer = localSigner(nodeCrypto, newPrivateKey(nodeCrypto, "p256", systemRandom));
    const now = systemClock.now();
    const certificate = await createRoot(nodeCrypto, signer, {
      serial: newSerial(systemRandom),
      subject: [{ type: "CN", value: "bench" }],
      notBefore: now,
      notAfter: now + 3_600_000,
    });
    const results: BenchResult[] = [];
    for (const [count, bar] of [
      [10_000, "< 300"],
      [100_000, "< 2000"],
    ] as const) {
      const entries = Array.from({ length: count }, () => ({
        serial: newSerial(systemRandom),
        revokedAt: now,
        reason: "superseded" as const,
      }));
      let longest = 0;
      let last = 0;
      const build = () => {
        last = performance.now();
        return createRevocationList(
          { certificate, signer },
          {
            entries,
            number: 1,
            thisUpdate: now,
            nextUpdate: now + 3_600_000,
            pause: async () => {
              longest = Math.max(longest, performance.now() - last);
              await new Promise((resolve) => setImmediate(resolve));
              last = performance.now();
            },
          },
        );
      };
      results.push({ name: `crypto/crl build ${count.toLocaleString("en")}`, value: await millis(build, 3), unit: "ms", bar });
      longest = Math.max(longest, performance.now() - last);
      results.push({
        name: `crypto/crl longest slice of ${count.toLocaleString("en")}`,
        value: longest,
        unit: "ms",
        bar: "< 50",
      });
    }
    return results;
  },
};

const passwords: Bench = {
  name: "crypto/argon2id",
  run: async () => [
    {
      name: "crypto/argon2id default cost node",
      value: await millis(() => nodeCrypto.argon2id(utf8("password"), systemRandom(16), ARGON2_DEFAULT, 32), 3),
      unit: "ms",
      bar: "< 1000",
    },
  ],
};

const vault: Bench = {
  name: "crypto/vault",
  async run() {
    const plaintext = systemRandom(32);
    const embedded = await openEmbeddedVault({
      store: openMemoryStore({ collections: vaultCollections }),
      crypto: nodeCrypto,
      random: systemRandom,
      clock: systemClock,
      unseal: { kind: "key", key: systemRandom(32) },
    });
    const emulator = await startVaultEmulator({ crypto: nodeCrypto, random: systemRandom, now: systemClock.now });
    const connection = connectVault({
      address: emulator.address,
      auth: { kind: "token", token: emulator.rootToken },
      now: systemClock.now,
    });
    const http = openHttpVault({ connection });
    for (const v of [embedded, http]) await v.createKey("bench");
    const perSecond = async (calls: number, work: () => Promise<unknown>, items = 1) => {
      for (let i = 0; i < calls / 10; i++) await work();
      const ms = await millis(async () => {
        for (let i = 0; i < calls; i++) await work();
      }, 3);
      return (calls * items * 1000) / ms;
    };
    const items = Array.from({ length: 100 }, () => ({ plaintext }));
    const single = await perSecond(1000, () => http.encrypt("bench", plaintext));
    const batch = await perSecond(50, () => http.encryptMany("bench", items), 100);
    const results: BenchResult[] = [
      {
        name: "crypto/vault embedded encrypt 32 B",
        value: await perSecond(5000, () => embedded.encrypt("bench", plaintext)),
        unit: "ops/s",
      },
      { name: "crypto/vault http encrypt 32 B", value: single, unit: "ops/s" },
      {
        name: "crypto/vault http batch of 100",
        value: batch,
        unit: "items/s",
        peer: "single calls",
        peerValue: single,
        ratio: batch / single,
        bar: ">= 10 times",
      },
    ];
    connection.close();
    await emulator.close();
    return results;
  },
};

export const benches: readonly Bench[] = [aead, threshold, merkle, lists, passwords, vault];
