import { checkArgument } from "@seneschal/kernel";
import type { DiskRoom } from "@seneschal/kernel/ports";
import type { GrpcMessage } from "./serve-grpc.ts";

/** The room of a device's file system as it travels, and as it is read where it comes: what is zero or false is absent there. */
export const diskRoom = {
  write(disk: DiskRoom): GrpcMessage {
    checkArgument("disk", disk, "object");
    const { id, freeBytes, deadBytes, refused } = disk;
    return { id, free_bytes: freeBytes, dead_bytes: deadBytes, refused };
  },
  read: (message: GrpcMessage | null | undefined): DiskRoom | undefined =>
    message
      ? {
          id: (message["id"] as string | undefined) ?? "",
          freeBytes: (message["free_bytes"] as number | undefined) ?? 0,
          deadBytes: (message["dead_bytes"] as number | undefined) ?? 0,
          refused: message["refused"] === true,
        }
      : undefined,
};
