import { checkArgument } from "@seneschal/kernel";
import type { Shard } from "../shard/map.ts";
import { fileError } from "./file-errors.ts";

/**
 * What a handle says: the export, the file, and for one that is not a directory the shard that its key was in, with the generation that it
 * had. A directory's entries are spread over all shards: its handle names none.
 */
export interface FileHandle {
  readonly fsid: bigint;
  readonly fileId: bigint;
  readonly shard?: { readonly number: number; readonly generation: number };
}

const version = 1;
const length = 26;
const none = 0xffffffff;

/**
 * 26 bytes: a version, zero, export, file, shard and generation, big-endian.
 *
 * @example
 * ```ts
 * import { encodeHandle } from "@seneschal/core/storage";
 * console.log(encodeHandle({ fsid: 1n, fileId: 2n }).length); // 26
 * ```
 */
export function encodeHandle(handle: FileHandle): Uint8Array {
  checkArgument("handle", handle, "object");
  const { fsid, fileId, shard } = handle;
  const bytes = new Uint8Array(length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, version);
  view.setBigUint64(2, fsid);
  view.setBigUint64(10, fileId);
  view.setUint32(18, shard?.number ?? none);
  view.setUint32(22, shard?.generation ?? 0);
  return bytes;
}

/**
 * Throws `EBADHANDLE` for bytes that are none of ours.
 *
 * @example
 * ```ts
 * import { decodeHandle, encodeHandle } from "@seneschal/core/storage";
 * console.log(decodeHandle(encodeHandle({ fsid: 1n, fileId: 2n })).fileId); // 2n
 * ```
 */
export function decodeHandle(bytes: Uint8Array): FileHandle {
  checkArgument("bytes", bytes, "bytes");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length !== length || view.getUint8(0) !== version || view.getUint8(1) !== 0)
    throw fileError("EBADHANDLE", "that is no handle of this server");
  const number = view.getUint32(18);
  const generation = view.getUint32(22);
  if (number === none && generation !== 0) throw fileError("EBADHANDLE", "that is no handle of this server");
  return {
    fsid: view.getBigUint64(2),
    fileId: view.getBigUint64(10),
    ...(number === none ? {} : { shard: { number, generation } }),
  };
}

const numberOf = ({ id }: Pick<Shard, "id">): number => Number(id.slice("shard-".length));

/**
 * What a handle keeps of the shard that a key is in.
 *
 * @example
 * ```ts
 * import { handleShard } from "@seneschal/core/storage";
 * console.log(handleShard({ id: "s3", generation: 1 })); // { number: 0, generation: 1 }
 * ```
 */
export function handleShard(shard: Pick<Shard, "id" | "generation">): NonNullable<FileHandle["shard"]> {
  checkArgument("shard", shard, "object");
  return { number: numberOf(shard), generation: shard.generation };
}

/**
 * Throws `ESTALE` for a handle from before its shard was split: the file is looked up again.
 *
 * @example
 * ```ts
 * import { checkHandleShard, handleShard, initialShards } from "@seneschal/core/storage";
 * const [shard] = initialShards(["n1"], 128);
 * if (shard) checkHandleShard({ fsid: 1n, fileId: 2n, shard: handleShard(shard) }, [shard]);
 * try {
 *   if (shard) checkHandleShard({ fsid: 1n, fileId: 2n, shard: handleShard(shard) }, [{ ...shard, generation: 9 }]);
 * } catch (error) {
 *   console.log((error as { code?: string }).code); // ESTALE
 * }
 * ```
 */
export function checkHandleShard(input: FileHandle, shards: readonly Shard[]): void {
  checkArgument("input", input, "object");
  checkArgument("shards", shards, "array");
  const { shard } = input;
  if (shard === undefined || shards.length === 0) return;
  const now = shards.find((s) => numberOf(s) === shard.number);
  if (now?.generation !== shard.generation)
    throw fileError("ESTALE", `shard-${shard.number} was split since the handle was given out`, { shard: shard.number });
}
