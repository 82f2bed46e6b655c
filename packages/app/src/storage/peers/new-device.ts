import type { GrpcMessage } from "@seneschal/core/storage";
import type { Actor } from "../context.ts";

/** What is said of a device that is to be added to a node. */
export interface NewDevice {
  readonly id: string;
  readonly pool: string;
  readonly directory: string;
  readonly capacityBytes: number;
}

/** A request to open a device as it travels to the node that has it, and as it is read there. Nothing in it is believed yet. */
export const newDeviceRequest = {
  write: ({ id, pool, directory, capacityBytes }: NewDevice, actor: Actor): GrpcMessage => ({
    device_id: id,
    pool_id: pool,
    directory,
    capacity_bytes: capacityBytes,
    actor: actor.id,
    source: actor.source,
  }),
  read(message: GrpcMessage): { readonly device: NewDevice; readonly actor: Actor } {
    const text = (field: string) => (message[field] as string | undefined) ?? "";
    return {
      device: {
        id: text("device_id"),
        pool: text("pool_id"),
        directory: text("directory"),
        capacityBytes: (message["capacity_bytes"] as number | undefined) ?? 0,
      },
      actor: { id: text("actor"), source: text("source") },
    };
  },
};
