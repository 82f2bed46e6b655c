const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * A version-7 UUID (RFC 9562 section 5.7): 48 bits of time, then random bits. Ids of one store sort by creation.
 * `random` gives 10 fresh bytes.
 */
export function uuid(now: number, random: (length: number) => Uint8Array): string {
  const bytes = new Uint8Array(16);
  for (let i = 0, rest = now; i < 6; i++, rest = Math.floor(rest / 256)) bytes[5 - i] = rest % 256;
  bytes.set(random(10), 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const text = Array.from(bytes, (byte) => hex[byte]).join("");
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True for the textual form of a UUID of any version. */
export function isUuid(text: string): boolean {
  return shape.test(text);
}
