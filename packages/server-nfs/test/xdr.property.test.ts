import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mountProcedures } from "../src/mount3.ts";
import { nfsProcedures } from "../src/nfs3/procedures.ts";
import { authSys, callHead, readCall, replyHead } from "../src/rpc/messages.ts";
import { decodeXdr } from "../src/xdr/decode.ts";
import { encodeXdr } from "../src/xdr/encode.ts";
import { array, fixed, hyper, list, opaque, type Shape, struct, unsigned, type Xdr } from "../src/xdr/types.ts";
import { arbitraryOf } from "./arbitrary-of.ts";

const encoded = <T>(type: Xdr<T>, value: T) => Buffer.concat(encodeXdr(type, value));
const types: readonly (readonly [string, Shape])[] = [
  ["call", callHead],
  ["reply", replyHead],
  ["AUTH_SYS", authSys],
  ...Object.entries({ ...nfsProcedures, ...mountProcedures }).flatMap(([name, { args, reply }]) => [
    [`${name} arguments`, args as Shape] as const,
    [`${name} results`, reply as Shape] as const,
  ]),
];
const isXdrError = (error: unknown) => (error as { readonly code?: string }).code === "xdr_invalid";

describe.each(types)("%s", (_, type) => {
  test("what is written is read back, in whole words", () => {
    fc.assert(
      fc.property(arbitraryOf(type), (value) => {
        const bytes = encoded(type, value);
        expect(bytes.length % 4).toBe(0);
        expect(encoded(type, decodeXdr(type, bytes)).equals(bytes)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  test("whatever the bytes are, they are a value or xdr_invalid; what is cut short or too long is refused", () => {
    fc.assert(
      fc.property(arbitraryOf(type), fc.uint8Array({ maxLength: 64 }), fc.nat(), fc.nat(255), (value, junk, at, byte) => {
        const whole = encoded(type, value);
        const mutated = Buffer.from(whole);
        if (mutated.length > 0) mutated[at % mutated.length] = byte;
        for (const bytes of [junk, mutated]) {
          try {
            decodeXdr(type, bytes);
          } catch (error) {
            if (!isXdrError(error)) throw error;
          }
        }
        if (whole.length > 0) expect(() => decodeXdr(type, whole.subarray(0, whole.length - 4))).toThrow(/end|values/);
        expect(() => decodeXdr(type, Buffer.concat([whole, Buffer.alloc(4)]))).toThrow();
      }),
      { numRuns: 30 },
    );
  });
});

test("RFC 4506, 7: the file record of the standard's example", () => {
  const file = struct({
    filename: opaque(255),
    kind: unsigned,
    interpreter: opaque(255),
    owner: opaque(32),
    data: opaque(65_535),
  });
  const text = (it: string) => Buffer.from(it);
  const bytes = encoded(file, {
    filename: text("sillyprog"),
    kind: 2,
    interpreter: text("lisp"),
    owner: text("john"),
    data: text("(quit)"),
  });
  expect(bytes.toString("hex")).toBe(
    "0000000973696c6c7970726f67000000000000020000000 46c697370000000046a6f686e0000000628717569742900 00".replaceAll(" ", ""),
  );
});

test("lengths are looked at before anything is set aside for them", () => {
  const long = Buffer.from("ffffffff00000000", "hex");
  expect(() => decodeXdr(opaque(0xffffffff), long)).toThrow("the bytes end within a value");
  expect(() => decodeXdr(array(unsigned, 0xffffffff), long)).toThrow("4294967295 values");
  expect(() => decodeXdr(opaque(4), Buffer.from("0000000500000000", "hex"))).toThrow("5 bytes where 4 are the most");
  const ones = Buffer.alloc(8 * 100, Buffer.from("0000000100000001", "hex"));
  expect(() => decodeXdr(list(unsigned, 8), ones)).toThrow("more values than 8");
});

test("what does not fit its type is not written", () => {
  expect(() => encodeXdr(unsigned, -1)).toThrow(RangeError);
  expect(() => encodeXdr(unsigned, 2 ** 32)).toThrow(RangeError);
  expect(() => encodeXdr(hyper, 1n << 64n)).toThrow(RangeError);
  expect(() => encodeXdr(fixed(8), new Uint8Array(7))).toThrow(RangeError);
  expect(() => encodeXdr(opaque(2), new Uint8Array(3))).toThrow(RangeError);
});

test("a record that is no call is rpc_invalid, whatever it is", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      try {
        readCall(bytes);
      } catch (error) {
        expect((error as { readonly code?: string }).code).toBe("rpc_invalid");
      }
    }),
  );
});
