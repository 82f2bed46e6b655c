/**
 * One storage device: named, checksummed extents of bytes.
 *
 * Laws:
 * - `write` is atomic and durable: after it resolves the extent reads back equal after `kill -9`; before, it is absent.
 * - `read` verifies the checksum: damaged bytes throw `extent_corrupt`, never come back. Absent: `undefined`.
 * - a device that does not answer throws `device_unavailable`; a full one throws `device_full` with nothing written.
 */
export interface BlobDevice {
  readonly id: string;
  write(extent: string, bytes: Uint8Array): Promise<void>;
  read(extent: string): Promise<Uint8Array | undefined>;
  has(extent: string): Promise<boolean>;
  delete(extent: string): Promise<void>;
  list(after?: string): AsyncIterable<string>;
  usage(): Promise<{ readonly capacityBytes: number; readonly usedBytes: number }>;
  close(): Promise<void>;
}
