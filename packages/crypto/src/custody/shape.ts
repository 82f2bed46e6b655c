import { fromBase64 } from "../bytes.ts";

/** Whether a value is what one member of a document must be. */
export type Check = (value: unknown) => boolean;

/** An object with exactly these members, each as its check wants it: unknown ones are refused, none is optional. */
export function members(checks: Readonly<Record<string, Check>>): Check {
  const names = Object.keys(checks);
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const given = value as Readonly<Record<string, unknown>>;
    return (
      Object.keys(given).length === names.length &&
      names.every((name) => Object.hasOwn(given, name) && checks[name]?.(given[name]))
    );
  };
}

/** An object whose member `type` names one of these, and that is as one of its checks wants it. */
export function byType(shapes: Readonly<Record<string, readonly Check[]>>): Check {
  return (value) => {
    const type: unknown = typeof value === "object" && value !== null ? (value as { type?: unknown }).type : undefined;
    return typeof type === "string" && Object.hasOwn(shapes, type) && shapes[type]?.some((check) => check(value)) === true;
  };
}

/** A list of `min` to `max` values. */
export function listOf(check: Check, min: number, max: number): Check {
  return (value) => Array.isArray(value) && value.length >= min && value.length <= max && value.every(check);
}

/** This value and no other. */
export function only(expected: unknown): Check {
  return (value) => value === expected;
}

/** Base64 (RFC 4648 section 4, padded) of `min` to `max` bytes. */
export function bytesOf(min: number, max = min): Check {
  return (value) => {
    if (typeof value !== "string" || value.length > Math.ceil(max / 3) * 4) return false;
    try {
      const { length } = fromBase64(value);
      return length >= min && length <= max;
    } catch {
      return false;
    }
  };
}

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): Check {
  return (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
}

const NAME = /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,128}$/u;

/**
 * An identity, organisation or ceremony: 1 to 128 code points in Unicode's NFC form, none of them a control or format character or a
 * separator of lines. So two names that are shown as one text are not two because of what nobody sees.
 */
export const name: Check = (value) => typeof value === "string" && NAME.test(value) && value === value.normalize("NFC");

/** A time in whole seconds since the epoch. */
export const seconds: Check = wholeNumber(0, 2 ** 40);
