import { BuiltinError } from "../errors.ts";
import { allocateText, charge } from "../value/meter.ts";
import { fromBigInt, isInteger, type Num, toBigInt } from "../value/number.ts";
import { isArray, isNumber, type Value } from "../value/value.ts";
import { type Builtin, define, operandError } from "./builtin.ts";
import { whole } from "./collections.ts";
import { type Civil, civil, daysFromCivil, formatTime, parseDuration, parseTime, WEEKDAYS, weekday } from "./go-time.ts";

const LAYOUTS: Readonly<Record<string, string>> = {
  ANSIC: "Mon Jan _2 15:04:05 2006",
  UnixDate: "Mon Jan _2 15:04:05 MST 2006",
  RubyDate: "Mon Jan 02 15:04:05 -0700 2006",
  RFC822: "02 Jan 06 15:04 MST",
  RFC822Z: "02 Jan 06 15:04 -0700",
  RFC850: "Monday, 02-Jan-06 15:04:05 MST",
  RFC1123: "Mon, 02 Jan 2006 15:04:05 MST",
  RFC1123Z: "Mon, 02 Jan 2006 15:04:05 -0700",
  RFC3339: "2006-01-02T15:04:05Z07:00",
  RFC3339Nano: "2006-01-02T15:04:05.999999999Z07:00",
};

const BILLION = 1_000_000_000n;
const MAX = (1n << 63n) - 1n;

/** A place's clock: the offset and the abbreviation at a second. */
interface Zone {
  readonly name: string;
  readonly at: (seconds: number) => readonly [number, string];
}

const UTC: Zone = { name: "UTC", at: () => [0, "UTC"] };
const zones = new Map<string, Zone>();

/** A zone of the IANA database, by Intl. `Local` is UTC: the engine knows no host. */
function zone(name: string): Zone {
  if (name === "" || name === "UTC" || name === "Local") return UTC;
  const known = zones.get(name);
  if (known !== undefined) return known;
  const unknown = new BuiltinError(`unknown time zone ${name}`);
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]*$/.test(name)) throw unknown;
  let parts: Intl.DateTimeFormat;
  try {
    parts = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      calendar: "gregory",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
      era: "short",
      timeZoneName: "short",
    });
  } catch {
    throw unknown;
  }
  const made: Zone = {
    name,
    at: (seconds) => {
      const found: Record<string, string> = {};
      for (const { type, value } of parts.formatToParts(seconds * 1000)) found[type] = value;
      const n = (key: string): number => Number(found[key]);
      const year = found["era"]?.startsWith("B") === true ? 1 - n("year") : n("year");
      const local = daysFromCivil(year, n("month"), n("day")) * 86_400 + n("hour") * 3600 + n("minute") * 60 + n("second");
      const short = found["timeZoneName"] ?? "";
      return [local - seconds, /^[A-Z]{3,5}$/.test(short) ? short : ""];
    },
  };
  if (zones.size < 1_000) zones.set(name, made);
  return made;
}

interface Moment {
  readonly ns: bigint;
  readonly zone: Zone;
  readonly layout: string;
}

function floorSeconds(ns: bigint): number {
  return Number((ns - (((ns % BILLION) + BILLION) % BILLION)) / BILLION);
}

/** `ns`, `[ns, tz]` or `[ns, tz, layout]`. */
function moment(operand: Value): Moment {
  let ns: Value = operand;
  let place = UTC;
  let layout = "";
  if (isArray(operand)) {
    const [first, tz, format] = operand;
    if (first === undefined) throw operandError(1, operand, "either number (ns) or [number (ns), string (tz)]");
    ns = first;
    if (tz !== undefined) {
      if (typeof tz !== "string") throw operandError(1, tz, "string");
      place = zone(tz);
    }
    if (format !== undefined) {
      if (typeof format !== "string") throw operandError(1, format, "string");
      layout = format;
    }
  }
  if (!isNumber(ns)) {
    throw isArray(operand)
      ? operandError(1, ns, "number")
      : operandError(1, ns, "either number (ns) or [number (ns), string (tz)]");
  }
  const value = isInteger(ns) ? (toBigInt(ns) as bigint) : undefined;
  if (value === undefined || value > MAX || value < -MAX - 1n) throw new BuiltinError("timestamp too big");
  return { ns: value, zone: place, layout };
}

function brokenDown({ ns, zone: place }: Pick<Moment, "ns" | "zone">): Civil {
  const seconds = floorSeconds(ns);
  const [offset, abbreviation] = place.at(seconds);
  return civil(seconds, Number(ns - BigInt(seconds) * BILLION), offset, abbreviation);
}

function result(ns: bigint): Num {
  if (ns > MAX || ns < -MAX - 1n) throw new BuiltinError("time outside of valid range");
  return fromBigInt(ns);
}

function addDate(m: Moment, years: number, months: number, days: number): bigint {
  const t = brokenDown(m);
  const limit = 1_000_000;
  if ([years, months, days].some((n) => Math.abs(n) > limit * 1000)) throw new BuiltinError("time outside of valid range");
  const local = daysFromCivil(t.year + years, t.month + months, t.day + days) * 86_400 + t.hour * 3600 + t.minute * 60 + t.second;
  const clamp = (s: number): number => Math.max(-8_640_000_000_000, Math.min(8_640_000_000_000, s));
  const [guess] = m.zone.at(clamp(local));
  const [offset] = m.zone.at(clamp(local - guess));
  return BigInt(local - offset) * BILLION + BigInt(t.nanosecond);
}

/** The calendar difference of two moments, in the first one's zone. */
function difference(a: Moment, b: Moment): readonly number[] {
  const [early, late] = a.ns <= b.ns ? [a.ns, b.ns] : [b.ns, a.ns];
  const from = brokenDown({ ns: early, zone: a.zone });
  const to = brokenDown({ ns: late, zone: a.zone });
  let [year, month, day] = [to.year - from.year, to.month - from.month, to.day - from.day];
  let [hour, minute, second] = [to.hour - from.hour, to.minute - from.minute, to.second - from.second];
  if (second < 0) {
    second += 60;
    minute--;
  }
  if (minute < 0) {
    minute += 60;
    hour--;
  }
  if (hour < 0) {
    hour += 24;
    day--;
  }
  if (day < 0) {
    day += daysFromCivil(from.year, from.month + 1, 1) - daysFromCivil(from.year, from.month, 1);
    month--;
  }
  if (month < 0) {
    month += 12;
    year--;
  }
  return [year, month, day, hour, minute, second];
}

/** Time: Go's layouts, the IANA zones. */
export const timeBuiltins: readonly Builtin[] = [
  define("time.now_ns", "-> number", (_args, context) => fromBigInt(context.now)),
  define("time.parse_ns", "string, string -> number", ([layout, value]) => {
    const text = layout as string;
    charge((text.length + (value as string).length) >> 1);
    return result(parseTime(Object.hasOwn(LAYOUTS, text) ? (LAYOUTS[text] as string) : text, value as string));
  }),
  define("time.parse_rfc3339_ns", "string -> number", ([value]) =>
    result(parseTime(LAYOUTS["RFC3339"] as string, value as string)),
  ),
  define("time.parse_duration_ns", "string -> number", ([value]) => fromBigInt(parseDuration(value as string))),
  define("time.format", "any -> string", ([operand]) => {
    const m = moment(operand as Value);
    const layout = m.layout === "" ? "RFC3339Nano" : m.layout;
    allocateText(layout.length * 4);
    return formatTime(brokenDown(m), Object.hasOwn(LAYOUTS, layout) ? (LAYOUTS[layout] as string) : layout);
  }),
  define("time.date", "any -> [number, number, number]", ([operand]) => {
    const { year, month, day } = brokenDown(moment(operand as Value));
    return [year, month, day];
  }),
  define("time.clock", "any -> [number, number, number]", ([operand]) => {
    const { hour, minute, second } = brokenDown(moment(operand as Value));
    return [hour, minute, second];
  }),
  define("time.weekday", "any -> string", ([operand]) => WEEKDAYS[weekday(brokenDown(moment(operand as Value)))] as string),
  define("time.add_date", "any, number, number, number -> number", ([operand, years, months, days]) =>
    result(addDate(moment(operand as Value), whole(years as Value, 2), whole(months as Value, 3), whole(days as Value, 4))),
  ),
  define("time.diff", "any, any -> [number, number, number, number, number, number]", ([a, b]) =>
    difference(moment(a as Value), moment(b as Value)),
  ),
];
