/** Values so long are looked for wherever they stand. */
export const REPEATED_FROM = 4;

/** Values that are redacted wherever they stand as whole words, and the entity of each. */
export interface KnownValues {
  /** By their first {@link REPEATED_FROM} units, so that the work grows with the text and not with their number. */
  readonly byStart: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** By their number, as {@link plainNumber} spells it. */
  readonly numbers: ReadonlyMap<string, string>;
}

const NUMBER =
  /(?<![\p{L}\p{N}.])(?:\d{1,3}(?:([,.' \u00a0\u2009\u202f])\d{3})(?:\1\d{3})*|\d+)(?:[.,]\d+)?(?:[eE][+-]?\d{1,3})?(?![\p{L}\p{N}])/gu;

/** Values with their entities, ready to be looked for; what is shorter than {@link REPEATED_FROM} is left out. */
export function knownValues(values: Iterable<readonly [value: string, entity: string]>): KnownValues {
  const byStart = new Map<string, Map<string, string>>();
  const numbers = new Map<string, string>();
  for (const [given, entity] of values) {
    const value = given.trim();
    const number = plainNumber(value);
    if (number !== undefined && number.replace("-", "").length >= REPEATED_FROM) numbers.set(number.replace("-", ""), entity);
    if (value.length < REPEATED_FROM) continue;
    const key = value.slice(0, REPEATED_FROM);
    byStart.set(key, (byStart.get(key) ?? new Map<string, string>()).set(value, entity));
  }
  return { byStart, numbers };
}

/** Where known values stand in a text as numbers, however these are spelled: with an exponent, zeros at their end, or marks between thousands. */
export function* knownNumbers(text: string, { numbers }: KnownValues): Generator<{ start: number; end: number; entity: string }> {
  if (numbers.size === 0) return;
  for (const { 0: written, index } of text.matchAll(NUMBER)) {
    const readings = [written, written.replaceAll(/[,.' \u00a0\u2009\u202f](?=\d{3}(?!\d))/gu, ""), written.replace(",", ".")];
    const entity = readings.map((each) => numbers.get(plainNumber(each) ?? "")).find((each) => each !== undefined);
    if (entity !== undefined) yield { start: index, end: index + written.length, entity };
  }
}

/** A number as people write it, without an exponent and without zeros that say nothing: `4.1E3` and `4100.0` are `4100`. `undefined` for what is no number. */
export function plainNumber(text: string): string | undefined {
  const [, sign = "", whole = "", part = "", exponent = "0"] =
    /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?\s*$/.exec(text) ?? [];
  if (whole + part === "") return undefined;
  const digits = whole + part;
  const point = whole.length + Number(exponent);
  const before = point <= 0 ? "0" : digits.slice(0, point).padEnd(point, "0");
  const after = (point < 0 ? "0".repeat(-point) + digits : digits.slice(point)).replace(/0+$/, "");
  return `${sign === "-" ? "-" : ""}${before.replace(/^0+(?=\d)/, "")}${after === "" ? "" : `.${after}`}`;
}
