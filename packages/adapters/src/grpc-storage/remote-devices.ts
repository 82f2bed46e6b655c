import { diskRoom, type GrpcMessage, grpcPieceBytes } from "@seneschal/core/storage";
import { CodedError, checkOptions, isCoded } from "@seneschal/kernel";
import type { BlobDevice, BlobDeviceErrorCode } from "@seneschal/kernel/ports";
import { type DataChannel, type DataChannelOptions, openDataChannel } from "./data-channel.ts";

/** The devices of another node, each a {@link BlobDevice} whose extents travel over the data path. */
export interface RemoteDevices {
  device(id: string): BlobDevice;
  /** As of a {@link DataChannel}. */
  readonly setSecureContext: DataChannel["setSecureContext"];
  close(): void;
}

const deviceErrors: readonly BlobDeviceErrorCode[] = [
  "extent_corrupt",
  "extent_exists",
  "device_unavailable",
  "device_full",
  "device_mismatch",
  "invalid_extent_name",
];

/** Opens the fragment service of a node. Whatever is no answer of the device itself is `device_unavailable`. */
export function openRemoteDevices(options: DataChannelOptions): RemoteDevices {
  checkOptions("options", options, { address: "string", tls: "object?", timeoutMs: "number?" });
  const { ask, receive, send, setSecureContext, close } = openDataChannel("seneschal.storage.v1.FragmentService", options);

  const settled = async <T>(device: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw translated(device, error);
    }
  };

  const device = (id: string): BlobDevice => ({
    id,
    write: (extent, bytes) =>
      settled(id, async () => {
        await send("Write", writeMessages(id, extent, bytes));
      }),
    read: (extent) =>
      settled(id, async () => {
        let found = false;
        const pieces: Uint8Array[] = [];
        for await (const message of receive("Read", { device_id: id, extent })) {
          if (message["found"] === true) found = true;
          if (message["data"] instanceof Uint8Array) pieces.push(message["data"]);
        }
        if (!found) return undefined;
        const { buffer, byteOffset, length } = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
        return new Uint8Array(buffer, byteOffset, length);
      }),
    has: (extent) => settled(id, async () => (await ask("Has", { device_id: id, extent }))["present"] === true),
    delete: (extent) =>
      settled(id, async () => {
        await ask("Delete", { device_id: id, extent });
      }),
    async *list() {
      try {
        for await (const { extents = [] } of receive("List", { device_id: id })) yield* extents as readonly string[];
      } catch (error) {
        throw translated(id, error);
      }
    },
    usage: () =>
      settled(id, async () => {
        const { capacity_bytes = 0, used_bytes = 0, disk } = await ask("Usage", { device_id: id });
        const room = diskRoom.read(disk as GrpcMessage | null | undefined);
        return { capacityBytes: capacity_bytes as number, usedBytes: used_bytes as number, ...(room && { disk: room }) };
      }),
    inspect: () => settled(id, async () => ((await ask("Inspect", { device_id: id }))["problems"] ?? []) as readonly string[]),
    close: async () => undefined,
  });

  return { device, setSecureContext, close };
}

function translated(device: string, error: unknown): Error {
  if (isCoded(error, ...deviceErrors)) return error;
  return new CodedError<BlobDeviceErrorCode>(
    "device_unavailable",
    `device ${device} is not reached at its node`,
    { device, reason: isCoded(error) ? error.code : "error" },
    error,
  );
}

async function* writeMessages(device: string, extent: string, bytes: Uint8Array): AsyncGenerator<GrpcMessage> {
  yield { start: { device_id: device, extent } };
  for (let at = 0; at < bytes.length; at += grpcPieceBytes) yield { data: bytes.subarray(at, at + grpcPieceBytes) };
}
