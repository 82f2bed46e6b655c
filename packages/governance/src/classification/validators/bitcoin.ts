import { sha256 } from "@noble/hashes/sha2.js";
import { checkArgument } from "@seneschal/kernel";

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BECH32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const GENERATORS = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];

/** True for a main net address: Base58Check with version 0 or 5, or bech32/bech32m (BIP 173, BIP 350). */
export function isBitcoinAddress(address: string): boolean {
  checkArgument("address", address, "string");
  return /^bc1/i.test(address) ? isSegwit(address) : isBase58Check(address);
}

function isBase58Check(address: string): boolean {
  let value = 0n;
  for (const c of address) {
    const digit = BASE58.indexOf(c);
    if (digit < 0) return false;
    value = value * 58n + BigInt(digit);
  }
  const bytes = new Uint8Array(25);
  for (let i = 24; i >= 0; i--, value >>= 8n) bytes[i] = Number(value & 255n);
  if (value !== 0n || (bytes[0] !== 0 && bytes[0] !== 5)) return false;
  const zeros = /^1*/.exec(address)?.[0].length ?? 0;
  if (bytes.findIndex((b) => b !== 0) !== zeros) return false;
  const digest = sha256(sha256(bytes.subarray(0, 21)));
  return [0, 1, 2, 3].every((i) => digest[i] === bytes[21 + i]);
}

function isSegwit(address: string): boolean {
  const lower = address.toLowerCase();
  if (address !== lower && address !== address.toUpperCase()) return false;
  if (lower.length < 14 || lower.length > 74) return false;
  const values = [...lower.slice(3)].map((c) => BECH32.indexOf(c));
  if (values.includes(-1)) return false;
  let checksum = 1;
  // "bc" expanded: high bits, zero, low bits.
  for (const v of [3, 3, 0, 2, 3, ...values]) {
    const top = checksum >>> 25;
    checksum = ((checksum & 0x1ffffff) << 5) ^ v;
    for (let i = 0; i < 5; i++) if ((top >>> i) & 1) checksum ^= GENERATORS[i] ?? 0;
  }
  return checksum === (values[0] === 0 ? 1 : 0x2bc830a3);
}
