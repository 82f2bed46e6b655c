import { createHash } from "node:crypto";
import { createCRC32, createCRC64 } from "hash-wasm";

const sums = {
  crc32: () => createCRC32(),
  crc32c: () => createCRC32(0x82f63b78),
  crc64nvme: () => createCRC64("9a6c9329ac4bc9b5"),
};

/** The checksum of bytes as S3's headers say it, by implementations apart from the code under test. */
export async function checksumOf(algorithm: string, ...pieces: readonly Uint8Array[]): Promise<string> {
  const bytes = Buffer.concat(pieces);
  if (!Object.hasOwn(sums, algorithm)) return createHash(algorithm).update(bytes).digest("base64");
  const sum = await sums[algorithm as keyof typeof sums]();
  return Buffer.from(sum.update(bytes).digest("binary")).toString("base64");
}
