import { admitWrite, type ChunkRef, durabilityName, storageError } from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { Check, Put } from "@seneschal/kernel/ports";
import type { Buffers } from "../bytes/buffers.ts";
import { sealOverhead } from "../bytes/chunk-work.ts";
import { fragmentsOf, stripeLength } from "../bytes/stripes.ts";
import type { ClusterControl } from "../cluster/cluster-control.ts";
import type { StorageContext } from "../context.ts";
import {
  type NamedChunk,
  nameChunk,
  openChunk,
  type SealedChunk,
  sealChunk,
  unwrapParameters,
  wrapParameters,
} from "../keys/chunk-crypto.ts";
import type { KeyManager, MasterKey } from "../keys/key-manager.ts";
import type { TenantKeys } from "../keys/tenant-keys.ts";
import type { ChunkDoc } from "../schema.ts";
import { type DeviceSet, poolFill } from "./devices.ts";
import { type FragmentIo, nameOf, poolStripe, sealedMemory } from "./fragment-io.ts";
import type { MemoryBudget } from "./memory-budget.ts";

/** What became of the commit that a chunk was taken for; `unknown`: it may stand. */
export type ChunkOutcome = "committed" | "unused" | "unknown";

/** One reference to a chunk, and the condition that its tenant is not shredded meanwhile: both belong into the commit. */
interface Taken {
  readonly put: Put;
  readonly check: Check;
}

/** A chunk on its way into an object. */
export interface PreparedChunk {
  readonly ref: ChunkRef;
  /**
   * The put that takes one reference, to be committed with whatever refers to the chunk. Writes the fragments first when
   * no such chunk exists, or when it cannot be read: a chunk that is lost is made whole again. Call it again after a conflict.
   */
  take(): Promise<Taken>;
  /** After the commit, or instead of it: drops fragments that are certainly not the chunk's. */
  settle(outcome: ChunkOutcome): Promise<void>;
}

/** Content-addressed, deduplicated, encrypted, erasure-coded chunks. */
export interface ChunkStore {
  /** Throws `KeyManagerUnavailable`, `TenantKmsUnreachable`, `PoolFull`, `PoolReadOnly`. */
  prepare(tenant: string, plaintext: Uint8Array): Promise<PreparedChunk>;
  /**
   * The plaintext, in memory that whoever reads it may give back to the store's buffers. Throws `ChunkLost`, `DataCorruption` and the key
   * errors; never returns other bytes.
   */
  read(tenant: string, ref: ChunkRef): Promise<Uint8Array>;
  /** Seals bytes that stay in metadata. */
  sealInline(tenant: string, plaintext: Uint8Array): Promise<SealedChunk & { readonly key: string; readonly check: Check }>;
  openInline(tenant: string, chunk: SealedChunk & { readonly key: string }): Promise<Uint8Array>;
}

export interface ChunkStoreParts {
  readonly context: StorageContext;
  readonly cluster: ClusterControl;
  readonly devices: DeviceSet;
  readonly io: FragmentIo;
  readonly memory: Pick<MemoryBudget, "code">;
  readonly buffers: Buffers;
  readonly keys: KeyManager;
  readonly tenants: TenantKeys;
  /** The pool that new data goes to first. */
  readonly defaultPool: () => string;
  /** Called when a read found that too few fragments of a chunk are left. */
  readonly onLost: (chunk: string) => void;
  /** Called when a read met bad fragments that parity covered. */
  readonly onBadFragments: (chunk: string) => void;
}

export function createChunkStore(parts: ChunkStoreParts): ChunkStore {
  const { context, cluster, devices, io, memory, buffers, keys, tenants } = parts;
  const { crypto, random, store, metrics } = context;

  const name = async (tenant: string, plaintext: Uint8Array) => {
    const { kek, dedup } = await tenants.key(tenant);
    return { kek, ...(await nameChunk(crypto, tenant, plaintext, dedup ? undefined : kek)) };
  };

  /** Seals a chunk and writes its fragments. */
  const writeChunk = async (pool: string, master: MasterKey, chunk: NamedChunk): Promise<ChunkDoc> => {
    const { stripe, acknowledge } = poolStripe(cluster, pool);
    const { id, plaintext } = chunk;
    const bytes = plaintext.length + sealOverhead;
    const place = buffers.take(stripeLength(bytes, stripe));
    const made = await sealChunk(crypto, random, master, chunk, place, stripe);
    metrics.ecEncode.observe({ strategy: durabilityName(nameOf(stripe)) }, made.encodeSeconds);
    const fragments = await io.write(id, pool, acknowledge, fragmentsOf(place, bytes, stripe));
    buffers.give(place);
    return {
      pool,
      size: plaintext.length,
      sealed: bytes,
      epoch: made.chunk.epoch,
      nonce: Buffer.from(made.chunk.nonce).toString("base64"),
      data: stripe.data,
      parity: stripe.parity,
      fragments,
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

  /** What a commit must check so that no shred comes before it: the tenant's record, whose key is still the one that was used. */
  const standing = async (tenant: string, used: Uint8Array): Promise<Check> => {
    const { kek, version } = await tenants.key(tenant);
    if (!Buffer.from(kek).equals(used)) throw storageError("ShardUnavailable", "the tenant's key changed meanwhile, try again");
    return { coll: "storage_tenants", id: tenant, version };
  };

  /** Whether the sealed bytes of a chunk can be had: what an upload may count on instead of its own bytes. */
  const readable = async (id: string, chunk: ChunkDoc): Promise<boolean> => {
    try {
      const place = buffers.take(sealedMemory(chunk));
      const { bad } = await io.readSealed(id, chunk, place);
      buffers.give(place);
      if (bad.length > 0) parts.onBadFragments(id);
      return true;
    } catch (error) {
      if (!isCoded(error, "ChunkLost", "ShardUnavailable")) throw error;
      return false;
    }
  };

  return {
    async prepare(tenant, plaintext) {
      const master = await keys.forWrite();
      const { kek, id, secret } = await name(tenant, plaintext);
      const room = admit(plaintext.length);
      /** What this writer wrote, whether or not it becomes the chunk. */
      let written: ChunkDoc | undefined;
      /** What the last `take` put down: the chunk as it was found, new fragments, or new ones in place of those of `replaced`. */
      let used: "own" | "existing" | undefined;
      let replaced: ChunkDoc | undefined;
      /** The placement that was read last, and whether it could be. */
      let looked: { readonly placement: string; readonly readable: boolean } | undefined;
      let epoch = master.epoch;
      const ref = () => ({ id, size: plaintext.length, key: wrapParameters(crypto, random, kek, id, { epoch, secret }) });
      let current = ref();
      return {
        get ref() {
          return current;
        },
        take: () =>
          memory.code(plaintext.length, async () => {
            const check = await standing(tenant, kek);
            const found = await store.get("storage_chunks", id);
            const before = found?.doc as ChunkDoc | undefined;
            // Under the epoch of its first writer: the references of others are bound to it.
            const key = before === undefined ? (written?.epoch ?? master.epoch) : before.epoch;
            if (key !== epoch) {
              epoch = key;
              current = ref();
            }
            if (before !== undefined) {
              const placement = JSON.stringify(before.fragments);
              if (looked?.placement !== placement) looked = { placement, readable: await readable(id, before) };
              if (looked.readable) {
                used = "existing";
                replaced = undefined;
                const doc = { ...before, refs: before.refs + 1 };
                return { check, put: { coll: "storage_chunks", id, doc, ifVersion: found?.version ?? 0 } };
              }
            }
            if (written !== undefined && written.epoch !== epoch) {
              await Promise.all(written.fragments.map(io.drop));
              written = undefined;
            }
            if (written === undefined) {
              written = await writeChunk(room.pool, await keys.forRead(epoch), { tenant, id, secret, plaintext });
            }
            used = "own";
            replaced = before;
            const kept = before === undefined ? {} : { refs: before.refs + 1, created_at: before.created_at };
            return { check, put: { coll: "storage_chunks", id, doc: { ...written, ...kept }, ifVersion: found?.version ?? 0 } };
          }),
        async settle(outcome) {
          room.release();
          // INVARIANT: after an unknown outcome nothing is dropped, old or new. What is nobody's is found by the scrub.
          if (outcome === "unknown") return;
          const committed = outcome === "committed";
          if (written !== undefined && !(committed && used === "own")) await Promise.all(written.fragments.map(io.drop));
          if (!committed) return;
          if (replaced !== undefined) {
            await Promise.all(replaced.fragments.map(io.drop));
            context.emit("info", "device", "a lost chunk was written again by an upload of the same bytes", { chunk: id });
          }
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
          const plaintext = await memory.code(chunk.sealed, async () => {
            const place = buffers.take(sealedMemory(chunk));
            const { sealed, bad } = await io.readSealed(ref.id, chunk, place);
            if (bad.length > 0) parts.onBadFragments(ref.id);
            const nonce = Buffer.from(chunk.nonce, "base64");
            const opened = buffers.take(sealed.length - sealOverhead);
            await openChunk(crypto, tenant, master, parameters.secret, { id: ref.id, epoch: chunk.epoch, nonce, sealed }, opened);
            buffers.give(place);
            return opened;
          });
          metrics.chunkReads.inc({ pool: chunk.pool });
          metrics.chunkReadBytes.inc(plaintext.length);
          return plaintext;
        } catch (error) {
          // Fragments may have moved between the look-up and the read: look once more if the record changed.
          const again = await store.get("storage_chunks", ref.id);
          if (attempt < 3 && again !== undefined && again.version !== found.version) continue;
          if (isCoded(error, "ChunkLost")) parts.onLost(ref.id);
          throw error;
        }
      }
    },

    async sealInline(tenant, plaintext) {
      const master = await keys.forWrite();
      const { kek, id, secret } = await name(tenant, plaintext);
      const key = wrapParameters(crypto, random, kek, id, { epoch: master.epoch, secret });
      const place = new Uint8Array(plaintext.length + sealOverhead);
      const { chunk } = await sealChunk(crypto, random, master, { tenant, id, secret, plaintext }, place);
      return { ...chunk, key, check: await standing(tenant, kek) };
    },

    async openInline(tenant, chunk) {
      const { kek } = await tenants.key(tenant);
      const parameters = unwrapParameters(crypto, kek, chunk.id, chunk.key);
      const plaintext = new Uint8Array(Math.max(0, chunk.sealed.length - sealOverhead));
      await openChunk(crypto, tenant, await keys.forRead(parameters.epoch), parameters.secret, chunk, plaintext);
      return plaintext;
    },
  };
}
