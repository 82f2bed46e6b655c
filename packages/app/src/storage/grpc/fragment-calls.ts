import { diskRoom, type GrpcCall, type GrpcHandler, type GrpcMessage, grpcError, grpcPieceBytes } from "@seneschal/core/storage";
import { CodedError } from "@seneschal/kernel";
import type { BlobDevice } from "@seneschal/kernel/ports";
import type { DeviceSet } from "../data/device-set.ts";

/** Bytes of one fragment: a chunk of 4 MiB with its seal, where it is not cut. */
const maxFragmentBytes = (4 << 20) + 1024;
const namesPerMessage = 500;

/** The FragmentService: the extents of this node's own devices, for other nodes of the cluster. */
export function fragmentCalls(
  devices: DeviceSet,
  authenticate: (call: GrpcCall) => Promise<unknown>,
): Readonly<Record<string, GrpcHandler>> {
  const local = ({ device_id: id }: GrpcMessage): BlobDevice => {
    const device = typeof id === "string" && devices.isLocal(id) ? devices.get(id) : undefined;
    if (device === undefined)
      throw new CodedError("device_unavailable", "this node does not serve the device", { field: "device_id" });
    return device;
  };
  const extentOf = ({ extent }: GrpcMessage): string => (typeof extent === "string" ? extent : "");

  return {
    async Write(call) {
      await authenticate(call);
      const source = call.messages[Symbol.asyncIterator]();
      const first = await source.next();
      const start = first.done === true ? undefined : (first.value["start"] as GrpcMessage | undefined);
      if (start === undefined) throw grpcError("InvalidArgument", "the first message must be start", { field: "start" });
      const bytes = await collect({ [Symbol.asyncIterator]: () => source });
      await local(start).write(extentOf(start), bytes);
      devices.adjust(start["device_id"] as string, bytes.length);
      return {};
    },
    async *Read(call) {
      await authenticate(call);
      const bytes = await local(call.request).read(extentOf(call.request));
      if (bytes === undefined) return;
      yield { found: true };
      for (let at = 0; at < bytes.length; at += grpcPieceBytes) yield { data: bytes.subarray(at, at + grpcPieceBytes) };
    },
    async Has(call) {
      await authenticate(call);
      return { present: await local(call.request).has(extentOf(call.request)) };
    },
    async Delete(call) {
      await authenticate(call);
      await local(call.request).delete(extentOf(call.request));
      return {};
    },
    async *List(call) {
      await authenticate(call);
      let extents: string[] = [];
      for await (const extent of local(call.request).list()) {
        if (extents.push(extent) < namesPerMessage) continue;
        yield { extents };
        extents = [];
      }
      if (extents.length > 0) yield { extents };
    },
    async Usage(call) {
      await authenticate(call);
      const { capacityBytes, usedBytes, disk } = await local(call.request).usage();
      return { capacity_bytes: capacityBytes, used_bytes: usedBytes, ...(disk && { disk: diskRoom.write(disk) }) };
    },
    async Inspect(call) {
      await authenticate(call);
      return { problems: await local(call.request).inspect() };
    },
  };
}

async function collect(messages: AsyncIterable<GrpcMessage>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const { data } of messages) {
    if (!(data instanceof Uint8Array))
      throw grpcError("InvalidArgument", "messages after the first must be data", { field: "data" });
    size += data.length;
    if (size > maxFragmentBytes) throw grpcError("EntityTooLarge", `a fragment has at most ${maxFragmentBytes} bytes`);
    pieces.push(data);
  }
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces);
}
