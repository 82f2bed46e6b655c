import { EvaluationError } from "../errors.ts";
import { quoted, termText } from "../value/format.ts";
import { allocateText } from "../value/meter.ts";
import { Decimal, numberText, toDouble } from "../value/number.ts";
import { isNumber, type Value } from "../value/value.ts";
import { codePoints } from "./collections.ts";

const MAX_WIDTH = 1_000_000;

/** What Go's fmt sees: OPA passes integers, doubles, and the Rego text of everything else as a string; templates have booleans. */
export type Arg =
  | { readonly kind: "int"; readonly value: bigint; readonly type: string }
  | { readonly kind: "float"; readonly value: number; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "bool"; readonly value: boolean };

function argument(value: Value): Arg {
  if (typeof value === "string") return { kind: "string", value };
  if (typeof value === "bigint")
    return { kind: "int", value, type: value >= -(2n ** 63n) && value < 2n ** 63n ? "int" : "*big.Int" };
  if (isNumber(value)) {
    if (typeof value === "number" && Number.isInteger(value)) return { kind: "int", value: BigInt(value), type: "int" };
    return { kind: "float", value: toDouble(value), text: value instanceof Decimal ? numberText(value) : "" };
  }
  return { kind: "string", value: termText(value) };
}

interface Flags {
  minus: boolean;
  plus: boolean;
  sharp: boolean;
  space: boolean;
  zero: boolean;
  width: number | undefined;
  precision: number | undefined;
}

/** Go's `fmt.Sprintf` over Rego values. Width and precision above 10^6 are over the budget. */
export function sprintf(format: string, values: readonly Value[]): string {
  return formatArguments(format, values.map(argument));
}

/** Go's `fmt.Sprintf`. */
export function formatArguments(format: string, args: readonly Arg[]): string {
  let out = "";
  let next = 0;
  let reordered = false;
  const emit = (text: string): void => {
    allocateText(text.length);
    out += text;
  };
  for (let i = 0; i < format.length; ) {
    const percent = format.indexOf("%", i);
    if (percent < 0) {
      emit(format.slice(i));
      break;
    }
    emit(format.slice(i, percent));
    i = percent + 1;
    const flags: Flags = {
      minus: false,
      plus: false,
      sharp: false,
      space: false,
      zero: false,
      width: undefined,
      precision: undefined,
    };
    for (; ; i++) {
      const c = format[i];
      if (c === "-") {
        flags.minus = true;
        flags.zero = false;
      } else if (c === "+") flags.plus = true;
      else if (c === "#") flags.sharp = true;
      else if (c === " ") flags.space = true;
      else if (c === "0") flags.zero = !flags.minus;
      else break;
    }
    let badIndex = false;
    const index = (): boolean => {
      if (format[i] !== "[") return false;
      reordered = true;
      const close = format.indexOf("]", i);
      const digits = close < 0 ? "" : format.slice(i + 1, close);
      if (!/^\d{1,6}$/.test(digits) || Number(digits) < 1 || Number(digits) > args.length) {
        badIndex = true;
        i = close < 0 ? i + 1 : close + 1;
        return true;
      }
      next = Number(digits) - 1;
      i = close + 1;
      return true;
    };
    const number = (): number | undefined => {
      const from = i;
      while (/\d/.test(format[i] ?? "")) i++;
      return from === i ? undefined : Number(format.slice(from, i));
    };
    const star = (): number | undefined => {
      const arg = args[next++];
      return arg?.kind === "int" && arg.type === "int" ? Number(arg.value) : undefined;
    };
    let afterIndex = index();
    if (format[i] === "*") {
      i++;
      const width = star();
      if (width === undefined || Math.abs(width) > MAX_WIDTH) emit("%!(BADWIDTH)");
      else {
        flags.width = Math.abs(width);
        if (width < 0) {
          flags.minus = true;
          flags.zero = false;
        }
      }
      afterIndex = false;
    } else {
      flags.width = number();
      if (afterIndex && flags.width !== undefined) badIndex = true;
    }
    if (format[i] === ".") {
      i++;
      if (afterIndex) badIndex = true;
      afterIndex = index();
      if (format[i] === "*") {
        i++;
        const precision = star();
        if (precision === undefined || precision < 0 || precision > MAX_WIDTH) emit("%!(BADPREC)");
        else flags.precision = precision;
        afterIndex = false;
      } else flags.precision = number() ?? 0;
    }
    if (!afterIndex) index();
    if ((flags.width ?? 0) > MAX_WIDTH || (flags.precision ?? 0) > MAX_WIDTH) {
      throw new EvaluationError("eval_limit_error", "sprintf: width or precision exceeds its limit");
    }
    if (i >= format.length) {
      emit("%!(NOVERB)");
      break;
    }
    const verb = String.fromCodePoint(format.codePointAt(i) as number);
    i += verb.length;
    if (verb === "%") emit("%");
    else if (badIndex) emit(`%!${verb}(BADINDEX)`);
    else if (next >= args.length) emit(`%!${verb}(MISSING)`);
    else emit(formatOne(args[next++] as Arg, verb, flags));
  }
  if (!reordered && next < args.length) {
    const rest = args.slice(next).map((arg) => `${typeOf(arg)}=${plain(arg)}`);
    emit(`%!(EXTRA ${rest.join(", ")})`);
  }
  return out;
}

function typeOf(arg: Arg): string {
  return arg.kind === "int" ? arg.type : arg.kind === "float" ? "float64" : arg.kind;
}

function plain(arg: Arg): string {
  return arg.kind === "float" ? floatText(arg.value) : String(arg.value);
}

/** A double as `%v` writes it. */
export function floatText(value: number): string {
  return general(value, undefined, "g", true);
}

function formatOne(arg: Arg, verb: string, flags: Flags): string {
  if (verb === "T") return pad(typeOf(arg), { ...flags, zero: false });
  if (arg.kind === "int") return formatInt(arg, verb, flags);
  if (arg.kind === "float") return formatFloat(arg, verb, flags);
  if (arg.kind === "bool")
    return verb === "t" || verb === "v" ? pad(String(arg.value), { ...flags, zero: false }) : wrong(arg, verb, flags);
  return formatString(arg, verb, flags);
}

/** A verb that does not fit: the argument as `%v` has it, with the same flags. */
function wrong(arg: Arg, verb: string, flags: Flags): string {
  return `%!${verb}(${typeOf(arg)}=${formatOne(arg, "v", flags)})`;
}

function pad(text: string, flags: Flags): string {
  const missing = (flags.width ?? 0) - codePoints(text);
  if (missing <= 0) return text;
  allocateText(missing);
  if (flags.minus) return text + " ".repeat(missing);
  return (flags.zero ? "0" : " ").repeat(missing) + text;
}

const BASES: Readonly<Record<string, readonly [number, string]>> = {
  b: [2, "0b"],
  o: [8, "0"],
  O: [8, "0o"],
  d: [10, ""],
  v: [10, ""],
  x: [16, "0x"],
  X: [16, "0X"],
};

function formatInt(arg: Arg & { kind: "int" }, verb: string, flags: Flags): string {
  const { value } = arg;
  const base = BASES[verb];
  if (base !== undefined) {
    const magnitude = value < 0n ? -value : value;
    let digits = magnitude.toString(base[0]);
    if (verb === "X") digits = digits.toUpperCase();
    if (flags.precision !== undefined) {
      if (flags.precision === 0 && value === 0n) return " ".repeat(flags.width ?? 0);
      digits = digits.padStart(flags.precision, "0");
    }
    let prefix = flags.sharp && verb !== "O" ? base[1] : "";
    if (verb === "O") prefix = "0o";
    if (verb === "o" && prefix !== "" && digits.startsWith("0")) prefix = "";
    const sign = value < 0n ? "-" : flags.plus ? "+" : flags.space ? " " : "";
    if (flags.zero && flags.width !== undefined && flags.precision === undefined) {
      digits = digits.padStart(flags.width - sign.length - prefix.length, "0");
    }
    return pad(sign + prefix + digits, { ...flags, zero: false });
  }
  if (arg.type !== "int") {
    if (verb === "s") return pad(value.toString(), { ...flags, zero: false });
    return `%!${verb}(big.Int=${value})`;
  }
  const valid = value >= 0n && value <= 0x10ffffn && !(value >= 0xd800n && value <= 0xdfffn);
  const point = valid ? String.fromCodePoint(Number(value)) : "\ufffd";
  if (verb === "c") return pad(point, { ...flags, zero: false });
  if (verb === "q")
    return pad(`'${point === "'" ? "\\'" : point === '"' ? '"' : quoted(point).slice(1, -1)}'`, { ...flags, zero: false });
  if (verb === "U") {
    const hex = value
      .toString(16)
      .toUpperCase()
      .padStart(Math.max(4, flags.precision ?? 0), "0");
    return pad(`U+${hex}${flags.sharp && valid ? ` '${point}'` : ""}`, { ...flags, zero: false });
  }
  return wrong(arg, verb, flags);
}

function formatFloat(arg: Arg & { kind: "float" }, verb: string, flags: Flags): string {
  const { value } = arg;
  const magnitude = Math.abs(value);
  const { precision } = flags;
  let text: string;
  switch (verb) {
    case "v":
      text = general(magnitude, precision, "g", precision === undefined);
      break;
    case "g":
    case "G":
      text = general(magnitude, precision, verb, false);
      break;
    case "f":
    case "F":
      text = fixed(magnitude, precision ?? 6);
      break;
    case "e":
    case "E":
      text = exponent(magnitude, precision ?? 6, verb);
      break;
    case "x":
    case "X":
      text = hexadecimal(magnitude, precision);
      if (verb === "X") text = text.toUpperCase();
      break;
    case "b":
      text = binary(magnitude);
      break;
    default:
      return wrong(arg, verb, flags);
  }
  const sign = value < 0 ? "-" : flags.plus ? "+" : flags.space ? " " : "";
  if (flags.zero && flags.width !== undefined) text = text.padStart(flags.width - sign.length, "0");
  return pad(sign + text, { ...flags, zero: false });
}

/** A double that is not negative as `mantissa * 2^exponent`. */
function bitsOf(value: number): readonly [bigint, number] {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const raw = bits.getBigUint64(0);
  const power = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & ((1n << 52n) - 1n);
  return power === 0 ? [fraction, -1074] : [fraction | (1n << 52n), power - 1075];
}

/** `%b`: the mantissa and the power of two. */
function binary(value: number): string {
  const [mantissa, e] = bitsOf(value);
  return `${mantissa}p${e < 0 ? "-" : "+"}${Math.abs(e)}`;
}

/** `%x`: hexadecimal digits and a power of two. */
function hexadecimal(value: number, precision: number | undefined): string {
  let [mantissa, e] = bitsOf(value);
  if (mantissa === 0n) return `0x0${precision === undefined || precision === 0 ? "" : `.${"0".repeat(precision)}`}p+00`;
  // one digit before the point, sixty bits after it
  const shift = 61 - mantissa.toString(2).length;
  mantissa <<= BigInt(shift);
  e = e - shift + 60;
  if (precision !== undefined && precision < 15) {
    const cut = BigInt(4 * (15 - precision));
    const unit = 1n << cut;
    const rest = mantissa % unit;
    mantissa >>= cut;
    if (rest * 2n > unit || (rest * 2n === unit && (mantissa & 1n) === 1n)) mantissa += 1n;
    mantissa <<= cut;
    if (mantissa >> 61n === 1n) {
      mantissa >>= 1n;
      e++;
    }
  }
  let digits = (mantissa & ((1n << 60n) - 1n)).toString(16).padStart(15, "0");
  digits = precision === undefined ? digits.replace(/0+$/, "") : digits.slice(0, precision).padEnd(precision, "0");
  return `0x1${digits === "" ? "" : `.${digits}`}p${e < 0 ? "-" : "+"}${Math.abs(e).toString().padStart(2, "0")}`;
}

/** Exact decimal digits of a double: `digits * 10^-scale`. */
function exactDecimal(value: number): readonly [bigint, number] {
  const [mantissa, e] = bitsOf(value);
  return e >= 0 ? [mantissa << BigInt(e), 0] : [mantissa * 5n ** BigInt(-e), -e];
}

function fixed(value: number, places: number): string {
  const [digits, scale] = exactDecimal(value);
  let scaled: bigint;
  if (places >= scale) scaled = digits * 10n ** BigInt(places - scale);
  else {
    const unit = 10n ** BigInt(scale - places);
    const rest = digits % unit;
    scaled = digits / unit;
    if (rest * 2n > unit || (rest * 2n === unit && (scaled & 1n) === 1n)) scaled += 1n;
  }
  const text = scaled.toString().padStart(places + 1, "0");
  return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`;
}

/** `count` significant digits, rounded half to even, and the decimal exponent of the first. */
function significant(value: number, count: number): readonly [string, number] {
  if (value === 0) return ["0".repeat(count), 0];
  const [digits, scale] = exactDecimal(value);
  const text = digits.toString();
  let power = text.length - 1 - scale;
  if (text.length <= count) return [text.padEnd(count, "0"), power];
  const unit = 10n ** BigInt(text.length - count);
  let head = digits / unit;
  const rest = digits % unit;
  if (rest * 2n > unit || (rest * 2n === unit && (head & 1n) === 1n)) head += 1n;
  let out = head.toString();
  if (out.length > count) {
    out = out.slice(0, count);
    power++;
  }
  return [out, power];
}

function withExponent(digits: string, power: number, letter: string): string {
  const magnitude = Math.abs(power);
  return `${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ""}${letter}${power < 0 ? "-" : "+"}${magnitude < 10 ? "0" : ""}${magnitude}`;
}

function exponent(value: number, places: number, letter: string): string {
  const [digits, power] = significant(value, places + 1);
  return withExponent(digits, power, letter);
}

/** `%g`, and `%v`, whose exponent form starts at 10^21. */
function general(value: number, precision: number | undefined, letter: string, verbV: boolean): string {
  let digits: string;
  let power: number;
  let limit: number;
  const sign = value < 0 ? "-" : "";
  const magnitude = Math.abs(value);
  if (precision === undefined) {
    const [mantissa, exp] = magnitude.toExponential().split("e") as [string, string];
    digits = mantissa.replace(".", "");
    power = Number(exp);
    limit = 21;
    void verbV;
  } else {
    [digits, power] = significant(magnitude, precision === 0 ? 1 : precision);
    limit = precision === 0 ? 1 : precision;
    digits = digits.replace(/0+$/, "") || "0";
    if (limit > digits.length && digits.length >= power + 1) limit = Math.max(digits.length, limit);
  }
  if (power < -4 || power >= limit) return sign + withExponent(digits, power, letter === "G" ? "E" : "e");
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
  if (digits.length <= power + 1) return sign + digits.padEnd(power + 1, "0");
  return `${sign}${digits.slice(0, power + 1)}.${digits.slice(power + 1)}`;
}

function formatString(arg: Arg & { kind: "string" }, verb: string, flags: Flags): string {
  let text = arg.value;
  if (flags.precision !== undefined && (verb === "s" || verb === "v" || verb === "q")) {
    text = [...text].slice(0, flags.precision).join("");
  }
  switch (verb) {
    case "s":
    case "v":
      return pad(text, flags);
    case "q":
      return pad(flags.sharp && !text.includes("`") ? `\`${text}\`` : quoted(text), flags);
    case "x":
    case "X": {
      const bytes = utf8(text).slice(0, flags.precision ?? Number.MAX_SAFE_INTEGER);
      allocateText(bytes.length * 2);
      const hex = bytes.map((b) => b.toString(16).padStart(2, "0"));
      let joined = flags.space
        ? hex.map((h) => (flags.sharp ? `0x${h}` : h)).join(" ")
        : (flags.sharp && hex.length > 0 ? "0x" : "") + hex.join("");
      if (verb === "X") joined = joined.toUpperCase();
      return pad(joined, flags);
    }
    default:
      return wrong(arg, verb, flags);
  }
}

function utf8(text: string): number[] {
  const out: number[] = [];
  for (const c of text) {
    const p = c.codePointAt(0) as number;
    if (p < 0x80) out.push(p);
    else if (p < 0x800) out.push(0xc0 | (p >> 6), 0x80 | (p & 63));
    else if (p < 0x10000) out.push(0xe0 | (p >> 12), 0x80 | ((p >> 6) & 63), 0x80 | (p & 63));
    else out.push(0xf0 | (p >> 18), 0x80 | ((p >> 12) & 63), 0x80 | ((p >> 6) & 63), 0x80 | (p & 63));
  }
  return out;
}
