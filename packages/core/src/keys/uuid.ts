import { checkArgument } from "@seneschal/kernel";

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/**
 * A version-7 UUID (RFC 9562 section 5.7): 48 bits of time, then random bits. Ids of one store sort by creation.
 * `random` gives 10 fresh bytes.
 *
 * @example
 * ```ts
 * import { uuid } from "@seneschal/core/keys";
 * console.log(uuid(Date.UTC(2026, 0, 1), (length) => new Uint8Array(length))); // 019b76da-a800-7000-8000-000000000000
 * ```
 */
export function uuid(now: number, random: (length: number) => Uint8Array): string {
  checkArgument("now", now, "number");
  checkArgument("random", random, "function");
  const time = Math.floor(now).toString(16).padStart(12, "0");
  const bytes = random(10);
  let text = `${time.slice(0, 8)}-${time.slice(8)}-`;
  for (let at = 0; at < 10; at += 1) {
    const byte = bytes[at] ?? 0;
    if (at === 2 || at === 4) text += "-";
    text += hex[at === 0 ? 0x70 | (byte & 0x0f) : at === 2 ? 0x80 | (byte & 0x3f) : byte];
  }
  return text;
}

const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * True for the textual form of a UUID of any version.
 *
 * @example
 * ```ts
 * import { isUuid } from "@seneschal/core/keys";
 * console.log(isUuid("019b7696-0400-7000-8000-000000000000"), isUuid("w1")); // true false
 * ```
 */
export function isUuid(text: string): boolean {
  return shape.test(text);
}
