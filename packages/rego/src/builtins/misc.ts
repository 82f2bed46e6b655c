import { BuiltinError } from "../errors.ts";
import { allowDigits } from "../value/meter.ts";
import {
  Decimal,
  decimalOf,
  fromBigInt,
  fromDecimal,
  isInteger,
  multiply,
  type Num,
  parseNumber,
  toBigInt,
  truncate,
} from "../value/number.ts";
import { compareStrings, RegoObject, type Value } from "../value/value.ts";
import { type Builtin, define } from "./builtin.ts";
import { hex } from "./bytes.ts";

// --- units -----------------------------------------------------------------------------------------------------------------

const DECIMAL: Readonly<Record<string, number>> = { k: 3, m: 6, g: 9, t: 12, p: 15, e: 18 };
const BINARY: Readonly<Record<string, bigint>> = { ki: 10n, mi: 20n, gi: 30n, ti: 40n, pi: 50n, ei: 60n };

/** Splits `10KiB` into number and unit: an `e` with digits after it belongs to the number. */
function splitUnit(text: string): readonly [string, string] {
  const match = /^(?:[\d.+-]|[eE](?=[\d+-])[+-]?)*/.exec(text);
  const number = match?.[0] ?? "";
  if (/[eE][+-]?\d{7,}/.test(number)) throw new BuiltinError("exponent too large");
  return [number, text.slice(number.length)];
}

function amount(number: string, name: string): Num {
  if (number === "") throw new BuiltinError(`${name}: no ${name === "units.parse" ? "amount" : "byte amount"} provided`);
  allowDigits(number.length);
  const value = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(number) ? parseNumber(number.replace(/^\+/, "")) : undefined;
  if (value === undefined) {
    throw new BuiltinError(`${name}: could not parse ${name === "units.parse" ? "amount" : "byte amount"} to a number`);
  }
  return value;
}

/** A number times a power of ten or two, exactly; ten decimals are kept, as by OPA. */
function scaled(value: Num, unit: string, milli: boolean): Num | undefined {
  const lower = unit.toLowerCase();
  const [mantissa, exponent] =
    typeof value === "bigint" ? [value, 0] : value instanceof Decimal ? [value.mantissa, value.exponent] : decimalOf(value);
  let m = mantissa;
  let e = exponent;
  if (lower === "") {
    // as it is
  } else if (milli && unit === "m") e -= 3;
  else if (DECIMAL[lower] !== undefined) e += DECIMAL[lower];
  else if (BINARY[lower] !== undefined) m <<= BINARY[lower];
  else return undefined;
  if (e < -10) {
    const unitOf = 10n ** BigInt(-10 - e);
    const rest = m % unitOf;
    m /= unitOf;
    if (rest * 2n >= unitOf) m += 1n;
    else if (-rest * 2n >= unitOf) m -= 1n;
    e = -10;
  }
  return fromDecimal(m, e);
}

function parseUnits(text: string): Num {
  const s = text.replaceAll('"', "");
  if (s.includes(" ")) throw new BuiltinError("units.parse: spaces not allowed in resource strings");
  const [number, rawUnit] = splitUnit(s);
  const value = amount(number, "units.parse");
  const unit = rawUnit.length > 1 ? rawUnit[0] + rawUnit.slice(1).toLowerCase() : rawUnit;
  const out = scaled(value, unit, true);
  if (out === undefined) throw new BuiltinError(`units.parse: unit ${unit} not recognized`);
  return out;
}

function parseBytes(text: string): Num {
  const s = text.toLowerCase().replaceAll('"', "");
  if (s.includes(" ")) throw new BuiltinError("units.parse_bytes: spaces not allowed in resource strings");
  const [number, unit] = splitUnit(s);
  const value = amount(number, "units.parse_bytes");
  const known = unit === "" || /^([kmgtpe]i?)b?$/.test(unit);
  if (!known) throw new BuiltinError(`units.parse_bytes: byte unit ${unit} not recognized`);
  const short = unit.replace(/b$/, "");
  const factor = short === "" ? 1n : BINARY[short] === undefined ? 10n ** BigInt(DECIMAL[short] ?? 0) : 1n << BINARY[short];
  const product = multiply(value, fromBigInt(factor));
  return isInteger(product) ? product : truncate(product);
}

// --- semantic versions ----------------------------------------------------------------------------------------------------

/** SemVer 2.0, strictly. */
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(?:\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

function semver(text: string, position: number): RegExpExecArray {
  const match = SEMVER.exec(text);
  if (match === null) throw new BuiltinError(`operand ${position}: string ${JSON.stringify(text)} is not a valid SemVer`);
  return match;
}

function compareVersions(a: string, b: string): number {
  const x = semver(a, 1);
  const y = semver(b, 2);
  for (const i of [1, 2, 3]) {
    const [m, n] = [BigInt(x[i] as string), BigInt(y[i] as string)];
    if (m !== n) return m < n ? -1 : 1;
  }
  const [p, q] = [x[4], y[4]];
  if (p === q) return 0;
  if (p === undefined || q === undefined) return p === undefined ? 1 : -1;
  const left = p.split(".");
  const right = q.split(".");
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const [s, t] = [left[i] as string, right[i] as string];
    const [numeric, other] = [/^\d+$/.test(s), /^\d+$/.test(t)];
    if (numeric !== other) return numeric ? -1 : 1;
    if (numeric && BigInt(s) !== BigInt(t)) return BigInt(s) < BigInt(t) ? -1 : 1;
    const order = numeric ? 0 : compareStrings(s, t);
    if (order !== 0) return order < 0 ? -1 : 1;
  }
  return Math.sign(left.length - right.length);
}

// --- UUIDs ----------------------------------------------------------------------------------------------------------------

/** 100 ns between the Gregorian epoch of UUIDs and the Unix epoch. */
const GREGORIAN = 0x01b21dd213814000n;
const DOMAINS = ["Person", "Group", "Org"];

function uuidBytes(text: string): Uint8Array | undefined {
  let body = text;
  if (/^urn:uuid:/i.test(body) && body.length === 45) body = body.slice(9);
  else if (body.length === 38) body = body.slice(1, -1);
  if (!/^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32})$/i.test(body)) return undefined;
  const digits = body.replaceAll("-", "");
  return Uint8Array.from({ length: 16 }, (_, i) => Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16));
}

function parseUuid(text: string): Value | undefined {
  const u = uuidBytes(text);
  if (u === undefined) return undefined;
  const byte = (i: number): number => u[i] as number;
  const version = byte(6) >> 4;
  const v = byte(8);
  const variant =
    (v & 0xc0) === 0x80 ? "RFC4122" : (v & 0xe0) === 0xc0 ? "Microsoft" : (v & 0xe0) === 0xe0 ? "Future" : "Reserved";
  const out: [Value, Value][] = [
    ["version", version],
    ["variant", variant],
  ];
  if (version === 1 || version === 2) {
    const number = (from: number, to: number): bigint => BigInt(`0x${hex(u.subarray(from, to))}`);
    const time = number(0, 4) | (number(4, 6) << 32n) | ((number(6, 8) & 0xfffn) << 48n);
    const node = [...u.subarray(10, 16)].map((b) => b.toString(16).padStart(2, "0")).join("-");
    const first = byte(10) & 3;
    const kind = ["global:unicast", "global:multicast", "local:unicast", "local:multicast"][first] as string;
    out.push(["time", fromBigInt(BigInt.asIntN(64, (time - GREGORIAN) * 100n))], ["nodeid", node], ["macvariables", kind]);
    out.push(["clocksequence", ((byte(8) & 0x3f) << 8) | byte(9)]);
    if (version === 2) out.push(["id", fromBigInt(number(0, 4))], ["domain", DOMAINS[byte(9)] ?? `Domain${byte(9)}`]);
  }
  return RegoObject.of(out);
}

/** Units, versions, UUIDs, randomness, trace. */
export const miscBuiltins: readonly Builtin[] = [
  define("units.parse", "string -> number", ([s]) => parseUnits(s as string)),
  define("units.parse_bytes", "string -> number", ([s]) => parseBytes(s as string)),
  define("semver.is_valid", "any -> boolean", ([s]) => typeof s === "string" && SEMVER.test(s)),
  define("semver.compare", "string, string -> number", ([a, b]) => compareVersions(a as string, b as string)),
  define("uuid.parse", "string -> {string: any}", ([s]) => parseUuid(s as string)),
  define("uuid.rfc4122", "string -> string", ([key], context) => {
    const bytes = context.random(`uuid:${key as string}`, 16);
    bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
    return hex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  }),
  define("rand.intn", "string, number -> number", ([key, n], context) => {
    const bound = toBigInt(n as Num);
    if (bound === undefined)
      throw new BuiltinError("operand 2 must be integer number but got floating-point number", "eval_type_error");
    if (bound === 0n) return 0;
    const magnitude = bound < 0n ? -bound : bound;
    const bytes = context.random(`intn:${key as string}:${magnitude}`, 32);
    return fromBigInt(BigInt(`0x${hex(bytes)}`) % magnitude);
  }),
  define("trace", "string -> boolean", ([message], context) => {
    context.trace?.(message as string);
    return true;
  }),
];
