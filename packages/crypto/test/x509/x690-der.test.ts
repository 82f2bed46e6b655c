import { isIP } from "node:net";
import { hex, utf8 } from "@seneschal/crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  DerReader,
  der,
  integer,
  namedBits,
  oid,
  readDer,
  readInteger,
  readNamedBits,
  readOid,
  readString,
  readTime,
  readUnsigned,
  setOf,
  TAG,
  time,
  unsignedInteger,
  utf8String,
} from "../../src/x509/der.ts";
import { ipText, parseIp } from "../../src/x509/ip-address.ts";

const invalid = expect.objectContaining({ code: "der_invalid" });
const bytes = (text: string) => Uint8Array.from(Buffer.from(text.replace(/ /g, ""), "hex"));

describe("what was written reads back", () => {
  test("object identifiers, also arcs beyond 2^32 and the roots' limits", () => {
    fc.assert(
      fc.property(fc.nat(2), fc.nat(39), fc.array(fc.nat({ max: 2 ** 48 }), { maxLength: 8 }), (first, second, rest) => {
        const dotted = [first, second, ...rest].join(".");
        expect(readOid(readDer(oid(dotted)))).toBe(dotted);
      }),
    );
    expect(hex(oid("1.2.840.113549.1.1.11"))).toBe("06092a864886f70d01010b");
    for (const text of ["", "1", "3.1", "1.40", "1.2.x", "1..2"]) expect(() => oid(text)).toThrow(invalid);
  });

  test("integers, minimal and never negative", () => {
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 47 }), (value) => {
        expect(readInteger(readDer(integer(value)))).toBe(value);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (magnitude) => {
        const expected = BigInt(`0x${hex(magnitude)}`);
        expect(BigInt(`0x${hex(readUnsigned(readDer(unsignedInteger(magnitude))))}`)).toBe(expected);
      }),
    );
    expect(hex(integer(128))).toBe("02020080");
  });

  test("named bits, times of both kinds, lengths of every form", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(15)), (bits) => {
        expect(readNamedBits(readDer(namedBits(bits)))).toEqual([...bits].sort((a, b) => a - b));
      }),
    );
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1950, 0, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 }), (seconds) => {
        expect(readTime(readDer(time(seconds * 1000)))).toBe(seconds * 1000);
      }),
    );
    for (const length of [0, 127, 128, 255, 256, 65535, 65536, 20_000_000]) {
      expect(readDer(der(TAG.octetString, new Uint8Array(length))).content).toHaveLength(length);
    }
  });

  test("sets are sorted by their encoding, whatever the order given", () => {
    const items = ["b", "a", "ab", ""].map(utf8String);
    expect(hex(setOf(...items))).toBe(hex(setOf(...[...items].reverse())));
  });
});

describe("what has two encodings, or none, is refused", () => {
  test.each([
    ["length in the long form where the short one fits", "04 81 01 00"],
    ["length with a leading zero", `04 82 00 80 ${"00".repeat(128)}`],
    ["indefinite length", "30 80 00 00"],
    ["length beyond the bytes", "04 02 00"],
    ["bytes behind the element", "05 00 00"],
    ["tag of several bytes", "1f 81 01 00"],
    ["nothing", ""],
  ])("%s", (_name, text) => {
    expect(() => readDer(bytes(text))).toThrow(invalid);
  });

  test("padded and negative integers, padded identifiers, booleans that are neither", () => {
    for (const text of ["02 02 00 01", "02 01 80", "02 00", "04 01 00"])
      expect(() => readUnsigned(readDer(bytes(text)))).toThrow(invalid);
    for (const text of ["06 03 2a 80 01", "06 02 2a 86", "06 00"]) expect(() => readOid(readDer(bytes(text)))).toThrow(invalid);
  });

  test("times with fractions, zones, without seconds, and days that do not exist", () => {
    const at = (tag: number, text: string) => readTime(readDer(der(tag, utf8(text))));
    for (const text of ["2602290000Z", "260229000000Z", "261301000000Z", "260101000000+0000", "260101240000Z"]) {
      expect(() => at(TAG.utcTime, text)).toThrow(invalid);
    }
    for (const text of ["20260101000000.5Z", "20260101000000", "20261332000000Z"]) {
      expect(() => at(TAG.generalizedTime, text)).toThrow(invalid);
    }
    expect(at(TAG.utcTime, "240229000000Z")).toBe(Date.UTC(2024, 1, 29));
    expect(at(TAG.utcTime, "500101000000Z")).toBe(Date.UTC(1950, 0, 1));
  });

  test("a reader stops at missing, unexpected and leftover elements", () => {
    const two = readDer(bytes("30 06 02 01 05 02 01 06"));
    const reader = new DerReader(two, TAG.sequence);
    expect(readInteger(reader.next(TAG.integer))).toBe(5);
    expect(() => reader.end()).toThrow(invalid);
    expect(reader.optional(TAG.oid)).toBeUndefined();
    expect(() => reader.next(TAG.oid)).toThrow(invalid);
    expect(() => new DerReader(two, TAG.set)).toThrow(invalid);
    expect(() => readString(readDer(bytes("02 01 05")))).toThrow(invalid);
  });
});

test("IP addresses: RFC 5952 text, and the same bytes for every way of writing", () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const parsed = parseIp(text);
      expect(parsed.length).toBe(text.includes(":") ? 16 : 4);
      const shown = ipText(parsed);
      expect(isIP(shown)).toBe(text.includes(":") ? 6 : 4);
      expect(parseIp(shown)).toEqual(parsed);
      // WHATWG URLs write IPv6 by RFC 5952, too.
      if (text.includes(":")) expect(new URL(`http://[${text}]/`).hostname).toBe(`[${shown}]`);
    }),
  );
  for (const text of [
    "",
    "1.2.3",
    "1.2.3.256",
    "01.2.3.4",
    "1::2::3",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9",
    "g::",
    "1:2:3:4:5:6:7::8",
    ":::",
  ]) {
    expect(() => parseIp(text), text).toThrow(expect.objectContaining({ code: "x509_invalid" }));
  }
});
