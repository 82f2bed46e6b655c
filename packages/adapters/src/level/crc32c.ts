/** Tables of CRC-32C (RFC 3720, B.4), eight bytes at a time: table k gives what a byte does k bytes before the end. */
const tables = Array.from({ length: 8 }, () => new Int32Array(256));
const [single] = tables as [Int32Array];
for (let byte = 0; byte < 256; byte += 1) {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  single[byte] = value;
}
for (let at = 1; at < 8; at += 1)
  for (let byte = 0; byte < 256; byte += 1) {
    const before = (tables[at - 1] as Int32Array)[byte] as number;
    (tables[at] as Int32Array)[byte] = (single[before & 255] as number) ^ (before >>> 8);
  }
const [t0, t1, t2, t3, t4, t5, t6, t7] = tables as [
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
  Int32Array,
];

/** The register after one more byte; it begins as -1, and its complement is the checksum. */
export function crcStep(register: number, byte: number): number {
  return (t0[(register ^ byte) & 255] as number) ^ (register >>> 8);
}

/** CRC-32C of some bytes. */
export function crc32c(bytes: Uint8Array): number {
  let register = -1;
  let at = 0;
  for (const end = bytes.length - 8; at <= end; at += 8) {
    const low =
      register ^
      ((bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24));
    register =
      (t7[low & 255] as number) ^
      (t6[(low >>> 8) & 255] as number) ^
      (t5[(low >>> 16) & 255] as number) ^
      (t4[low >>> 24] as number) ^
      (t3[bytes[at + 4] as number] as number) ^
      (t2[bytes[at + 5] as number] as number) ^
      (t1[bytes[at + 6] as number] as number) ^
      (t0[bytes[at + 7] as number] as number);
  }
  for (; at < bytes.length; at += 1) register = crcStep(register, bytes[at] as number);
  return ~register >>> 0;
}
