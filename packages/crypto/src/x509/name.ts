import { checkArgument } from "@seneschal/kernel";
import { cryptoError } from "../errors.ts";
import {
  type DerElement,
  DerReader,
  der,
  ia5,
  oid,
  printableString,
  readChildren,
  readOid,
  readString,
  sequence,
  setOf,
  TAG,
  utf8String,
} from "./der.ts";

const TYPES = {
  CN: "2.5.4.3",
  SERIALNUMBER: "2.5.4.5",
  C: "2.5.4.6",
  L: "2.5.4.7",
  ST: "2.5.4.8",
  O: "2.5.4.10",
  OU: "2.5.4.11",
  UID: "0.9.2342.19200300.100.1.1",
  DC: "0.9.2342.19200300.100.1.25",
  E: "1.2.840.113549.1.9.1",
} as const;
const SHORT = new Map<string, string>(Object.entries(TYPES).map(([short, dotted]) => [dotted, short]));

/** One attribute of a name: `CN`, `O`, `OU`, `C`, `L`, `ST`, `SERIALNUMBER`, `UID`, `DC`, `E`, or a dotted identifier. */
export interface NameAttribute {
  readonly type: string;
  readonly value: string;
}

/** A distinguished name, most general attribute first, one attribute per step. */
export type Name = readonly NameAttribute[];

/**
 * Encodes a name: UTF8String, PrintableString for countries and serial numbers, IA5String for mail and domain components.
 * Throws `x509_invalid`.
 */
export function encodeName(name: Name): Uint8Array {
  return sequence(
    ...name.map(({ type, value }) => {
      const dotted = (TYPES as Readonly<Record<string, string>>)[type] ?? type;
      if (value === "" || value.includes("\0")) throw cryptoError("x509_invalid", `name attribute ${type} is empty`);
      if (type === "C" && !/^[A-Z]{2}$/.test(value)) throw cryptoError("x509_invalid", "country must be two letters");
      const text =
        type === "C" || type === "SERIALNUMBER"
          ? printableString(value)
          : type === "E" || type === "DC"
            ? der(TAG.ia5String, ia5(value))
            : utf8String(value);
      return setOf(sequence(oid(dotted), text));
    }),
  );
}

export function decodeName(element: DerElement): Name {
  return readChildren(element, TAG.sequence).flatMap((step) =>
    readChildren(step, TAG.set).map((attribute) => {
      const reader = new DerReader(attribute, TAG.sequence);
      const dotted = readOid(reader.next());
      const value = readString(reader.next());
      reader.end();
      return { type: SHORT.get(dotted) ?? dotted, value };
    }),
  );
}

/** First value of an attribute type. */
export function nameValue(name: Name, type: string): string | undefined {
  checkArgument("name", name, "array");
  checkArgument("type", type, "string");
  return name.find((attribute) => attribute.type === type)?.value;
}

/** Text for people and logs, for example `CN=node-1, O=acme`. Not meant to be parsed. */
export function nameText(name: Name): string {
  checkArgument("name", name, "array");
  return [...name]
    .reverse()
    .map(({ type, value }) => `${type}=${value.replace(/[,+"\\<>;=]/g, "\\$&")}`)
    .join(", ");
}
