import type { Stripe } from "@seneschal/core/storage";
import {
  durabilityName,
  durabilityOf,
  freeBytes,
  nodeShare,
  placeChunk,
  rankDevices,
  storageError,
  stripeOf,
  takesWrites,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import { codeOf, fragmentLength } from "../bytes/stripes.ts";
import type { ClusterControl } from "../cluster/cluster-control.ts";
import type { StorageContext } from "../context.ts";
import type { ChunkDoc, FragmentRecord } from "../schema.ts";
import { type DeviceSet, deviceFill } from "./devices.ts";

/** What the scrub, the reader and the writer know about one fragment. */
type FragmentState = "good" | "missing" | "corrupt" | "unreachable";

/** Reads and writes fragments on devices: the only code that touches extents. */
export interface FragmentIo {
  /**
   * Writes all fragments to distinct devices; at least `acknowledge` must land, the rest is repaired later. Throws `PoolFull`
   * without room for them, `ShardUnavailable` when there is room on nodes that do not answer.
   */
  write(
    chunkId: string,
    pool: string,
    acknowledge: number,
    fragments: readonly Uint8Array[],
  ): Promise<readonly (FragmentRecord | null)[]>;
  writeOne(chunkId: string, index: number, device: string, bytes: Uint8Array): Promise<FragmentRecord>;
  /** Its bytes may be in `into`, which then has their length. */
  readOne(
    fragment: FragmentRecord | null,
    length: number,
    into?: Uint8Array,
  ): Promise<{ readonly state: FragmentState; readonly bytes?: Uint8Array }>;
  /**
   * The sealed bytes of a chunk, from any `data` good fragments. `bad`: indexes of fragments that are damaged or missing where
   * they should be. Throws `ChunkLost`, or `ShardUnavailable` when the fragments that are needed may only be out of reach. The bytes lie in
   * `memory`, where that is given: it has {@link sealedMemory}.
   */
  readSealed(
    chunkId: string,
    chunk: ChunkDoc,
    memory?: Uint8Array,
  ): Promise<{ readonly sealed: Uint8Array; readonly bad: readonly number[] }>;
  drop(fragment: FragmentRecord | null): Promise<void>;
  /** Devices of a pool that can take a fragment of this length, with weights. */
  candidates(pool: string, length: number): readonly { readonly id: string; readonly node: string; readonly weight: number }[];
}

// Extent names carry the chunk, the index and a random tail: never reused, so a late delete cannot hit a newer write.
const extentOverhead = 120;

export interface FragmentIoParts {
  readonly context: StorageContext;
  readonly cluster: ClusterControl;
  readonly devices: DeviceSet;
  /** True for a node that answers. */
  readonly up: (node: string) => boolean;
  /** A node did not answer for a device of its own. */
  readonly onSilence: (node: string) => void;
}

export function createFragmentIo({ context, cluster, devices, up, onSilence }: FragmentIoParts): FragmentIo {
  const nodeOf = (device: string): string => cluster.state.devices[device]?.node ?? "";

  const withRoom = (pool: string, length: number) =>
    Object.values(cluster.state.devices)
      .filter((d) => d.pool === pool && takesWrites(cluster.state, d))
      .filter((d) => length + extentOverhead <= freeBytes([deviceFill(devices, d)]));

  const candidates: FragmentIo["candidates"] = (pool, length) =>
    withRoom(pool, length)
      .filter((d) => up(d.node) && devices.get(d.id) !== undefined)
      .map((d) => ({ id: d.id, node: d.node, weight: d.state === "Degraded" ? d.capacityBytes / 10 : d.capacityBytes }));

  const writeOne: FragmentIo["writeOne"] = async (chunkId, index, device, bytes) => {
    const target = devices.get(device);
    if (target === undefined)
      throw storageError("ShardUnavailable", `device ${device} is not reachable from this node`, { device });
    const extent = `${chunkId}.${index}.${Buffer.from(context.random(6)).toString("hex")}`;
    try {
      await target.write(extent, bytes);
    } catch (error) {
      if (isCoded(error, "device_unavailable")) onSilence(nodeOf(device));
      // What it has no room for now is not sent to it again.
      if (isCoded(error, "device_full")) await devices.measure(device).catch(() => undefined);
      throw error;
    }
    devices.adjust(device, bytes.length + extentOverhead);
    return { device, extent };
  };

  const drop: FragmentIo["drop"] = async (fragment) => {
    if (fragment === null) return;
    // A device that is away keeps its extent; the scrub finds it as an orphan when the device is back.
    await devices
      .get(fragment.device)
      ?.delete(fragment.extent)
      .catch(() => undefined);
  };

  const readOne: FragmentIo["readOne"] = async (fragment, length, into) => {
    if (fragment === null) return { state: "missing" };
    const device = devices.get(fragment.device);
    if (device === undefined) return { state: "unreachable" };
    try {
      const bytes = await device.read(fragment.extent, into);
      if (bytes === undefined) return { state: "missing" };
      return bytes.length === length ? { state: "good", bytes } : { state: "corrupt" };
    } catch (error) {
      if (isCoded(error, "extent_corrupt")) return { state: "corrupt" };
      onSilence(nodeOf(fragment.device));
      return { state: "unreachable" };
    }
  };

  /** Own copies first, then the data fragments, which need no decoding, then parity; nodes that do not answer last. */
  const readingOrder = (chunk: ChunkDoc): readonly number[] => {
    const rank = (index: number): number => {
      const device = chunk.fragments[index]?.device;
      if (device === undefined) return 8;
      const away = up(nodeOf(device)) ? 0 : 4;
      const parity = chunk.data > 1 && index >= chunk.data ? 2 : 0;
      return away + parity + (devices.isLocal(device) ? 0 : 1);
    };
    return chunk.fragments.map((_, i) => i).sort((a, b) => rank(a) - rank(b) || a - b);
  };

  return {
    candidates,
    writeOne,
    readOne,
    drop,

    async write(chunkId, pool, acknowledge, fragments) {
      const length = fragments[0]?.length ?? 0;
      const able = candidates(pool, length);
      const share = nodeShare(cluster.state, { id: pool }, fragments.length);
      let first: ReturnType<typeof placeChunk<(typeof able)[number]>>;
      for (let count = Math.min(fragments.length, able.length); count >= acknowledge && first === undefined; count--)
        first = placeChunk(chunkId, able, count, [], () => share);
      if (first === undefined) {
        const found = `${able.length} devices with room, a chunk needs ${acknowledge}`;
        if (withRoom(pool, length).length >= acknowledge)
          throw storageError("ShardUnavailable", `pool ${pool} reaches ${found}`, { pool });
        throw storageError("PoolFull", `pool ${pool} has ${found}`, { pool });
      }
      let silence = false;
      const chosen = first;
      const spare = [...rankDevices(chunkId, able)].filter((c) => !chosen.some((f) => f.id === c.id));
      const held = new Map<string, number>();
      const hold = (node: string, change: number) => held.set(node, (held.get(node) ?? 0) + change);
      for (const { node } of chosen) hold(node, 1);
      /** The next device whose node may hold one more. */
      const another = () => {
        const at = spare.findIndex(({ node }) => (held.get(node) ?? 0) < share);
        const [next] = at < 0 ? [] : spare.splice(at, 1);
        if (next !== undefined) hold(next.node, 1);
        return next;
      };
      const written = await Promise.all(
        fragments.map(async (bytes, index): Promise<FragmentRecord | null> => {
          for (let target = chosen[index]; target !== undefined; target = another()) {
            try {
              return await writeOne(chunkId, index, target.id, bytes);
            } catch (error) {
              hold(target.node, -1);
              silence ||= isCoded(error, "device_unavailable");
              context.metrics.transportErrors.inc({ transport: "device", kind: isCoded(error) ? error.code : "write" });
            }
          }
          return null;
        }),
      );
      const landed = written.filter((w) => w !== null);
      // Copies that the loss of a node may not take lie on two: a node that leaves, or does not answer, changes nothing in that.
      const { stripe } = poolStripe(cluster, pool);
      const apart = stripe.data > 1 || share > stripe.parity || new Set(landed.map((w) => nodeOf(w.device))).size > 1;
      if (landed.length >= acknowledge && apart) return written;
      await Promise.all(written.map(drop));
      if (!apart) throw storageError("ShardUnavailable", `pool ${pool}: one node alone took the copies`, { pool });
      throw storageError(silence ? "ShardUnavailable" : "PoolFull", `pool ${pool}: too few devices took a fragment`, { pool });
    },

    async readSealed(chunkId, chunk, memory = new Uint8Array(sealedMemory(chunk))) {
      const stripe = { data: chunk.data, parity: chunk.parity };
      const length = fragmentLength(chunk.sealed, chunk.data);
      /** Where a data fragment belongs, and any of the copies. */
      const placeOf = (i: number): Uint8Array | undefined => {
        if (stripe.data === 1) return memory;
        return i < stripe.data ? memory.subarray(i * length, (i + 1) * length) : undefined;
      };
      const results: Awaited<ReturnType<FragmentIo["readOne"]>>[] = [];
      const read = async (indexes: readonly number[]) => {
        await Promise.all(
          indexes.map(async (i) => {
            results[i] = await readOne(chunk.fragments[i] ?? null, length, placeOf(i));
          }),
        );
      };
      const total = stripe.data + stripe.parity;
      const order = readingOrder(chunk);
      await read(order.slice(0, stripe.data));
      for (const next of order.slice(stripe.data)) {
        if (results.filter((r) => r?.state === "good").length >= stripe.data) break;
        await read([next]);
      }
      const present = Array.from({ length: total }, (_, i) => results[i]?.bytes);
      const bad = Array.from({ length: total }, (_, i) => i).filter((i) =>
        ["missing", "corrupt"].includes(results[i]?.state ?? ""),
      );
      if (present.filter((p) => p !== undefined).length < stripe.data) {
        const found = Object.fromEntries(results.map((r, i) => [String(i), r?.state ?? "unread"]));
        // What does not answer now may answer later: only what is known to be gone is lost.
        const hope = results.filter((r) => r?.state === "good" || r?.state === "unreachable").length >= stripe.data;
        throw storageError(
          hope ? "ShardUnavailable" : "ChunkLost",
          `chunk ${chunkId}: fewer than ${stripe.data} of ${total} fragments are readable`,
          { chunk: chunkId, fragments: found },
        );
      }
      const wanted = Array.from({ length: stripe.data }, (_, i) => i).filter((i) => present[i] === undefined);
      if (wanted.length > 0) {
        const timer = context.metrics.ecDecode.startTimer({ strategy: durabilityName(nameOf(stripe)) });
        codeOf(stripe)
          .rebuild(present, wanted)
          .forEach((bytes, i) => {
            present[wanted[i] as number] = bytes;
          });
        timer();
      }
      for (const [i, bytes] of present.slice(0, stripe.data).entries()) {
        const place = placeOf(i);
        if (bytes !== undefined && (bytes.buffer !== place?.buffer || bytes.byteOffset !== place.byteOffset)) place?.set(bytes);
      }
      return { sealed: memory.subarray(0, chunk.sealed), bad };
    },
  };
}

/** Bytes of memory that a chunk is read into: its data fragments one behind the other. */
export function sealedMemory({ sealed, data }: Pick<ChunkDoc, "sealed" | "data">): number {
  return data * fragmentLength(sealed, data);
}

/** The durability that a chunk's own stripe stands for. */
export function nameOf({ data, parity }: Stripe): Parameters<typeof durabilityName>[0] {
  return data === 1 ? { kind: "replication", copies: parity + 1 } : { kind: "ec", data, parity };
}

/** The stripe of new chunks of a pool, and how many of its fragments must land. */
export function poolStripe({ state }: ClusterControl, pool: string): { readonly stripe: Stripe; readonly acknowledge: number } {
  const found = state.pools[pool];
  if (found === undefined) throw storageError("NotFound", `no such pool: ${pool}`, { field: "pool_id" });
  const { durability, acknowledge } = durabilityOf(state, found);
  return { stripe: stripeOf(durability), acknowledge };
}
