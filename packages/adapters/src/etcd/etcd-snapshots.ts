import { createHash, randomBytes } from "node:crypto";
import { CodedError } from "@seneschal/kernel";
import type { LogErrorCode, LogHead, LogSnapshot } from "@seneschal/kernel/ports";
import { checkSnapshotSeq, keptSnapshots } from "../log/check-query.ts";
import type { EtcdClient } from "./etcd-client.ts";
import { compareResult, compareTarget, type RangeReply, type TxnReply } from "./protocol.ts";

const chunkBytes = 512 * 1024;

interface Place {
  readonly seq: number;
  readonly id: string;
}

/** The value of `snap/current`. */
interface Pointer extends Place {
  readonly chunks: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Kept beside the current one, newest first. */
  readonly older: readonly Place[];
}

/**
 * Snapshots in etcd: immutable chunks of at most 512 KiB at `<prefix>/snap/<seq>-<id>/<i>`, and a pointer at
 * `<prefix>/snap/current` that is moved by compare-and-set, only forwards, and only after the chunks were read back.
 */
export class EtcdSnapshots {
  readonly #client: EtcdClient;
  readonly #prefix: string;
  readonly #pointerKey: Buffer;

  constructor(client: EtcdClient, prefix: string) {
    this.#client = client;
    this.#prefix = `${prefix}/snap/`;
    this.#pointerKey = Buffer.from(`${this.#prefix}current`);
  }

  /** The newest snapshot's description, linearizably. */
  async pointer(): Promise<Pointer | undefined> {
    return (await this.#readPointer()).pointer;
  }

  async save(seq: number, bytes: Uint8Array, head: LogHead): Promise<void> {
    checkSnapshotSeq(seq, head);
    const { pointer } = await this.#readPointer();
    if (pointer !== undefined && pointer.seq >= seq) return;
    await this.#removeStrays(pointer);
    const place: Place = { seq, id: randomBytes(8).toString("hex") };
    const chunks = Math.ceil(bytes.length / chunkBytes);
    const hash = createHash("sha256");
    for (let at = 0; at < chunks; at += 1) {
      const value = Buffer.from(bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes));
      hash.update(value);
      await this.#client.persist("KV.Put", { key: this.#chunkKey(place, at), value });
    }
    const description = { ...place, chunks, bytes: bytes.length, sha256: hash.digest("hex") };
    if ((await this.#read(description)) === undefined)
      throw new CodedError<LogErrorCode>("snapshot_invalid", `the snapshot at ${seq} does not read back as it was written`);
    await this.#point(description);
  }

  /** Starts again at the pointer when a chunk is gone: then a newer snapshot has replaced this one. */
  async load(): Promise<LogSnapshot | undefined> {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const { pointer } = await this.#readPointer();
      if (pointer === undefined) return undefined;
      const bytes = await this.#read(pointer);
      if (bytes !== undefined) return { seq: pointer.seq, bytes };
    }
    throw new CodedError<LogErrorCode>("snapshot_invalid", "the snapshot is incomplete or damaged");
  }

  async #point(description: Omit<Pointer, "older">): Promise<void> {
    for (;;) {
      const { pointer, value } = await this.#readPointer();
      if (pointer !== undefined && pointer.seq >= description.seq) {
        if (pointer.id !== description.id) await this.#remove(description);
        return;
      }
      const previous = pointer === undefined ? [] : [{ seq: pointer.seq, id: pointer.id }, ...pointer.older];
      const older = previous.slice(0, keptSnapshots - 1);
      const next: Pointer = { ...description, older };
      const key = this.#pointerKey;
      const unchanged =
        value === undefined
          ? { key, target: compareTarget.create, result: compareResult.equal, create_revision: 0 }
          : { key, target: compareTarget.value, result: compareResult.equal, value };
      // Repeating it is safe: a second application finds the pointer moved, and the loop finds it is ours.
      const { succeeded } = await this.#client.persist<TxnReply>("KV.Txn", {
        compare: [unchanged],
        success: [{ request_put: { key, value: Buffer.from(JSON.stringify(next)) } }],
      });
      if (!succeeded) continue;
      for (const dropped of previous.slice(keptSnapshots - 1)) await this.#remove(dropped);
      return;
    }
  }

  async #readPointer(): Promise<{ readonly pointer?: Pointer; readonly value?: Buffer }> {
    const { kvs } = await this.#client.persist<RangeReply>("KV.Range", { key: this.#pointerKey });
    const value = kvs[0]?.value;
    return value === undefined ? {} : { value, pointer: JSON.parse(value.toString()) as Pointer };
  }

  async #read(pointer: Omit<Pointer, "older">): Promise<Uint8Array | undefined> {
    const parts: Buffer[] = [];
    const hash = createHash("sha256");
    for (let at = 0; at < pointer.chunks; at += 1) {
      const { kvs } = await this.#client.persist<RangeReply>("KV.Range", { key: this.#chunkKey(pointer, at) });
      if (kvs[0] === undefined) return undefined;
      parts.push(kvs[0].value);
      hash.update(kvs[0].value);
    }
    const bytes = new Uint8Array(Buffer.concat(parts));
    return bytes.length === pointer.bytes && hash.digest("hex") === pointer.sha256 ? bytes : undefined;
  }

  /** Chunks of a save that never came to its pointer. A save that is still running has a newer sequence. */
  async #removeStrays(pointer: Pointer | undefined): Promise<void> {
    if (pointer === undefined) return;
    const range = { key: Buffer.from(`${this.#prefix}0`), range_end: Buffer.from(`${this.#prefix}:`), keys_only: true };
    const { kvs } = await this.#client.persist<RangeReply>("KV.Range", range);
    const kept = new Set([pointer, ...pointer.older].map(({ seq, id }) => `${padded(seq)}-${id}`));
    const found = new Set(kvs.map((kv) => kv.key.toString().slice(this.#prefix.length).split("/")[0] as string));
    for (const name of found) {
      const [seq = "", id = ""] = name.split("-");
      if (!kept.has(name) && Number(seq) < pointer.seq) await this.#remove({ seq: Number(seq), id });
    }
  }

  async #remove({ seq, id }: Place): Promise<void> {
    const name = `${this.#prefix}${padded(seq)}-${id}`;
    await this.#client.persist("KV.DeleteRange", { key: Buffer.from(`${name}/`), range_end: Buffer.from(`${name}0`) });
  }

  #chunkKey({ seq, id }: Place, at: number): Buffer {
    return Buffer.from(`${this.#prefix}${padded(seq)}-${id}/${String(at).padStart(6, "0")}`);
  }
}

function padded(seq: number): string {
  return String(seq).padStart(16, "0");
}
