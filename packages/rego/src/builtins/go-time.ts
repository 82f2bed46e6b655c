import { BuiltinError } from "../errors.ts";

/** Broken-down local time with its zone. */
export interface Civil {
  readonly year: number;
  /** 1..12 */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanosecond: number;
  /** Seconds east of UTC. */
  readonly offset: number;
  readonly zone: string;
}

const MONTHS = "January February March April May June July August September October November December".split(" ");
export const WEEKDAYS: readonly string[] = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** Days since 1970-01-01 of a date in the Gregorian calendar; month and day may overflow. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const y = year + Math.floor((month - 1) / 12);
  const m = ((((month - 1) % 12) + 12) % 12) + 1;
  const shifted = m <= 2 ? y - 1 : y;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (m + (m > 2 ? -3 : 9)) + 2) / 5);
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468 + day - 1;
}

/** Year, month and day of days since 1970-01-01. */
function civilFromDays(days: number): readonly [number, number, number] {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const mp = Math.floor((5 * dayOfYear + 2) / 153);
  const month = mp < 10 ? mp + 3 : mp - 9;
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - Math.floor((153 * mp + 2) / 5) + 1];
}

/** Broken-down time of seconds and nanoseconds since the epoch at an offset. */
export function civil(seconds: number, nanosecond: number, offset: number, zone: string): Civil {
  const local = seconds + offset;
  const days = Math.floor(local / 86_400);
  const rest = local - days * 86_400;
  const [year, month, day] = civilFromDays(days);
  return {
    year,
    month,
    day,
    hour: Math.floor(rest / 3600),
    minute: Math.floor((rest % 3600) / 60),
    second: rest % 60,
    nanosecond,
    offset,
    zone,
  };
}

export function weekday(time: Pick<Civil, "year" | "month" | "day">): number {
  return (((daysFromCivil(time.year, time.month, time.day) + 4) % 7) + 7) % 7;
}

/** A layout's pieces: literal text, or one of Go's reference tokens. */
type Chunk = { readonly text: string } | { readonly token: string };

const TOKENS =
  /^(January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|002|0[1-6]|15|1|2006|__2|_2(?!006)|2|3|4|5|PM|pm|[-Z]07:00:00|[-Z]070000|[-Z]07:00|[-Z]0700|[-Z]07|[.,]0+(?!\d)|[.,]9+(?!\d))/;

function chunks(layout: string): Chunk[] {
  const out: Chunk[] = [];
  let text = "";
  for (let i = 0; i < layout.length; ) {
    const token = TOKENS.exec(layout.slice(i, i + 40))?.[1];
    if (token === undefined) text += layout[i++];
    else {
      if (text !== "") out.push({ text });
      text = "";
      out.push({ token });
      i += token.length;
    }
  }
  if (text !== "") out.push({ text });
  return out;
}

function two(n: number): string {
  return String(n).padStart(2, "0");
}

function zoneText(token: string, offset: number): string {
  if (token[0] === "Z" && offset === 0) return "Z";
  const magnitude = Math.abs(offset);
  const [h, m, s] = [two(Math.floor(magnitude / 3600)), two(Math.floor((magnitude % 3600) / 60)), two(magnitude % 60)];
  const sign = offset < 0 ? "-" : "+";
  switch (token.slice(1)) {
    case "07":
      return sign + h;
    case "0700":
      return sign + h + m;
    case "07:00":
      return `${sign}${h}:${m}`;
    case "070000":
      return sign + h + m + s;
    default:
      return `${sign}${h}:${m}:${s}`;
  }
}

/** Go's `Time.Format`. */
export function formatTime(time: Civil, layout: string): string {
  const month = MONTHS[time.month - 1] as string;
  const hour12 = time.hour % 12 === 0 ? 12 : time.hour % 12;
  let out = "";
  for (const chunk of chunks(layout)) {
    if ("text" in chunk) {
      out += chunk.text;
      continue;
    }
    const { token } = chunk;
    const plain: Readonly<Record<string, () => string>> = {
      January: () => month,
      Jan: () => month.slice(0, 3),
      "1": () => String(time.month),
      "01": () => two(time.month),
      Monday: () => WEEKDAYS[weekday(time)] as string,
      Mon: () => (WEEKDAYS[weekday(time)] as string).slice(0, 3),
      "2": () => String(time.day),
      _2: () => String(time.day).padStart(2, " "),
      "02": () => two(time.day),
      "002": () => String(dayOfYear(time)).padStart(3, "0"),
      __2: () => String(dayOfYear(time)).padStart(3, " "),
      "15": () => two(time.hour),
      "3": () => String(hour12),
      "03": () => two(hour12),
      "4": () => String(time.minute),
      "04": () => two(time.minute),
      "5": () => String(time.second),
      "05": () => two(time.second),
      "2006": () => (time.year < 0 ? `-${String(-time.year).padStart(4, "0")}` : String(time.year).padStart(4, "0")),
      "06": () => two(((time.year % 100) + 100) % 100),
      PM: () => (time.hour >= 12 ? "PM" : "AM"),
      pm: () => (time.hour >= 12 ? "pm" : "am"),
      MST: () => (time.zone === "" ? zoneText("-07", time.offset) : time.zone),
    };
    const write = plain[token];
    if (write !== undefined) out += write();
    else if (token[0] === "." || token[0] === ",") {
      const digits = String(time.nanosecond)
        .padStart(9, "0")
        .slice(0, Math.min(9, token.length - 1))
        .padEnd(token.length - 1, "0");
      const kept = token[1] === "9" ? digits.replace(/0+$/, "") : digits;
      out += kept === "" ? "" : token[0] + kept;
    } else out += zoneText(token, time.offset);
  }
  return out;
}

function dayOfYear(time: Pick<Civil, "year" | "month" | "day">): number {
  return daysFromCivil(time.year, time.month, time.day) - daysFromCivil(time.year, 1, 1) + 1;
}

/** Go's `time.Parse`: nanoseconds since the epoch. Throws {@link BuiltinError}. */
export function parseTime(layout: string, value: string): bigint {
  const fail = (reason = ""): never => {
    throw new BuiltinError(`parsing time ${JSON.stringify(value)} as ${JSON.stringify(layout)}: cannot parse${reason}`);
  };
  const range = (what: string): never => {
    throw new BuiltinError(`parsing time ${JSON.stringify(value)}: ${what} out of range`);
  };
  let rest = value;
  let year = 0;
  let month = -1;
  let day = -1;
  let yearDay = -1;
  let hour = 0;
  let minute = 0;
  let second = 0;
  let nanosecond = 0;
  let afternoon: boolean | undefined;
  let offset: number | undefined;

  const take = (pattern: RegExp): string => {
    const found = pattern.exec(rest)?.[0];
    if (found === undefined) return fail(` ${JSON.stringify(rest)}`);
    rest = rest.slice(found.length);
    return found;
  };
  const number = (fixed: boolean): number => Number(take(fixed ? /^\d\d/ : /^\d\d?/));
  const literal = (text: string): void => {
    for (let i = 0; i < text.length; ) {
      if (text[i] === " ") {
        if (rest !== "" && rest[0] !== " ") fail();
        while (text[i] === " ") i++;
        rest = rest.replace(/^ +/, "");
      } else {
        if (rest[0] !== text[i]) fail();
        rest = rest.slice(1);
        i++;
      }
    }
  };
  const name = (names: readonly string[], length?: number): number => {
    const found = names.findIndex((n) => rest.toLowerCase().startsWith(n.slice(0, length).toLowerCase()));
    if (found < 0) fail();
    rest = rest.slice((names[found] as string).slice(0, length).length);
    return found;
  };

  const all = chunks(layout);
  all.forEach((chunk, position) => {
    if ("text" in chunk) {
      literal(chunk.text);
      return;
    }
    const { token } = chunk;
    switch (token) {
      case "2006":
        year = Number(take(/^\d{4}/));
        break;
      case "06":
        year = Number(take(/^\d\d/));
        year += year >= 69 ? 1900 : 2000;
        break;
      case "January":
        month = name(MONTHS) + 1;
        break;
      case "Jan":
        month = name(MONTHS, 3) + 1;
        break;
      case "1":
      case "01":
        month = number(token === "01");
        if (month < 1 || month > 12) range("month");
        break;
      case "Monday":
        name(WEEKDAYS);
        break;
      case "Mon":
        name(WEEKDAYS, 3);
        break;
      case "2":
      case "_2":
      case "02":
        if (token === "_2" && rest[0] === " ") rest = rest.slice(1);
        day = number(token === "02");
        break;
      case "002":
      case "__2":
        if (token === "__2") rest = rest.replace(/^ {1,2}/, (spaces) => "0".repeat(spaces.length));
        yearDay = Number(take(/^\d{3}/));
        break;
      case "15":
        hour = number(false);
        if (hour > 23) range("hour");
        break;
      case "3":
      case "03":
        hour = number(token === "03");
        if (hour > 12) range("hour");
        break;
      case "4":
      case "04":
        minute = number(token === "04");
        if (minute > 59) range("minute");
        break;
      case "5":
      case "05": {
        second = number(token === "05");
        if (second > 59) range("second");
        const next = all[position + 1];
        const fractional = next !== undefined && "token" in next && /^[.,]/.test(next.token);
        if (!fractional && /^[.,]\d/.test(rest)) nanosecond = fraction(take(/^[.,]\d+/));
        break;
      }
      case "PM":
      case "pm": {
        const mark = rest.slice(0, 2);
        const [am, pm] = token === "PM" ? ["AM", "PM"] : ["am", "pm"];
        if (mark !== am && mark !== pm) fail();
        afternoon = mark === pm;
        rest = rest.slice(2);
        break;
      }
      case "MST":
        offset = zoneName();
        break;
      default:
        if (token[0] === "." || token[0] === ",") {
          if (token[1] === "0") nanosecond = fraction(take(new RegExp(`^[.,]\\d{${token.length - 1}}`)));
          else if (/^[.,]\d/.test(rest)) nanosecond = fraction(take(/^[.,]\d{1,9}/));
        } else if (token[0] === "Z" && rest[0] === "Z") {
          rest = rest.slice(1);
          offset = 0;
        } else offset = zoneOffset(token.slice(1));
    }
  });

  function fraction(text: string): number {
    return Number(text.slice(1, 10).padEnd(9, "0"));
  }
  function zoneOffset(form: string): number {
    const pattern: Readonly<Record<string, RegExp>> = {
      "07": /^[+-]\d\d/,
      "0700": /^[+-]\d{4}/,
      "07:00": /^[+-]\d\d:\d\d/,
      "070000": /^[+-]\d{6}/,
      "07:00:00": /^[+-]\d\d:\d\d:\d\d/,
    };
    const text = take(pattern[form] as RegExp);
    const digits = text.replace(/[^\d]/g, "").padEnd(6, "0");
    const [h, m, s] = [Number(digits.slice(0, 2)), Number(digits.slice(2, 4)), Number(digits.slice(4, 6))];
    if (h > 24) range("time zone offset hour");
    if (m > 60) range("time zone offset minute");
    return (text[0] === "-" ? -1 : 1) * (h * 3600 + m * 60 + s);
  }
  function zoneName(): number {
    if (rest.startsWith("UTC")) {
      rest = rest.slice(3);
      return 0;
    }
    const gmt = /^GMT([+-]\d{1,2})?/.exec(rest);
    if (gmt !== null) {
      rest = rest.slice(gmt[0].length);
      return Number(gmt[1] ?? 0) * 3600;
    }
    if (/^(ChST|MeST)/.test(rest)) {
      rest = rest.slice(4);
      return 0;
    }
    const numeric = /^[+-]\d\d/.exec(rest);
    if (numeric !== null) {
      rest = rest.slice(3);
      return Number(numeric[0]) * 3600;
    }
    const letters = /^[A-Z]+/.exec(rest)?.[0] ?? "";
    const valid =
      letters.length === 3 ||
      (letters.length === 4 && (letters.endsWith("T") || letters === "WITA")) ||
      (letters.length === 5 && letters.endsWith("T"));
    if (!valid) fail();
    rest = rest.slice(letters.length);
    // a name without a known offset: Go makes up a zone at UTC
    return 0;
  }

  if (rest !== "") {
    throw new BuiltinError(`parsing time ${JSON.stringify(value)}: extra text: ${JSON.stringify(rest)}`);
  }
  if (afternoon === true && hour < 12) hour += 12;
  else if (afternoon === false && hour === 12) hour = 0;
  if (yearDay >= 0) {
    const [, m, d] = civilFromDays(daysFromCivil(year, 1, 1) + yearDay - 1);
    if (yearDay < 1 || yearDay > daysFromCivil(year + 1, 1, 1) - daysFromCivil(year, 1, 1)) range("day-of-year");
    if (month >= 0 && month !== m) fail(": day-of-year does not match month");
    month = m;
    if (day >= 0 && day !== d) fail(": day-of-year does not match day");
    day = d;
  } else {
    if (month < 0) month = 1;
    if (day < 0) day = 1;
  }
  if (day < 1 || day > daysFromCivil(year, month + 1, 1) - daysFromCivil(year, month, 1)) range("day");
  const seconds = daysFromCivil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - (offset ?? 0);
  return BigInt(seconds) * 1_000_000_000n + BigInt(nanosecond);
}

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Go's `time.ParseDuration`, in nanoseconds. Throws {@link BuiltinError}. */
export function parseDuration(text: string): bigint {
  const invalid = (): never => {
    throw new BuiltinError(`time: invalid duration ${JSON.stringify(text)}`);
  };
  const signed = /^([+-]?)(.*)$/s.exec(text) as RegExpExecArray;
  const body = signed[2] as string;
  if (body === "0") return 0n;
  if (body === "") return invalid();
  const segment = /(\d*)(?:\.(\d*))?([^\d.]+)/y;
  let total = 0n;
  let at = 0;
  while (at < body.length) {
    segment.lastIndex = at;
    const match = segment.exec(body);
    const [all, whole = "", fraction = "", name = ""] = match ?? [];
    const unit = Object.hasOwn(UNITS, name) ? UNITS[name] : undefined;
    if (all === undefined || (whole === "" && fraction === "")) return invalid();
    if (unit === undefined)
      throw new BuiltinError(`time: unknown unit ${JSON.stringify(name)} in duration ${JSON.stringify(text)}`);
    total += BigInt(whole || "0") * unit;
    const kept = fraction.slice(0, 18);
    if (kept !== "") total += (BigInt(kept) * unit) / 10n ** BigInt(kept.length);
    if (total > 1n << 63n) return invalid();
    at += all.length;
  }
  if (signed[1] === "-") return -total;
  return total >= 1n << 63n ? invalid() : total;
}
