/**
 * One storage device: named, checksummed extents of bytes. Extent names are `[a-z0-9._-]{1,200}`, not starting with a dot.
 *
 * Laws:
 * - `write` is atomic and durable: after it resolves the extent reads back equal after `kill -9` and a loss of power; a write that
 *   was not answered is there whole or not at all.
 *   A name is written once; writing it again is refused (`extent_exists`).
 * - `read` verifies the checksum: damaged bytes throw `extent_corrupt`, never come back. Absent: `undefined`.
 * - `delete` of an absent extent is no error; it survives `kill -9`, and may be undone by a loss of power. `list` gives every extent of that moment, in no particular order.
 * - a device that does not answer throws `device_unavailable`; a full one throws `device_full` with nothing written.
 * - `inspect` checks what the device keeps about itself, mends what it can, and names every problem it found.
 */
export interface BlobDevice {
  readonly id: string;
  /** The bytes must stay as they are until it is answered. */
  write(extent: string, bytes: Uint8Array): Promise<void>;
  /** Where `into` has the length of the extent its bytes may be put there: the answer is then `into`. What is in it otherwise has no meaning. */
  read(extent: string, into?: Uint8Array): Promise<Uint8Array | undefined>;
  has(extent: string): Promise<boolean>;
  delete(extent: string): Promise<void>;
  list(): AsyncIterable<string>;
  usage(): Promise<DeviceUsage>;
  /**
   * Gives back to the disk what was deleted and is mostly still taken. Throws `device_full`, `device_unavailable` when some of it cannot
   * be, after the rest. Absent: the device does it by itself, or its node does.
   */
  reclaim?(): Promise<void>;
  inspect(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** How full a device is. */
export interface DeviceUsage {
  readonly capacityBytes: number;
  /** Of the extents that are there, each with its overhead. */
  readonly usedBytes: number;
  /** Absent: the device is not on a file system, or does not say. */
  readonly disk?: DiskRoom;
}

/** The room that the file system of a device has, whatever the device's capacity is. */
export interface DiskRoom {
  /** The same for all devices of a node that share one. */
  readonly id: string;
  /** Bytes that are free for extents; without what the device keeps to give deleted bytes back. */
  readonly freeBytes: number;
  /** Bytes that were deleted and that the device gives back when somebody wants them. */
  readonly deadBytes: number;
  /** The last write was refused, and the same one would be again. */
  readonly refused: boolean;
}

export type BlobDeviceErrorCode =
  | "extent_corrupt"
  | "extent_exists"
  | "device_unavailable"
  | "device_full"
  | "device_mismatch"
  | "invalid_extent_name";
