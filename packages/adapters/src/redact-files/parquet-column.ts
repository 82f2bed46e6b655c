import { utf8Decode } from "@seneschal/kernel";
import type { SchemaElement } from "hyparquet";

/** How a value that is stored in a column reads as a text; `undefined` for one that is none. */
export type ReadStored = (stored: unknown) => string | undefined;

/**
 * How the values of a column of Parquet read, as they are stored (Apache Parquet, LogicalTypes.md): decimals with all their digits, dates and times as ISO 8601 with the digits of their unit.
 * `undefined` for types that nobody reads: intervals, BSON, geometries, variants.
 */
export function readerOf({
  type,
  converted_type: converted,
  logical_type: logical,
  scale = 0,
}: SchemaElement): ReadStored | undefined {
  const kind = logical?.type ?? converted;
  const isBytes = type === "BYTE_ARRAY" || type === "FIXED_LEN_BYTE_ARRAY";
  switch (kind) {
    case undefined:
      if (type === "INT96") return (nanos) => timestampOf(nanos as bigint, "NANOS", false);
      return isBytes ? (bytes) => textIn(bytes as Uint8Array, CONTROL) : String;
    case "STRING":
    case "UTF8":
    case "ENUM":
    case "JSON":
      return isBytes ? (bytes) => textIn(bytes as Uint8Array, NUL) : undefined;
    case "UUID":
      return (bytes) =>
        Buffer.from(bytes as Uint8Array)
          .toString("hex")
          .replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    case "DECIMAL": {
      const places = logical?.type === "DECIMAL" ? logical.scale : scale;
      return (stored) => decimalOf(isBytes ? integerOf(stored as Uint8Array) : BigInt(stored as number), places);
    }
    case "DATE":
      return (days) => dateOf(BigInt(days as number)) ?? String(days);
    case "TIME":
    case "TIME_MILLIS":
    case "TIME_MICROS":
      return (stored) => timeOf(BigInt(stored as number), unitOf(logical, kind));
    case "TIMESTAMP":
    case "TIMESTAMP_MILLIS":
    case "TIMESTAMP_MICROS": {
      const utc = logical?.type === "TIMESTAMP" ? logical.isAdjustedToUTC : true;
      return (stored) => timestampOf(stored as bigint, unitOf(logical, kind), utc);
    }
    case "INTEGER":
      return logical?.type === "INTEGER" && !logical.isSigned ? unsignedOf(type) : String;
    case "UINT_8":
    case "UINT_16":
    case "UINT_32":
    case "UINT_64":
      return unsignedOf(type);
    case "INT_8":
    case "INT_16":
    case "INT_32":
    case "INT_64":
      return String;
    default:
      return undefined;
  }
}

/** A column of texts that stands where `element` stood. */
export function textColumn(element: SchemaElement): SchemaElement {
  const { name, repetition_type, field_id } = element;
  return {
    name,
    type: "BYTE_ARRAY",
    converted_type: "UTF8",
    logical_type: { type: "STRING" },
    ...(repetition_type !== undefined && { repetition_type }),
    ...(field_id !== undefined && { field_id }),
  };
}

/** Is stored as UTF-8. */
export function isTextColumn({ type, converted_type: converted, logical_type: logical }: SchemaElement): boolean {
  const kind = logical?.type ?? converted;
  return type === "BYTE_ARRAY" && (kind === undefined || ["STRING", "UTF8", "ENUM", "JSON"].includes(kind));
}

type Unit = "MILLIS" | "MICROS" | "NANOS";

const PER_SECOND: Readonly<Record<Unit, bigint>> = { MILLIS: 1_000n, MICROS: 1_000_000n, NANOS: 1_000_000_000n };

function unitOf(logical: SchemaElement["logical_type"], kind: string): Unit {
  if (logical?.type === "TIME" || logical?.type === "TIMESTAMP") return logical.unit;
  return kind.endsWith("MICROS") ? "MICROS" : "MILLIS";
}

/** No text holds these, and every text in UTF-16 or UTF-32 that is not all of one far script does. */
const NUL = /\0/;
const CONTROL = /(?![\t\n\r])\p{Cc}/u;

function textIn(bytes: Uint8Array, unless: RegExp): string | undefined {
  try {
    const text = utf8Decode(bytes);
    return unless.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Two's complement, the highest byte first. */
function integerOf(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

function decimalOf(unscaled: bigint, places: number): string {
  const sign = unscaled < 0n ? "-" : "";
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(places + 1, "0");
  return places > 0 ? `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}` : sign + digits;
}

function unsignedOf(type: SchemaElement["type"]): ReadStored {
  return (stored) => String(BigInt.asUintN(type === "INT64" ? 64 : 32, BigInt(stored as number)));
}

const DAY = 86_400n;

function dateOf(days: bigint): string | undefined {
  const date = new Date(Number(days * DAY) * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace(/T.*/, "");
}

function timeOf(stored: bigint, unit: Unit): string {
  const seconds = stored / PER_SECOND[unit];
  const part = (value: bigint, width = 2) => String(value).padStart(width, "0");
  const fraction = part(stored % PER_SECOND[unit], String(PER_SECOND[unit]).length - 1);
  return `${part(seconds / 3600n)}:${part((seconds / 60n) % 60n)}:${part(seconds % 60n)}.${fraction}`;
}

function timestampOf(stored: bigint, unit: Unit, utc: boolean): string {
  const perDay = DAY * PER_SECOND[unit];
  const time = ((stored % perDay) + perDay) % perDay;
  const date = dateOf((stored - time) / perDay);
  return date === undefined ? String(stored) : `${date}T${timeOf(time, unit)}${utc ? "Z" : ""}`;
}
