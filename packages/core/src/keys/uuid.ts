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
  let text = "";
  for (const [at, byte] of bytes.entries()) text += at === 4 || at === 6 || at === 8 || at === 10 ? `-${hex[byte]}` : hex[byte];
  return text;
}

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** True for the textual form of a UUID of any version. */
export function isUuid(text: string): boolean {
  return shape.test(text);
}
