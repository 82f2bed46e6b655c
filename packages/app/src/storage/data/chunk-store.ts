import type { Put } from "@seneschal/core/ports";
import { admitWrite, durabilityName, storageError } from "@seneschal/core/storage";
import type { ClusterControl } from "../cluster/cluster-control.ts";
import type { StorageContext } from "../context.ts";
import type { ChunkDoc, ChunkRef } from "../documents.ts";
import { nameChunk, openChunk, type SealedChunk, sealChunk, unwrapParameters, wrapParameters } from "../keys/chunk-crypto.ts";
import type { KeyManager } from "../keys/key-manager.ts";
import type { TenantKeys } from "../keys/tenant-keys.ts";
import { type DeviceSet, poolFill } from "./device-set.ts";
import { type FragmentIo, nameOf, poolStripe } from "./fragment-io.ts";
import { toFragments } from "./stripes.ts";

/** A chunk on its way into an object. */
export interface PreparedChunk {
  readonly ref: ChunkRef;
  /**
   * The put that takes one reference, to be committed with whatever refers to the chunk. Writes the fragments first when
   * no such chunk exists. Call it again after a conflict.
   */
  take(): Promise<Put>;
  /** After the commit, or instead of it: drops fragments that did not become the chunk. */
  settle(committed: boolean): Promise<void>;
}

/** Content-addressed, deduplicated, encrypted, erasure-coded chunks. */
export interface ChunkStore {
  /** Throws `KeyManagerUnavailable`, `TenantKmsUnreachable`, `PoolFull`, `PoolReadOnly`. */
  prepare(tenant: string, plaintext: Uint8Array): Promise<PreparedChunk>;
  /** The plaintext. Throws `ChunkLost`, `DataCorruption` and the key errors; never returns other bytes. */
  read(tenant: string, ref: ChunkRef): Promise<Uint8Array>;
  /** Seals bytes that stay in metadata. */
  sealInline(tenant: string, plaintext: Uint8Array): Promise<SealedChunk & { readonly key: string }>;
  openInline(tenant: string, chunk: SealedChunk & { readonly key: string }): Promise<Uint8Array>;
}

export interface ChunkStoreParts {
  readonly context: StorageContext;
  readonly cluster: ClusterControl;
  readonly devices: DeviceSet;
  readonly io: FragmentIo;
  readonly keys: KeyManager;
  readonly tenants: TenantKeys;
  /** The pool that new data goes to first. */
  readonly defaultPool: () => string;
  /** Called when a read met bad fragments that parity covered. */
  readonly onBadFragments: (chunk: string) => void;
}

export function createChunkStore(parts: ChunkStoreParts): ChunkStore {
  const { context, cluster, devices, io, keys, tenants } = parts;
  const { crypto, random, store, metrics } = context;

  const name = async (tenant: string, plaintext: Uint8Array) => {
    const { kek, dedup } = await tenants.key(tenant);
    return { kek, ...nameChunk(crypto, plaintext, dedup ? undefined : kek) };
  };

  const writeFragments = async (id: string, pool: string, sealed: SealedChunk, size: number): Promise<ChunkDoc> => {
    const { stripe, acknowledge } = poolStripe(cluster, pool);
    const timer = metrics.ecEncode.startTimer({ strategy: durabilityName(nameOf(stripe)) });
    const fragments = toFragments(sealed.sealed, stripe);
    timer();
    return {
      pool,
      size,
      sealed: sealed.sealed.length,
      epoch: sealed.epoch,
      nonce: Buffer.from(sealed.nonce).toString("base64"),
      data: stripe.data,
      parity: stripe.parity,
      fragments: await io.write(id, pool, acknowledge, fragments),
      refs: 1,
      created_at: context.clock.now(),
    };
  };

  /** Where the bytes may go, with the room held until the write is settled. */
  const admit = (bytes: number): { readonly pool: string; readonly release: () => void } => {
    const wanted = parts.defaultPool();
    const { stripe } = poolStripe(cluster, wanted);
    const onDisk = Math.ceil((bytes * (stripe.data + stripe.parity)) / stripe.data);
    const fills = Object.keys(cluster.state.pools).map((id) => poolFill(cluster.state, devices, id));
    const own = fills.find((f) => f.id === wanted);
    if (own === undefined) throw storageError("PoolFull", "no pool takes data");
    const admission = admitWrite(own, onDisk, fills);
    if (admission.kind === "refuse")
      throw storageError(admission.error, `pool ${wanted} is ${admission.state.replace("_", " ")}`, { pool: wanted });
    return { pool: admission.pool, release: devices.reserve(admission.pool, onDisk) };
  };

  return {
    async prepare(tenant, plaintext) {
      const master = await keys.forWrite();
      const { kek, id, secret } = await name(tenant, plaintext);
      const room = admit(plaintext.length);
      let written: ChunkDoc | undefined;
      let used: "own" | "existing" | undefined;
      let epoch = master.epoch;
      const ref = () => ({ id, size: plaintext.length, key: wrapParameters(crypto, random, kek, id, { epoch, secret }) });
      let current = ref();
      return {
        get ref() {
          return current;
        },
        async take() {
          const found = await store.get("storage_chunks", id);
          if (found !== undefined) {
            const doc = found.doc as ChunkDoc;
            used = "existing";
            // The chunk was sealed under the epoch of its first writer.
            if (doc.epoch !== epoch) {
              epoch = doc.epoch;
              current = ref();
            }
            return { coll: "storage_chunks", id, doc: { ...doc, refs: doc.refs + 1 }, ifVersion: found.version };
          }
          if (written === undefined) {
            const sealed = sealChunk(crypto, random, master, id, secret, plaintext);
            written = await writeFragments(id, room.pool, sealed, plaintext.length);
          }
          if (epoch !== master.epoch) {
            epoch = master.epoch;
            current = ref();
          }
          used = "own";
          return { coll: "storage_chunks", id, doc: written, ifVersion: 0 };
        },
        async settle(committed) {
          room.release();
          if (written !== undefined && !(committed && used === "own")) await Promise.all(written.fragments.map(io.drop));
          if (!committed) return;
          if (used === "existing") metrics.chunkDedupHits.inc({ pool: room.pool });
          metrics.chunkWrites.inc({ pool: room.pool });
          metrics.chunkWriteBytes.inc(plaintext.length);
        },
      };
    },

    async read(tenant, ref) {
      const { kek } = await tenants.key(tenant);
      const parameters = unwrapParameters(crypto, kek, ref.id, ref.key);
      const master = await keys.forRead(parameters.epoch);
      for (let attempt = 0; ; attempt++) {
        const found = await store.get("storage_chunks", ref.id);
        if (found === undefined) throw storageError("ChunkLost", `chunk ${ref.id} has no placement record`, { chunk: ref.id });
        const chunk = found.doc as ChunkDoc;
        try {
          const { sealed, bad } = await io.readSealed(ref.id, chunk);
          if (bad.length > 0) parts.onBadFragments(ref.id);
          const nonce = Buffer.from(chunk.nonce, "base64");
          const plaintext = openChunk(crypto, master, parameters.secret, { id: ref.id, epoch: chunk.epoch, nonce, sealed });
          metrics.chunkReads.inc({ pool: chunk.pool });
          metrics.chunkReadBytes.inc(plaintext.length);
          return plaintext;
        } catch (error) {
          // Fragments may have moved between the look-up and the read: look once more if the record changed.
          const again = await store.get("storage_chunks", ref.id);
          if (attempt >= 3 || again === undefined || again.version === found.version) throw error;
        }
      }
    },

    async sealInline(tenant, plaintext) {
      const master = await keys.forWrite();
      const { kek, id, secret } = await name(tenant, plaintext);
      const key = wrapParameters(crypto, random, kek, id, { epoch: master.epoch, secret });
      return { ...sealChunk(crypto, random, master, id, secret, plaintext), key };
    },

    async openInline(tenant, chunk) {
      const { kek } = await tenants.key(tenant);
      const parameters = unwrapParameters(crypto, kek, chunk.id, chunk.key);
      return openChunk(crypto, await keys.forRead(parameters.epoch), parameters.secret, chunk);
    },
  };
}
