import { isCoded } from "@seneschal/core";
import type { Stripe } from "@seneschal/core/storage";
import { durabilityName, placeChunk, rankDevices, storageError, stripeOf } from "@seneschal/core/storage";
import type { ClusterControl } from "../cluster/cluster-control.ts";
import type { StorageContext } from "../context.ts";
import type { ChunkDoc, FragmentRecord } from "../documents.ts";
import { type DeviceSet, takesWrites } from "./device-set.ts";
import { codeOf, fragmentLength, fromFragments } from "./stripes.ts";

/** What the scrub, the reader and the writer know about one fragment. */
export type FragmentState = "good" | "missing" | "corrupt" | "unreachable";

/** Reads and writes fragments on devices: the only code that touches extents. */
export interface FragmentIo {
  /** Writes all fragments to distinct devices; at least `data + 1` must land (all of them without parity), the rest is repaired later. */
  write(
    chunkId: string,
    pool: string,
    stripe: Stripe,
    fragments: readonly Uint8Array[],
  ): Promise<readonly (FragmentRecord | null)[]>;
  writeOne(chunkId: string, index: number, device: string, bytes: Uint8Array): Promise<FragmentRecord>;
  readOne(
    fragment: FragmentRecord | null,
    length: number,
  ): Promise<{ readonly state: FragmentState; readonly bytes?: Uint8Array }>;
  /** The sealed bytes of a chunk, from any `data` good fragments. `bad`: indexes that were not good. Throws `ChunkLost`. */
  readSealed(chunkId: string, chunk: ChunkDoc): Promise<{ readonly sealed: Uint8Array; readonly bad: readonly number[] }>;
  drop(fragment: FragmentRecord | null): Promise<void>;
  /** Devices of a pool that can take a fragment of this length, with weights. */
  candidates(pool: string, length: number): readonly { readonly id: string; readonly node: string; readonly weight: number }[];
}

// Extent names carry the chunk, the index and a random tail: never reused, so a late delete cannot hit a newer write.
const extentOverhead = 120;

export function createFragmentIo(context: StorageContext, cluster: ClusterControl, devices: DeviceSet): FragmentIo {
  const candidates: FragmentIo["candidates"] = (pool, length) =>
    Object.values(cluster.state.devices)
      .filter((d) => d.pool === pool && takesWrites(d) && devices.get(d.id) !== undefined)
      .filter((d) => devices.usedBytes(d.id) + length + extentOverhead <= d.capacityBytes)
      .map((d) => ({ id: d.id, node: d.node, weight: d.state === "Degraded" ? d.capacityBytes / 10 : d.capacityBytes }));

  const writeOne: FragmentIo["writeOne"] = async (chunkId, index, device, bytes) => {
    const target = devices.get(device);
    if (target === undefined)
      throw storageError("ShardUnavailable", `device ${device} is not reachable from this node`, { device });
    const extent = `${chunkId}.${index}.${Buffer.from(context.random(6)).toString("hex")}`;
    await target.write(extent, bytes);
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

  const readOne: FragmentIo["readOne"] = async (fragment, length) => {
    if (fragment === null) return { state: "missing" };
    const device = devices.get(fragment.device);
    if (device === undefined) return { state: "unreachable" };
    try {
      const bytes = await device.read(fragment.extent);
      if (bytes === undefined) return { state: "missing" };
      return bytes.length === length ? { state: "good", bytes } : { state: "corrupt" };
    } catch (error) {
      return { state: isCoded(error, "extent_corrupt") ? "corrupt" : "unreachable" };
    }
  };

  return {
    candidates,
    writeOne,
    readOne,
    drop,

    async write(chunkId, pool, stripe, fragments) {
      const length = fragments[0]?.length ?? 0;
      const able = candidates(pool, length);
      const enough = stripe.data + Math.min(1, stripe.parity);
      const count = Math.min(fragments.length, able.length);
      const first = count < enough ? undefined : placeChunk(chunkId, able, count);
      if (first === undefined)
        throw storageError("PoolFull", `pool ${pool} has ${able.length} devices with room, a chunk needs ${enough}`, { pool });
      const spare = rankDevices(chunkId, able).filter((c) => !first.some((f) => f.id === c.id));
      const written = await Promise.all(
        fragments.map(async (bytes, index): Promise<FragmentRecord | null> => {
          for (let target = first[index]; target !== undefined; target = spare.shift()) {
            try {
              return await writeOne(chunkId, index, target.id, bytes);
            } catch (error) {
              context.metrics.transportErrors.inc({ transport: "device", kind: isCoded(error) ? error.code : "write" });
            }
          }
          return null;
        }),
      );
      if (written.filter((w) => w !== null).length >= enough) return written;
      await Promise.all(written.map(drop));
      throw storageError("PoolFull", `pool ${pool}: too few devices took a fragment`, { pool });
    },

    async readSealed(chunkId, chunk) {
      const stripe = { data: chunk.data, parity: chunk.parity };
      const length = fragmentLength(chunk.sealed, chunk.data);
      const results: Awaited<ReturnType<FragmentIo["readOne"]>>[] = [];
      const read = async (indexes: readonly number[]) => {
        await Promise.all(
          indexes.map(async (i) => {
            results[i] = await readOne(chunk.fragments[i] ?? null, length);
          }),
        );
      };
      const total = stripe.data + stripe.parity;
      await read(Array.from({ length: stripe.data }, (_, i) => i));
      for (let next = stripe.data; next < total; next++) {
        if (results.filter((r) => r?.state === "good").length >= stripe.data) break;
        await read([next]);
      }
      const present = Array.from({ length: total }, (_, i) => results[i]?.bytes);
      const bad = results.flatMap((r, i) => (r !== undefined && r.state !== "good" ? [i] : []));
      if (present.filter((p) => p !== undefined).length < stripe.data) {
        const found = Object.fromEntries(results.map((r, i) => [String(i), r?.state ?? "unread"]));
        const away = results.some((r) => r?.state === "unreachable");
        throw storageError(
          "ChunkLost",
          `chunk ${chunkId}: fewer than ${stripe.data} of ${total} fragments are readable${away ? ", some devices do not answer" : ""}`,
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
      return { sealed: fromFragments(present.slice(0, stripe.data) as Uint8Array[], chunk.sealed), bad };
    },
  };
}

/** The durability that a chunk's own stripe stands for. */
export function nameOf({ data, parity }: Stripe): Parameters<typeof durabilityName>[0] {
  return data === 1 ? { kind: "replication", copies: parity + 1 } : { kind: "ec", data, parity };
}

/** The stripe of new chunks of a pool. */
export function poolStripe(cluster: ClusterControl, pool: string): Stripe {
  const found = cluster.state.pools[pool];
  if (found === undefined) throw storageError("NotFound", `no such pool: ${pool}`, { field: "pool_id" });
  return stripeOf(found.durability);
}
