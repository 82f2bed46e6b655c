import fc from "fast-check";
import { expect, test } from "vitest";
import { createRecordReader, frameRecord } from "../src/rpc/records.ts";

const mark = (length: number, last: boolean): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(last ? (0x80000000 | length) >>> 0 : length);
  return bytes;
};

/** Pieces of a stream, cut anywhere. */
function cut(stream: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (let i = 0; at < stream.length; i++) {
    const length = 1 + (lengths[i % Math.max(1, lengths.length)] ?? 1000);
    pieces.push(stream.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

test("records come out of a stream as they went in, however it is fragmented and cut", () => {
  const record = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(record, { maxLength: 5 }), fc.array(fc.nat(30), { maxLength: 5 }), (records, lengths) => {
      const stream = Buffer.concat(
        records.flatMap((fragments) => fragments.flatMap((f, i) => [mark(f.length, i === fragments.length - 1), f])),
      );
      const reader = createRecordReader(1000);
      const out = cut(stream, lengths).flatMap((piece) => reader.push(piece));
      expect(out.map((r) => Buffer.from(r).toString("hex"))).toEqual(records.map((f) => Buffer.concat(f).toString("hex")));
      expect(reader.pending).toBe(0);
    }),
  );
});

test("a framed record is read back", () => {
  const framed = Buffer.concat(frameRecord([Buffer.from("ab"), Buffer.from("cd")]));
  expect(createRecordReader(10).push(framed).map(String)).toEqual([String(Buffer.from("abcd"))]);
});

test("a mark that announces more than the most is refused, before any of it has come", () => {
  expect(() => createRecordReader(100).push(mark(101, true))).toThrow("a record of more than 100 bytes");
  const reader = createRecordReader(100);
  reader.push(Buffer.concat([mark(60, false), Buffer.alloc(60)]));
  expect(() => reader.push(mark(60, true))).toThrow("a record of more than 100 bytes");
});

test("a record in endless empty fragments is refused", () => {
  const reader = createRecordReader(100);
  expect(() => {
    for (let i = 0; i < 100; i++) reader.push(mark(0, false));
  }).toThrow("a record of more than 64 fragments");
});

test("any bytes are records or rpc_invalid, and no more is held than the most", () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (pieces) => {
      const reader = createRecordReader(64);
      try {
        for (const piece of pieces) {
          reader.push(piece);
          expect(reader.pending).toBeLessThanOrEqual(68);
        }
      } catch (error) {
        expect((error as { readonly code?: string }).code).toBe("rpc_invalid");
      }
    }),
  );
});
