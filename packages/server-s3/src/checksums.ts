import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { createXXHash3, createXXHash64, createXXHash128, type IHasher } from "hash-wasm";
import { s3Error } from "./errors.ts";

/** A running checksum in the form of the `x-amz-checksum-*` headers: base64 of the big-endian value. */
export interface Checksum {
  update(bytes: Uint8Array): void;
  digest(): string;
}

/** One way to sum bytes up. */
interface ChecksumAlgorithm {
  /** Of its value. */
  readonly bytes: number;
  open(): Checksum | Promise<Checksum>;
}

/** The checksums that S3 clients send, by header suffix. */
export const checksums: Readonly<Record<string, ChecksumAlgorithm>> = {
  crc32: { bytes: 4, open: openCrc32 },
  crc32c: { bytes: 4, open: openCrc32c },
  crc64nvme: { bytes: 8, open: openCrc64nvme },
  sha1: { bytes: 20, open: () => hashed("sha1") },
  sha256: { bytes: 32, open: () => hashed("sha256") },
  sha512: { bytes: 64, open: () => hashed("sha512") },
  md5: { bytes: 16, open: () => hashed("md5") },
  xxhash64: { bytes: 8, open: async () => hashedByWasm(await createXXHash64()) },
  xxhash3: { bytes: 8, open: async () => hashedByWasm(await createXXHash3()) },
  xxhash128: { bytes: 16, open: async () => hashedByWasm(await createXXHash128()) },
};

/** The prefix of the headers under which checksums travel. */
const prefix = "x-amz-checksum-";

/** The bytes of a stream, whose checksum by `algorithm` is put under its header name once they have ended. */
export async function* summed(
  bytes: AsyncIterable<Uint8Array>,
  algorithm: string | undefined,
  into: Record<string, string>,
): AsyncGenerator<Uint8Array> {
  const checksum = algorithm === undefined ? undefined : await checksums[algorithm]?.open();
  for await (const piece of bytes) {
    checksum?.update(piece);
    yield piece;
  }
  if (checksum !== undefined) into[`${prefix}${algorithm}`] = checksum.digest();
}

/** Checksums by header name as elements of a reply, with S3's name of what they are about. */
export function checksumElements(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const found = Object.entries(headers).filter(([name]) => isChecksumHeader(name));
  const elements = found.map(([name, value]) => [`Checksum${name.slice(prefix.length).toUpperCase()}`, value] as const);
  return Object.fromEntries([
    ...elements,
    ...found.slice(0, 1).map(([, value]) => ["ChecksumType", checksumType(value)] as const),
  ]);
}

/** An algorithm as S3 writes it in `x-amz-checksum-algorithm`. Throws `InvalidRequest`. */
export function checksumAlgorithm(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const name = text.toLowerCase();
  if (Object.hasOwn(checksums, name)) return name;
  throw s3Error(
    "InvalidRequest",
    "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, MD5, SHA1, SHA256, SHA512, XXHASH128, XXHASH3, XXHASH64]",
  );
}

/** Whether a text is a value of the checksum that travels under a header name. */
export function isChecksumValue(name: string, value: string): boolean {
  const bytes = Buffer.from(value, "base64");
  return bytes.toString("base64") === value && bytes.length === checksums[name.slice(prefix.length)]?.bytes;
}

/** True for the header names under which checksums travel. */
export function isChecksumHeader(name: string): boolean {
  return name.startsWith(prefix) && Object.hasOwn(checksums, name.slice(prefix.length));
}

/** S3's name of what a checksum is about: all bytes, or the checksums of the parts, which it marks by their number. */
export function checksumType(value: string): "COMPOSITE" | "FULL_OBJECT" {
  return /-\d+$/.test(value) ? "COMPOSITE" : "FULL_OBJECT";
}

/** The types that S3 has for an algorithm; the first is the one that an upload gets which names none. */
export function checksumTypes(algorithm: string): readonly ("COMPOSITE" | "FULL_OBJECT")[] {
  if (algorithm === "crc64nvme") return ["FULL_OBJECT"];
  return Object.hasOwn(polynomials, algorithm) ? ["COMPOSITE", "FULL_OBJECT"] : ["COMPOSITE"];
}

/** The checksum of an object of those of its parts, as S3 makes it of each type. */
export async function joinChecksums(
  algorithm: string,
  type: "COMPOSITE" | "FULL_OBJECT",
  parts: readonly { readonly checksum: string; readonly size: number }[],
): Promise<string> {
  if (type === "FULL_OBJECT") return joinCrcs(algorithm, parts);
  const whole = await checksums[algorithm]?.open();
  for (const { checksum } of parts) whole?.update(Buffer.from(checksum, "base64"));
  return `${whole?.digest()}-${parts.length}`;
}

/** Reflected polynomials of the CRCs, with their width in bits. */
const polynomials: Readonly<Record<string, { readonly bits: bigint; readonly polynomial: bigint }>> = {
  crc32: { bits: 32n, polynomial: 0xedb88320n },
  crc32c: { bits: 32n, polynomial: 0x82f63b78n },
  crc64nvme: { bits: 64n, polynomial: 0x9a6c9329ac4bc9b5n },
};

/** crc(a|b) = crc(a) x^(8 |b|) + crc(b), in polynomials over GF(2) modulo that of the CRC (as zlib's crc32_combine). */
function joinCrcs(algorithm: string, parts: readonly { readonly checksum: string; readonly size: number }[]): string {
  const { bits = 0n, polynomial = 0n } = polynomials[algorithm] ?? {};
  const one = 1n << (bits - 1n);
  const times = (a: bigint, b: bigint): bigint => {
    let product = 0n;
    let shifted = b;
    for (let mask = one; mask > 0n; mask >>= 1n) {
      if (a & mask) product ^= shifted;
      shifted = shifted & 1n ? (shifted >> 1n) ^ polynomial : shifted >> 1n;
    }
    return product;
  };
  const shifts = new Map<number, bigint>();
  /** x^(8 bytes); parts mostly have one length. */
  const shift = (bytes: number): bigint => {
    const known = shifts.get(bytes);
    if (known !== undefined) return known;
    let [power, square] = [one, one >> 8n];
    for (let left = bytes; left > 0; left = Math.floor(left / 2)) {
      if (left % 2 === 1) power = times(power, square);
      square = times(square, square);
    }
    shifts.set(bytes, power);
    return power;
  };
  const value = (text: string) => BigInt(`0x${Buffer.from(text, "base64").toString("hex") || "0"}`);
  let whole = 0n;
  for (const { checksum, size } of parts) whole = times(whole, shift(size)) ^ value(checksum);
  return Buffer.from(whole.toString(16).padStart(Number(bits) / 4, "0"), "hex").toString("base64");
}

function openCrc32(): Checksum {
  let value = 0;
  return {
    update(bytes) {
      value = crc32(bytes, value);
    },
    digest: () => word(value),
  };
}

function openCrc32c(): Checksum {
  let value = 0xffffffff;
  return {
    update(bytes) {
      for (let i = 0; i < bytes.length; i++) value = (castagnoli[(value ^ (bytes[i] as number)) & 255] as number) ^ (value >>> 8);
    },
    digest: () => word(~value >>> 0),
  };
}

function openCrc64nvme(): Checksum {
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
}

function hashedByWasm(hasher: IHasher): Checksum {
  hasher.init();
  return {
    update(bytes) {
      hasher.update(bytes);
    },
    digest: () => Buffer.from(hasher.digest("binary")).toString("base64"),
  };
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
