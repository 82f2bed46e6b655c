/**
 * Rego numbers. OPA keeps a number as its decimal text: integers are exact, everything else is computed in a binary float
 * with a 64-bit mantissa and printed with the fewest digits that read back to it. Here a number is the cheapest of
 * - a JS number: a safe integer, or a fraction whose shortest decimal is the number itself,
 * - a bigint: an integer beyond 2^53,
 * - a {@link Decimal}: a fraction that no double prints, such as 3.3000000000000000002.
 * Every constructor below returns that canonical form, so equal numbers have equal forms.
 */
export type Num = number | bigint | Decimal;

/** The fraction `mantissa * 10^exponent`; the mantissa has no trailing zero, the exponent is negative. */
export class Decimal {
  readonly mantissa: bigint;
  readonly exponent: number;

  constructor(mantissa: bigint, exponent: number) {
    this.mantissa = mantissa;
    this.exponent = exponent;
  }
}

/** Integers above this many decimal digits (10^5 bits) are refused, as by OPA's parser. */
const MAX_DECIMAL_EXPONENT = 30_103;

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** The canonical form of an integer. */
export function fromBigInt(value: bigint): Num {
  return value <= SAFE && value >= -SAFE ? Number(value) : value;
}

/** The canonical form of `mantissa * 10^exponent`, or undefined if it is too big. */
export function fromDecimal(mantissa: bigint, exponent: number): Num | undefined {
  let m = mantissa;
  let e = exponent;
  if (m === 0n) return 0;
  if (e > MAX_DECIMAL_EXPONENT || e < -MAX_DECIMAL_EXPONENT - 5000) return undefined;
  if (e >= 0) return fromBigInt(m * 10n ** BigInt(e));
  while (e < 0 && m % 10n === 0n) {
    m /= 10n;
    e++;
  }
  if (e >= 0) return fromBigInt(m * 10n ** BigInt(e));
  if (m < 10n ** 18n && m > -(10n ** 18n)) {
    const double = Number(`${m}e${e}`);
    if (double !== 0) {
      const [dm, de] = decimalOf(double);
      if (dm === m && de === e) return double;
    }
  }
  return new Decimal(m, e);
}

/** As many as 65,536 bits have, and some more: reading takes time that grows faster than the text. */
const MAX_DIGITS = 20_000;

const NUMBER = /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/** Reads a JSON-like number text (`.5` too). Undefined: not a number, or too big. */
export function parseNumber(text: string): Num | undefined {
  if (text.length < 16) {
    const quick = Number(text);
    if (Number.isInteger(quick) && /^-?\d+$/.test(text)) return quick === 0 ? 0 : quick;
  }
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = "", power = "0"] = match;
  if (whole === "" && fraction === "") return undefined;
  const digits = whole + fraction;
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === 0x30) end--;
  if (end === 0) return 0;
  if (power.length > 8 || end > MAX_DIGITS) return undefined;
  return fromDecimal(BigInt(sign + digits.slice(0, end)), Number(power) - fraction.length + digits.length - end);
}

/** Mantissa and decimal exponent of a double's shortest decimal, without trailing zeros in fractions. */
export function decimalOf(value: number): readonly [bigint, number] {
  const text = String(value);
  const match = NUMBER.exec(text);
  if (match === null) return [0n, 0];
  const [, sign = "", whole = "", fraction = "", power = "0"] = match;
  let mantissa = BigInt(sign + whole + fraction);
  let exponent = Number(power) - fraction.length;
  while (exponent < 0 && mantissa !== 0n && mantissa % 10n === 0n) {
    mantissa /= 10n;
    exponent++;
  }
  return [mantissa, exponent];
}

/** True for numbers without a fraction. */
export function isInteger(value: Num): boolean {
  return typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));
}

/** The exact integer, or undefined for a fraction. */
export function toBigInt(value: Num): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number" && Number.isInteger(value)) return BigInt(value);
  return undefined;
}

/** The nearest double. */
export function toDouble(value: Num): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  return Number(`${value.mantissa}e${value.exponent}`);
}

/** Negative, zero or positive as `a` is below, equal to or above `b`, exactly. */
export function compareNumbers(a: Num, b: Num): number {
  if (typeof a !== "object" && typeof b !== "object") return a < b ? -1 : a > b ? 1 : 0;
  const [am, ae] = partsOf(a);
  const [bm, be] = partsOf(b);
  const scale = Math.min(ae, be);
  const x = am * 10n ** BigInt(ae - scale);
  const y = bm * 10n ** BigInt(be - scale);
  return x < y ? -1 : x > y ? 1 : 0;
}

function partsOf(value: Num): readonly [bigint, number] {
  if (typeof value === "bigint") return [value, 0];
  if (typeof value === "object") return [value.mantissa, value.exponent];
  return Number.isInteger(value) ? [BigInt(value), 0] : decimalOf(value);
}

/** The text that `json.marshal` and Rego terms print. */
export function numberText(value: Num): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") {
    if (Number.isInteger(value)) return Number.isSafeInteger(value) ? String(value) : BigInt(value).toString();
    const [m, e] = decimalOf(value);
    return decimalText(m, e);
  }
  return decimalText(value.mantissa, value.exponent);
}

/** Go's `%g` with the fewest digits: exponent form below 1e-4. */
function decimalText(mantissa: bigint, exponent: number): string {
  const sign = mantissa < 0n ? "-" : "";
  const digits = (mantissa < 0n ? -mantissa : mantissa).toString();
  const point = digits.length + exponent;
  if (point < -3) {
    const power = 1 - point;
    return `${sign}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ""}e-${power < 10 ? "0" : ""}${power}`;
  }
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

// --- 64-bit mantissa binary floats ---------------------------------------------------------------------------------

/** `mantissa * 2^exponent`, the mantissa of at most 64 bits. */
interface Float {
  readonly mantissa: bigint;
  readonly exponent: number;
}

function bitLength(value: bigint): number {
  const hex = (value < 0n ? -value : value).toString(16);
  return (hex.length - 1) * 4 + (32 - Math.clz32(Number.parseInt(hex[0] ?? "0", 16)));
}

/** Rounds `numerator / denominator * 2^exponent` to 64 bits, ties to even. */
function round(numerator: bigint, denominator: bigint, exponent: number): Float {
  if (numerator === 0n) return { mantissa: 0n, exponent: 0 };
  const negative = numerator < 0n;
  let n = negative ? -numerator : numerator;
  let d = denominator;
  let e = exponent;
  const shift = 66 - (bitLength(n) - bitLength(d));
  if (shift > 0) n <<= BigInt(shift);
  else if (shift < 0) d <<= BigInt(-shift);
  e -= shift;
  let q = n / d;
  let sticky = n % d !== 0n;
  const excess = bitLength(q) - 64;
  if (excess > 0) {
    const mask = (1n << BigInt(excess)) - 1n;
    const rest = q & mask;
    const half = 1n << BigInt(excess - 1);
    q >>= BigInt(excess);
    e += excess;
    if (rest > half || (rest === half && (sticky || (q & 1n) === 1n))) q += 1n;
    sticky = false;
    if (bitLength(q) > 64) {
      q >>= 1n;
      e += 1;
    }
  }
  return { mantissa: negative ? -q : q, exponent: e };
}

function toFloat(value: Num): Float {
  const [m, e] = partsOf(value);
  return e >= 0 ? round(m * 10n ** BigInt(e), 1n, 0) : round(m, 10n ** BigInt(-e), 0);
}

/** The shortest decimal that reads back to `float`, in canonical form. */
function fromFloat(float: Float): Num {
  const { mantissa, exponent } = float;
  if (mantissa === 0n) return 0;
  const negative = mantissa < 0n;
  let m = negative ? -mantissa : mantissa;
  let e = exponent;
  const spare = 64 - bitLength(m);
  if (spare > 0) {
    m <<= BigInt(spare);
    e -= spare;
  }
  // value = m * 2^e; the interval of decimals that round to it, all times 4 to keep quarters whole
  if (e >= 0) return fromBigInt(negative ? -(m << BigInt(e)) : m << BigInt(e));
  if (m % (1n << BigInt(Math.min(-e, 64))) === 0n && -e <= 64) {
    const whole = m >> BigInt(-e);
    return fromBigInt(negative ? -whole : whole);
  }
  const lowerGap = m === 1n << 63n ? 1n : 2n;
  const value = m * 4n;
  const low = value - lowerGap;
  const high = value + 2n;
  const inclusive = (m & 1n) === 0n;
  const down = BigInt(2 - e); // everything is over 2^down
  // decimal exponent of the leading digit
  let p = Math.floor((64 + e) * 0.30102999566398) + 1;
  for (; ; p--) {
    // candidate digits: floor(value / 2^down / 10^p)
    const scaled = p >= 0 ? (10n ** BigInt(p)) << down : 1n << down;
    const factor = p >= 0 ? 1n : 10n ** BigInt(-p);
    const floor = (value * factor) / scaled;
    const lowOk = compareScaled(floor * scaled, low * factor, inclusive) && floor > 0n;
    const above = (floor + 1n) * scaled;
    const highLimit = high * factor;
    const highOk = inclusive ? above <= highLimit : above < highLimit;
    if (!lowOk && !highOk) continue;
    let digits = floor;
    if (lowOk && highOk) {
      const rest = value * factor - floor * scaled;
      if (rest * 2n > scaled || (rest * 2n === scaled && (floor & 1n) === 1n)) digits += 1n;
    } else if (highOk) digits += 1n;
    return fromDecimal(negative ? -digits : digits, p) ?? 0;
  }
}

function compareScaled(candidate: bigint, low: bigint, inclusive: boolean): boolean {
  return inclusive ? candidate >= low : candidate > low;
}

function floatAdd(a: Float, b: Float): Float {
  const e = Math.min(a.exponent, b.exponent);
  return round((a.mantissa << BigInt(a.exponent - e)) + (b.mantissa << BigInt(b.exponent - e)), 1n, e);
}

/** `a + b`. */
export function add(a: Num, b: Num): Num {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isSafeInteger(sum) && Number.isInteger(a) && Number.isInteger(b)) return sum;
  }
  const x = toBigInt(a);
  const y = toBigInt(b);
  if (x !== undefined && y !== undefined) return fromBigInt(x + y);
  return fromFloat(floatAdd(toFloat(a), toFloat(b)));
}

/** `-a`. */
export function negate(a: Num): Num {
  if (typeof a === "number") return a === 0 ? 0 : -a;
  if (typeof a === "bigint") return -a;
  return new Decimal(-a.mantissa, a.exponent);
}

/** `a - b`. */
export function subtract(a: Num, b: Num): Num {
  return add(a, negate(b));
}

/** `a * b`. */
export function multiply(a: Num, b: Num): Num {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    if (Number.isSafeInteger(product) && Number.isInteger(a) && Number.isInteger(b)) return product === 0 ? 0 : product;
  }
  const x = toBigInt(a);
  const y = toBigInt(b);
  if (x !== undefined && y !== undefined) return fromBigInt(x * y);
  const f = toFloat(a);
  const g = toFloat(b);
  return fromFloat(round(f.mantissa * g.mantissa, 1n, f.exponent + g.exponent));
}

/** `a / b`; `b` is not zero. Exact where it divides, else a 64-bit float. */
export function divide(a: Num, b: Num): Num {
  if (typeof a === "number" && typeof b === "number" && Number.isInteger(a) && Number.isInteger(b)) {
    if (a % b === 0) return a === 0 ? 0 : a / b;
  }
  const f = toFloat(a);
  const g = toFloat(b);
  const negative = g.mantissa < 0n;
  return fromFloat(round(negative ? -f.mantissa : f.mantissa, negative ? -g.mantissa : g.mantissa, f.exponent - g.exponent));
}

/** `a % b` of integers, with the sign of `a`; undefined for fractions. `b` is not zero. */
export function remainder(a: Num, b: Num): Num | undefined {
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) {
    const rest = (a as number) % (b as number);
    return rest === 0 ? 0 : rest;
  }
  const x = toBigInt(a);
  const y = toBigInt(b);
  return x === undefined || y === undefined ? undefined : fromBigInt(x % y);
}

/** Truncation toward zero. */
export function truncate(a: Num): Num {
  if (isInteger(a)) return a;
  const [m, e] = partsOf(a);
  return fromBigInt(m / 10n ** BigInt(-e));
}

/** Half away from zero. */
export function roundHalfAway(a: Num): Num {
  return isInteger(a) ? a : truncate(add(a, toDouble(a) < 0 ? -0.5 : 0.5));
}

/** The least integer not below `a`. */
export function ceiling(a: Num): Num {
  if (isInteger(a)) return a;
  const whole = truncate(a);
  return compareNumbers(a, 0) > 0 ? add(whole, 1) : whole;
}

/** The greatest integer not above `a`. */
export function floor(a: Num): Num {
  if (isInteger(a)) return a;
  const whole = truncate(a);
  return compareNumbers(a, 0) < 0 ? subtract(whole, 1) : whole;
}
