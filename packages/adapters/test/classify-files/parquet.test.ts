import { readFile } from "node:fs/promises";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { type CompressionCodec, parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { classifyFile, classifyParquet, type RandomAccess } from "../../src/classify-files/index.ts";
import { checkDeltaStrings, checkLevels, checkRuns } from "../../src/classify-files/parquet/check-page.ts";
import { checkThrift } from "../../src/classify-files/parquet/check-thrift.ts";
import { pageStart } from "../../src/classify-files/parquet/decode-page.ts";
import { readParquet } from "../../src/classify-files/parquet/read-parquet.ts";

const compressors = {
  GZIP: (bytes: Uint8Array) => Uint8Array.from(gzipSync(bytes)),
  BROTLI: (bytes: Uint8Array) => Uint8Array.from(brotliCompressSync(bytes)),
};
const unpackers = {
  GZIP: (bytes: Uint8Array) => Uint8Array.from(gunzipSync(bytes)),
  BROTLI: (bytes: Uint8Array) => Uint8Array.from(brotliDecompressSync(bytes)),
};
const codecs: readonly CompressionCodec[] = ["UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI"];

type Columns = Parameters<typeof parquetWriteBuffer>[0]["columnData"];
function written(columnData: Columns, codec: CompressionCodec = "SNAPPY", rowGroupSize = 100, pageSize = 400): Uint8Array {
  return new Uint8Array(parquetWriteBuffer({ columnData, codec, compressors, rowGroupSize, pageSize }));
}

/** A file in memory that remembers the most that was asked for at once. */
function opened(bytes: Uint8Array): RandomAccess & { readonly most: () => number } {
  let most = 0;
  return {
    byteLength: bytes.length,
    async read(start, end) {
      most = Math.max(most, end - start);
      return bytes.subarray(start, end);
    },
    most: () => most,
  };
}

async function valuesIn(bytes: Uint8Array): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for await (const { column, values } of readParquet(opened(bytes))) found[column] = [...(found[column] ?? []), ...values];
  return found;
}

describe("reading Parquet", () => {
  const text = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom("a", "b", "ü", ""));
  const cells = <T>(cell: fc.Arbitrary<T>, type: "STRING" | "INT32" | "BOOLEAN" | "DOUBLE") =>
    fc.array(cell, { minLength: 1, maxLength: 250 }).map((data) => ({ name: "c", data, type }));
  const column = fc.oneof(
    cells(text, "STRING"),
    cells(fc.option(text), "STRING"),
    cells(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), "INT32"),
    cells(fc.boolean(), "BOOLEAN"),
    cells(fc.double({ noNaN: true }), "DOUBLE"),
  );

  test("every value is the one that an independent reader of whole files finds, in order, whatever the codec", async () => {
    await fc.assert(
      fc.asyncProperty(
        column,
        fc.constantFrom(...codecs),
        fc.integer({ min: 1, max: 120 }),
        async (data, codec, rowGroupSize) => {
          const bytes = written([data], codec, rowGroupSize);
          const rows = await parquetReadObjects({ file: bytes.buffer as ArrayBuffer, compressors: unpackers });
          const expected = rows
            .map((row) => row["c"])
            .filter((value) => value !== null && value !== undefined)
            .map(String);
          expect((await valuesIn(bytes))["c"] ?? []).toEqual(expected);
        },
      ),
    );
  });

  test.each(["zstd-dictionary-v1", "lz4-delta-v2", "gzip-plain-v1", "brotli-v2"])("a file of Apache Arrow: %s", async (name) => {
    const rows = Array.from({ length: 200 }, (_, i) => i);
    const values = await valuesIn(await readFile(new URL(`fixtures/${name}.parquet`, import.meta.url)));
    expect(values).toEqual({
      email: rows.filter((i) => i % 5 !== 0).map((i) => `ada${i}@example.org`),
      city: rows.map((i) => (i % 2 === 1 ? "Paris" : "Oslo")),
      count: rows.map((i) => String(i - 100)),
      born: rows.map((i) => new Date(i * 86_400_000).toISOString()),
      paid: rows.map((i) => String(i / 4)),
      tags: rows.filter((i) => i % 5 !== 0).flatMap((i) => [`t${i}`, `u${i}`]),
      "home.zip": rows.map((i) => String(10_000 + i)),
    });
  });

  test("a file is never asked for more than a page and a fetch at once", async () => {
    const data = Array.from({ length: 60_000 }, (_, i) => `value number ${i} of a long column`);
    const bytes = written(
      [
        { name: "a", data },
        { name: "b", data },
      ],
      "UNCOMPRESSED",
      60_000,
    );
    const file = opened(bytes);
    for await (const _ of readParquet(file));
    expect(bytes.length).toBeGreaterThan(3_000_000);
    expect(file.most()).toBeLessThanOrEqual(1024 * 1024);
  });
});

describe("classifying Parquet", () => {
  const emails = Array.from({ length: 300 }, (_, i) => `ada${i}@example.org`);
  const ssns = Array.from({ length: 300 }, (_, i) => `536-22-${8000 + i}`);

  test("gives the columns and the tier that the same table gives as CSV", async () => {
    const bytes = written([
      { name: "email", data: emails },
      { name: "ssn", data: ssns },
      { name: "n", data: emails.map((_, i) => i) },
    ]);
    const csv = ["email,ssn,n", ...emails.map((email, i) => `${email},${ssns[i]},${i}`)].join("\n");
    const report = await classifyParquet(opened(bytes), { about: "people" });
    async function* whole() {
      yield csv;
    }
    expect(report).toEqual(await classifyFile(whole(), { format: "csv", about: "people" }));
    expect(report.tier).toBe("PROPRIETARY");
    expect(JSON.stringify(report)).not.toMatch(/ada\d|536-22/);
  });

  test("a secret that begins late in a long column is found", async () => {
    const data = Array.from({ length: 20_000 }, (_, i) => (i < 15_000 ? `nothing ${i}` : `card 4111111111111111 ${i}`));
    const report = await classifyParquet(opened(written([{ name: "note", data }], "SNAPPY", 5000)), { samples: 100 });
    expect(report.tier).toBe("RESTRICTED");
  });
});

describe("hostile Parquet", () => {
  const good = written(
    [
      { name: "a", data: Array.from({ length: 90 }, (_, i) => `text ${i % 7}`) },
      { name: "b", data: Array.from({ length: 90 }, (_, i) => (i % 3 === 0 ? null : i)), type: "INT32" },
    ],
    "UNCOMPRESSED",
    40,
  );
  const outcome = (bytes: Uint8Array) =>
    classifyParquet(opened(bytes)).then(
      () => "read",
      (error: { code?: string }) => error.code,
    );

  test("a file cut anywhere is refused by name", async () => {
    for (let length = 0; length < good.length; length += 7) expect(await outcome(good.slice(0, length))).toBe("file_invalid");
  });

  test("any change of the bytes of a file is read or refused by name, never another fault", async () => {
    const names = ["zstd-dictionary-v1", "lz4-delta-v2", "gzip-plain-v1", "brotli-v2"];
    const files = [
      good,
      ...(await Promise.all(names.map((name) => readFile(new URL(`fixtures/${name}.parquet`, import.meta.url))))),
    ];
    const change = fc.record({ at: fc.nat(), value: fc.oneof(fc.nat(255), fc.constantFrom(0xff, 0x7f, 0x00)) });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...files), fc.array(change, { minLength: 1, maxLength: 4 }), async (file, changes) => {
        const bytes = Uint8Array.from(file);
        for (const { at, value } of changes) bytes[at % bytes.length] = value;
        expect(["read", "file_invalid"]).toContain(await outcome(bytes));
      }),
    );
  });

  test("a footer or a page whose lists claim more than there are bytes, or nest without end, is refused before memory is taken", async () => {
    const varint = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...varint(Math.floor(n / 128))]);
    /** A struct whose first field is a list of lists of lists. */
    const nested = (claimed: number, depth: number): Uint8Array =>
      Uint8Array.from([0x19, ...Array.from({ length: depth }, () => [0xf9, ...varint(claimed)]).flat()]);
    const withFooter = (footer: Uint8Array): Uint8Array =>
      Buffer.concat([Buffer.from("PAR1"), footer, new Uint8Array(Uint32Array.of(footer.length).buffer), Buffer.from("PAR1")]);
    for (const claimed of [1, 40, 30_000_000, 400_000_000, 2 ** 40])
      for (const depth of [1, 100, 10_000]) {
        const struct = nested(claimed, depth);
        expect(await outcome(withFooter(struct))).toBe("file_invalid");
        expect(() => pageStart(struct)).toThrow();
        expect(() => checkThrift(struct)).toThrow(RangeError);
      }
  });

  test("a run of two thousand million values in six bytes is refused before it is unpacked", () => {
    const run = new DataView(Uint8Array.of(0xfe, 0xff, 0xff, 0xff, 0x0f, 0x01).buffer);
    expect(() => checkRuns(run, 0, 1, 1000)).toThrow("more values");
    const packed = new DataView(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x0f).buffer);
    expect(() => checkRuns(packed, 0, 0, 1000)).toThrow("more values");
  });

  test("a run is found where the decoder finds it: behind levels that end early, and behind packed values that take no bits", () => {
    const huge = [0xfe, 0xff, 0xff, 0xff, 0x0f, 0x01];
    const viewOf = (...bytes: readonly number[]) => new DataView(Uint8Array.from(bytes).buffer);
    // Two levels in two bytes, where four are claimed: the decoder goes on in what follows.
    const early = viewOf(0x04, 0x01, ...huge);
    expect(() => checkLevels(early, 0, 2, 1, 4)).toThrow("more values");
    expect(() => checkLevels(early, 0, 2, 1, 2)).not.toThrow();
    for (const packed of [0x01, 0x03]) {
      expect(() => checkRuns(viewOf(packed, 0x00, ...huge), 0, 0, 1000)).toThrow("more values");
      expect(() => checkRuns(viewOf(packed, 0x00, 0x02), 0, 0, 9)).not.toThrow();
    }
  });

  test("strings that repeat their whole past are refused before they are unpacked", () => {
    // Blocks of 128 in 4 parts, 128 values; the first length and each difference are a million: sums to far over the limit.
    const million = [0x80, 0x89, 0x7a];
    const block = [0x80, 0x01, 0x04, 0x80, 0x01, ...million, ...million, 0, 0, 0, 0];
    const view = new DataView(Uint8Array.from([...block, ...block]).buffer);
    expect(() => checkDeltaStrings(view, 0, 128)).toThrow("more values");
    expect(() => checkDeltaStrings(view, 0, 127)).toThrow("more values");
  });
});

test("a column of bytes that are no text is of the highest tier, whatever else it holds, and so is its file", async () => {
  const encoder = new TextEncoder();
  const texts = fc.constantFrom("hello", "ada@example.org", "Straße").map((text) => encoder.encode(text));
  const bytes = fc.oneof(
    fc.constantFrom("ada@example.org", "536-22-6728").map((text) => new Uint8Array(Buffer.from(text, "utf16le"))),
    fc.constantFrom([0xff, 0xfe], [0xc3], [0], [1, 2, 3], [0xed, 0xa0, 0x80]).map((of) => Uint8Array.from(of)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { maxLength: 3 }), bytes, fc.array(texts, { maxLength: 3 }), async (before, odd, after) => {
      for (const unread of [false, true]) {
        const data = unread ? [...before, odd, ...after] : [...before, ...after, encoder.encode("hello")];
        const { tier, columns } = await classifyParquet(opened(written([{ name: "notes", type: "BYTE_ARRAY", data }])));
        const highest = "RESTRICTED";
        expect([tier === highest, columns[0]?.tier === highest]).toEqual([unread, unread]);
      }
    }),
  );
});
