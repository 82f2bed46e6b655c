import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDirectoryDevice, type StoredExtent, storedExtents } from "@seneschal/adapters/devices";
import { openLogger } from "@seneschal/adapters/logging";
import { createMemoryLog, openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { embeddedPolicyEngine } from "@seneschal/adapters/policy";
import { systemRandom } from "@seneschal/adapters/system";
import type { SmartReading } from "@seneschal/core/storage";
import { CodedError } from "@seneschal/kernel";
import type { BlobDevice, DiskRoom, DocumentStore, Vault } from "@seneschal/kernel/ports";
import { type Authorisation, openAuthorisation } from "../../src/platform/index.ts";
import { openStorageNode, type StorageNode, type StorageNodeOptions } from "../../src/storage/node.ts";
import { storageSchema } from "../../src/storage/schema.ts";

/** A vault in memory that can be taken away. */
export function switchableVault(): Vault & { away: boolean } {
  const keys = new Map<string, { bytes: Buffer; deletionAllowed: boolean }>();
  const vault = {
    away: false,
    open() {
      if (vault.away) throw new CodedError("vault_unavailable", "away");
    },
    key(name: string) {
      vault.open();
      const key = keys.get(name);
      if (key === undefined) throw new CodedError("key_not_found", name);
      return key;
    },
    async createKey(name: string) {
      vault.open();
      keys.set(name, { bytes: randomBytes(32), deletionAllowed: false });
    },
    async keyInfo(name: string) {
      vault.open();
      return keys.has(name)
        ? { name, latestVersion: 1, minDecryptionVersion: 1, minEncryptionVersion: 0, deletionAllowed: false }
        : undefined;
    },
    async listKeys() {
      vault.open();
      return [...keys.keys()];
    },
    async rotateKey() {
      return 1;
    },
    async configureKey(name: string, config: { readonly deletionAllowed?: boolean }) {
      vault.key(name).deletionAllowed = config.deletionAllowed ?? false;
    },
    async deleteKey(name: string) {
      if (!vault.key(name).deletionAllowed) throw new CodedError("deletion_not_allowed", name);
      keys.delete(name);
    },
    async encrypt(name: string, plaintext: Uint8Array, aad: Uint8Array = new Uint8Array()) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", vault.key(name).bytes, nonce).setAAD(aad);
      return `vault:v1:${Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]).toString("base64")}`;
    },
    async decrypt(name: string, ciphertext: string, aad: Uint8Array = new Uint8Array()) {
      const bytes = Buffer.from(ciphertext.slice("vault:v1:".length), "base64");
      const cipher = createDecipheriv("aes-256-gcm", vault.key(name).bytes, bytes.subarray(0, 12)).setAAD(aad);
      cipher.setAuthTag(bytes.subarray(-16));
      try {
        return new Uint8Array(Buffer.concat([cipher.update(bytes.subarray(12, -16)), cipher.final()]));
      } catch {
        throw new CodedError("decryption_failed", name);
      }
    },
    async rewrap(_name: string, ciphertext: string) {
      return ciphertext;
    },
    async health() {
      vault.open();
      return { sealed: false, initialized: true, version: "test" };
    },
  };
  return vault as unknown as Vault & { away: boolean };
}

/** A device that can stop answering, and whose file system can be said to have other room than it has. */
export function switchableDevice(device: BlobDevice): BlobDevice & { away: boolean; disk: DiskRoom | undefined } {
  const guard = async (): Promise<BlobDevice> => {
    if (wrapped.away) throw new CodedError("device_unavailable", `device ${device.id} does not answer`);
    return device;
  };
  const wrapped = {
    away: false,
    disk: undefined as DiskRoom | undefined,
    id: device.id,
    write: async (extent: string, bytes: Uint8Array) => (await guard()).write(extent, bytes),
    read: async (extent: string, into?: Uint8Array) => (await guard()).read(extent, into),
    has: async (extent: string) => (await guard()).has(extent),
    delete: async (extent: string) => (await guard()).delete(extent),
    async *list() {
      yield* (await guard()).list();
    },
    usage: async () => {
      const usage = await (await guard()).usage();
      return { ...usage, ...(wrapped.disk && { disk: wrapped.disk }) };
    },
    inspect: async () => (await guard()).inspect(),
    reclaim: async () => (await guard()).reclaim?.(),
    close: () => device.close(),
  };
  return wrapped;
}

export interface Rig {
  readonly node: StorageNode;
  readonly vault: ReturnType<typeof switchableVault>;
  readonly clock: ReturnType<typeof settableClock>;
  readonly store: DocumentStore;
  readonly devices: ReadonlyMap<string, ReturnType<typeof switchableDevice>>;
  readonly directory: string;
  readonly smart: Map<string, SmartReading>;
  /** The same store, devices and vault under a new node, as after a crash. */
  restart(): Promise<Rig>;
  /** What a device keeps, by name. */
  extents(device: string): Promise<readonly StoredExtent[]>;
  dispose(): Promise<void>;
}

export interface RigOptions {
  readonly devices?: number;
  readonly capacityBytes?: number;
  readonly data?: number;
  readonly parity?: number;
  readonly extra?: Partial<StorageNodeOptions>;
  readonly tenants?: readonly string[];
}

/** A whole node on temporary directories: `d0`, `d1`, ... in pool `fast`, tenants `alpha` and `beta`. */
export async function openRig(options: RigOptions = {}): Promise<Rig> {
  const directory = await mkdtemp(join(tmpdir(), "seneschal-storage-"));
  const vault = switchableVault();
  const clock = settableClock(Date.UTC(2026, 0, 1));
  const store = openMemoryStore(storageSchema);
  const log = createMemoryLog();
  const smart = new Map<string, SmartReading>();
  const open = async (): Promise<Rig> => {
    const capacityBytes = options.capacityBytes ?? 64 << 20;
    const devices = new Map<string, ReturnType<typeof switchableDevice>>();
    for (let i = 0; i < (options.devices ?? 7); i++) {
      const id = `d${i}`;
      devices.set(id, switchableDevice(await openDirectoryDevice({ id, directory: join(directory, id), capacityBytes })));
    }
    const node = await openStorageNode({
      nodeId: "node-1",
      address: "127.0.0.1:9090",
      dataAddress: "127.0.0.1:9100",
      store,
      clusterLog: log.open(),
      clock,
      random: systemRandom,
      crypto: nodeCrypto,
      log: openLogger({ level: "silent" }),
      vault,
      devices: [...devices.values()].map((device) => ({
        id: device.id,
        open: async () => device,
        pool: "fast",
        class: "ssd",
        capacityBytes,
      })),
      pools: [{ id: "fast", class: "ssd", durability: { kind: "ec", data: options.data ?? 4, parity: options.parity ?? 2 } }],
      readSmart: async (device) => smart.get(device),
      async openDevice({ id, directory: at, capacityBytes: bytes }) {
        const device = switchableDevice(await openDirectoryDevice({ id, directory: at, capacityBytes: bytes }));
        devices.set(id, device);
        return device;
      },
      ...options.extra,
    });
    for (const tenant of options.tenants ?? ["alpha", "beta"])
      await node.tenants.create(tenant, { dedup: true }, { id: "test", source: "test" }).catch(() => undefined);
    return {
      node,
      vault,
      clock,
      store,
      devices,
      directory,
      smart,
      async restart() {
        // Two openings of one directory would write it over each other.
        for (const device of devices.values()) await device.close();
        return open();
      },
      extents: (device) => storedExtents(join(directory, device)),
      async dispose() {
        await node.stop();
        // A repair that a read asked for may still be writing.
        await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
      },
    };
  };
  return open();
}

/** How long a decision may take here, milliseconds: on a busy machine none is denied for want of time. */
export const patience = 120_000;

/** The shipped policy, or another source in its place. */
export function storageAuthorisation(source?: string): Promise<Authorisation> {
  return openAuthorisation({ engine: embeddedPolicyEngine({ budgets: { milliseconds: patience } }), service: "storage", source });
}

export const operator = { id: "operator", source: "test" };

export async function* bytesOf(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** Repeatable bytes that do not compress or repeat. */
export function pattern(length: number, seed = 1): Uint8Array {
  const out = Buffer.alloc(length);
  let x = (seed * 2654435761) >>> 0 || 1;
  for (let i = 0; i < length; i++) {
    x ^= x << 13;
    x >>>= 0;
    x ^= x >>> 17;
    x ^= x << 5;
    x >>>= 0;
    out[i] = x & 255;
  }
  return out;
}

export async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces);
}
