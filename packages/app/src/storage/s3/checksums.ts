import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

/** A running checksum in the form of the `x-amz-checksum-*` headers: base64 of the big-endian value. */
export interface Checksum {
  update(bytes: Uint8Array): void;
  digest(): string;
}

/** The checksums that S3 clients send, by header suffix. */
export const checksums: Readonly<Record<string, () => Checksum>> = {
  crc32() {
    let value = 0;
    return {
      update(bytes) {
        value = crc32(bytes, value);
      },
      digest: () => word(value),
    };
  },
  crc32c() {
    let value = 0xffffffff;
    return {
      update(bytes) {
        for (let i = 0; i < bytes.length; i++)
          value = (castagnoli[(value ^ (bytes[i] as number)) & 255] as number) ^ (value >>> 8);
      },
      digest: () => word(~value >>> 0),
    };
  },
  crc64nvme() {
    let high = 0xffffffff;
    let low = 0xffffffff;
    return {
      update(bytes) {
        for (let i = 0; i < bytes.length; i++) {
          const at = (low ^ (bytes[i] as number)) & 255;
          low = ((low >>> 8) | (high << 24)) ^ (nvmeLow[at] as number);
          high = (high >>> 8) ^ (nvmeHigh[at] as number);
        }
      },
      digest() {
        const out = Buffer.alloc(8);
        out.writeUInt32BE(~high >>> 0, 0);
        out.writeUInt32BE(~low >>> 0, 4);
        return out.toString("base64");
      },
    };
  },
  sha1: () => hashed("sha1"),
  sha256: () => hashed("sha256"),
};

/** True for the header names under which checksums travel. */
export function isChecksumHeader(name: string): boolean {
  return name.startsWith("x-amz-checksum-") && Object.hasOwn(checksums, name.slice("x-amz-checksum-".length));
}

function hashed(algorithm: string): Checksum {
  const hash = createHash(algorithm);
  return {
    update(bytes) {
      hash.update(bytes);
    },
    digest: () => hash.digest("base64"),
  };
}

function word(value: number): string {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value >>> 0);
  return out.toString("base64");
}

/** CRC-32C, reflected polynomial 0x82f63b78 (RFC 3720). */
const castagnoli = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0x82f63b78 : c >>> 1;
  return c;
});

/** CRC-64/NVME, reflected polynomial 0x9a6c9329ac4bc9b5 (NVM Express), as two 32-bit halves. */
const nvmeLow = new Uint32Array(256);
const nvmeHigh = new Uint32Array(256);
for (let n = 0; n < 256; n++) {
  let [high, low] = [0, n];
  for (let k = 0; k < 8; k++) {
    const odd = low & 1;
    low = (low >>> 1) | (high << 31);
    high >>>= 1;
    if (odd) {
      high ^= 0x9a6c9329;
      low ^= 0xac4bc9b5;
    }
  }
  nvmeLow[n] = low;
  nvmeHigh[n] = high;
}
