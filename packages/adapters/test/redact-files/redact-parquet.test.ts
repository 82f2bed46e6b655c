import { DEFAULT_RECOGNISERS, DEFAULT_TIER_POLICY, type RedactionRule, redactionKeys } from "@seneschal/governance";
import { parquetMetadata, parquetReadObjects, type SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter, parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { nodeCrypto } from "../../src/node-crypto/index.ts";
import { redactParquet, restoreParquet } from "../../src/redact-files/index.ts";
import { systemRandom } from "../../src/system/index.ts";

const keys = redactionKeys(nodeCrypto, new Uint8Array(32).fill(1), systemRandom);
const optionsOf = (...rules: readonly RedactionRule[]) => ({
  policy: DEFAULT_TIER_POLICY,
  recognisers: DEFAULT_RECOGNISERS,
  rules,
  keys,
});
const access = (bytes: Uint8Array) => ({ byteLength: bytes.length, read: async (a: number, b: number) => bytes.slice(a, b) });
const rowsOf = (bytes: Uint8Array) => parquetReadObjects({ file: Uint8Array.from(bytes).buffer });
const fileOf = (columnData: Parameters<typeof parquetWriteBuffer>[0]["columnData"]) =>
  new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2 }));

const rows = [
  { note: "write to ada@example.org", ssn: 536228726, n: 1, day: new Date("2024-05-06T07:08:09Z"), ok: true },
  { note: null, ssn: null, n: null, day: null, ok: null },
  { note: "nothing", ssn: 536228726, n: 3, day: new Date(0), ok: false },
];
const given = fileOf([
  { name: "note", data: rows.map(({ note }) => note), type: "STRING", nullable: true },
  { name: "ssn", data: rows.map(({ ssn }) => ssn), type: "INT32", nullable: true },
  { name: "n", data: rows.map(({ n }) => n), type: "INT32", nullable: true },
  { name: "day", data: rows.map(({ day }) => day), type: "TIMESTAMP", nullable: true },
  { name: "ok", data: rows.map(({ ok }) => ok), type: "BOOLEAN", nullable: true },
  { name: "for bob@example.org", data: ["a", "b", "c"], type: "STRING" },
]);

test("cells and names are hidden in their rows, and a column keeps its type where nothing in it is", async () => {
  const { bytes, counts } = await redactParquet(access(given), optionsOf());
  expect(await rowsOf(bytes)).toEqual(
    rows.map(({ note, ssn, ...row }, i) => ({
      note: note?.replace("ada@example.org", "<EMAIL_ADDRESS>") ?? null,
      ssn: ssn === null ? null : "<US_SSN>",
      ...row,
      "for <EMAIL_ADDRESS>": "abc"[i],
    })),
  );
  expect(Object.fromEntries(counts)).toEqual({ EMAIL_ADDRESS: 2, US_SSN: 2 });
  // Statistics and footers too.
  expect(Buffer.from(bytes).toString("latin1")).not.toMatch(/ada@|bob@/);
});

test("twice is once, and what was taken comes back as a text", async () => {
  const options = optionsOf({ operator: "tokenise" });
  const { bytes } = await redactParquet(access(given), options);
  expect(await rowsOf((await redactParquet(access(bytes), options)).bytes)).toEqual(await rowsOf(bytes));
  const back = await restoreParquet(access(bytes), DEFAULT_TIER_POLICY, keys);
  const texts = (of: readonly Record<string, unknown>[]) =>
    of.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([k, v]) => [k, v instanceof Date ? v.toISOString() : v === null ? v : String(v)]),
      ),
    );
  expect(texts(await rowsOf(back.bytes))).toEqual(texts(await rowsOf(given)));
});

const utf16 = (text: string) => new Uint8Array(Buffer.from(text, "utf16le"));
const utf8 = (text: string) => new TextEncoder().encode(text);
/** A file of one column, as it is stored. */
const columnOf = (element: Partial<SchemaElement>, data: readonly unknown[], ...more: readonly SchemaElement[]) => {
  const column = { name: "c", repetition_type: "OPTIONAL", ...element } as SchemaElement;
  const columns = [column, ...more];
  return new Uint8Array(
    parquetWriteBuffer({
      schema: [{ name: "root", num_children: columns.length }, ...columns],
      columnData: columns.map(({ name }) => ({ name, data: [...data] })),
    }),
  );
};
const elementsOf = (bytes: Uint8Array) =>
  parquetMetadata(Uint8Array.from(bytes).buffer)
    .schema.slice(1)
    .map(({ num_children, ...element }) => element);

describe("what cannot be read is refused by its column", () => {
  test.each([
    ["bytes", columnOf({ type: "BYTE_ARRAY" }, [new Uint8Array([0xff, 0xfe, 1])])],
    ["UTF-16", columnOf({ type: "BYTE_ARRAY" }, [utf16("ada@example.org")])],
    ["UTF-16 that says it is text", columnOf({ type: "BYTE_ARRAY", converted_type: "UTF8" }, [utf16("ada@example.org")])],
    ["UTF-16 of one script", columnOf({ type: "BYTE_ARRAY" }, [utf16("Ада")])],
    ["UTF-32", columnOf({ type: "BYTE_ARRAY" }, [new Uint8Array(new Uint32Array([0x61, 0x64, 0x61]).buffer)])],
    ["Latin-1", columnOf({ type: "BYTE_ARRAY", converted_type: "UTF8" }, [Buffer.from("Strauß", "latin1")])],
    ["a lone surrogate", columnOf({ type: "BYTE_ARRAY", converted_type: "UTF8" }, [new Uint8Array([0xed, 0xa0, 0x80])])],
    ["control characters", columnOf({ type: "BYTE_ARRAY" }, [utf8("a\u0001b")])],
    ["two columns of one name", columnOf({ type: "INT32" }, [1, 2], { name: "c", type: "INT32", repetition_type: "OPTIONAL" })],
    [
      "an interval",
      columnOf({ type: "FIXED_LEN_BYTE_ARRAY", type_length: 12, converted_type: "INTERVAL" }, [new Uint8Array(12)]),
    ],
    ["BSON", columnOf({ type: "BYTE_ARRAY", converted_type: "BSON" }, [utf8("ada@example.org")])],
    ["a variant", fileOf([{ name: "c", data: [{ a: ["ada@example.org"] }], type: "VARIANT" }])],
  ])("%s", async (_, file) => {
    await expect(redactParquet(access(file), optionsOf())).rejects.toThrow(/^column c: /);
    await expect(restoreParquet(access(file), DEFAULT_TIER_POLICY, keys)).rejects.toThrow(/^column c: /);
  });
});

test("bytes that are text are redacted, and U+FFFD is a character", async () => {
  for (const element of [{ type: "BYTE_ARRAY" }, { type: "FIXED_LEN_BYTE_ARRAY", type_length: 11 }] as const) {
    const { bytes } = await redactParquet(access(columnOf({ ...element, name: "note" }, [utf8("536-22-6728")])), optionsOf());
    expect(await rowsOf(bytes)).toEqual([{ note: "<US_SSN>" }]);
  }
  const { bytes } = await redactParquet(
    access(columnOf({ type: "BYTE_ARRAY", converted_type: "UTF8" }, ["\ufffd", "to ada@example.org"])),
    optionsOf(),
  );
  expect(await rowsOf(bytes)).toEqual([{ c: "\ufffd" }, { c: "to <EMAIL_ADDRESS>" }]);
});

test("names that become equal are numbered, so that every column keeps its own cells, and twice is once", async () => {
  for (const rules of [[], [{ operator: "mask" }], [{ operator: "drop" }]] as const) {
    const file = fileOf([
      { name: "ada@example.org", data: [1, 2, 3] },
      { name: "bob@example.org", data: [4, 5, 6] },
    ]);
    const once = (await redactParquet(access(file), optionsOf(...rules))).bytes;
    const twice = (await redactParquet(access(once), optionsOf(...rules))).bytes;
    for (const bytes of [once, twice]) {
      expect(new Set(elementsOf(bytes).map(({ name }) => name)).size).toBe(2);
      expect((await rowsOf(bytes)).map((row) => Object.values(row))).toEqual([
        [1, 4],
        [2, 5],
        [3, 6],
      ]);
    }
    expect(elementsOf(twice)).toEqual(elementsOf(once));
  }
});

const TIMESTAMP = { type: "TIMESTAMP", isAdjustedToUTC: false } as const;
const DECIMAL = { type: "DECIMAL", scale: 2, precision: 20 } as const;
/** Of each type: values as they are stored, and how the first reads. */
const TYPES: readonly (readonly [Partial<SchemaElement>, readonly unknown[], string])[] = [
  [{ type: "BOOLEAN" }, [true, null, false], "true"],
  [{ type: "INT32" }, [-1, null], "-1"],
  [{ type: "INT32", converted_type: "UINT_8", logical_type: { type: "INTEGER", bitWidth: 8, isSigned: false } }, [200], "200"],
  [{ type: "INT64", converted_type: "UINT_64", logical_type: { type: "INTEGER", bitWidth: 64, isSigned: false } }, [5n], "5"],
  [{ type: "FLOAT" }, [0.5, null], "0.5"],
  [{ type: "DOUBLE" }, [1e300], "1e+300"],
  [{ type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } }, [19723, -1], "2024-01-01"],
  [
    { type: "INT32", converted_type: "TIME_MILLIS", logical_type: { type: "TIME", isAdjustedToUTC: true, unit: "MILLIS" } },
    [3723000],
    "01:02:03.000",
  ],
  [
    { type: "INT64", logical_type: { type: "TIME", isAdjustedToUTC: false, unit: "NANOS" } },
    [3723000000001n],
    "01:02:03.000000001",
  ],
  [{ type: "INT64", converted_type: "TIMESTAMP_MILLIS" }, [-1n], "1969-12-31T23:59:59.999Z"],
  [{ type: "INT64", logical_type: { ...TIMESTAMP, unit: "MICROS" } }, [1704067200000001n, null], "2024-01-01T00:00:00.000001"],
  [{ type: "INT64", logical_type: { ...TIMESTAMP, unit: "NANOS" } }, [1n], "1970-01-01T00:00:00.000000001"],
  [{ type: "INT32", converted_type: "DECIMAL", scale: 2, precision: 9, logical_type: DECIMAL }, [110n, -5n], "1.10"],
  [
    { type: "FIXED_LEN_BYTE_ARRAY", type_length: 9, converted_type: "DECIMAL", scale: 2, precision: 20, logical_type: DECIMAL },
    [-12345678901234567890n],
    "-123456789012345678.90",
  ],
  [{ type: "BYTE_ARRAY" }, [utf8("plain")], "plain"],
  [{ type: "BYTE_ARRAY", logical_type: { type: "JSON" } }, [utf8('{"a":1}')], '{"a":1}'],
  [{ type: "BYTE_ARRAY", converted_type: "ENUM", logical_type: { type: "ENUM" } }, [utf8("plain")], "plain"],
  [
    { type: "FIXED_LEN_BYTE_ARRAY", type_length: 16, logical_type: { type: "UUID" } },
    [new Uint8Array(16).fill(0xab)],
    "abababab-abab-abab-abab-abababababab",
  ],
];

test("what is not redacted is as it was: types and values to the bit, in files without rows too", async () => {
  for (const [element, data] of TYPES) {
    for (const file of [columnOf(element, data), columnOf(element, [])]) {
      for (const { bytes } of [
        await redactParquet(access(file), optionsOf()),
        await restoreParquet(access(file), DEFAULT_TIER_POLICY, keys),
      ]) {
        expect(elementsOf(bytes)).toEqual(elementsOf(file));
        expect(await rowsOf(bytes), JSON.stringify(element)).toEqual(await rowsOf(file));
      }
    }
  }
});

test("what is redacted is what a reader would see of it, with all its digits", async () => {
  for (const [element, data, reads] of TYPES) {
    const options = optionsOf({ operator: "tokenise" });
    const file = columnOf({ ...element, name: "password" }, data);
    const { bytes } = await redactParquet(access(file), options);
    const back = await restoreParquet(access(bytes), DEFAULT_TIER_POLICY, keys);
    expect(await rowsOf(bytes), reads).not.toEqual(await rowsOf(file));
    expect((await rowsOf(back.bytes))[0], JSON.stringify(element)).toEqual({ password: reads });
  }
});

test("INT96, in which old writers keep times, becomes the timestamp that it is", async () => {
  const writer = new ByteWriter();
  const root = { name: "root", num_children: 1 };
  const int96 = { name: "c", type: "INT96", repetition_type: "OPTIONAL" } as const;
  const parquet = new ParquetWriter({
    writer,
    schema: [root, { ...int96, type: "FIXED_LEN_BYTE_ARRAY", type_length: 12 }],
    statistics: false,
  });
  // Nanoseconds of the day, then its Julian number: 2024-01-01T00:00:00.000000001.
  const stored = new Uint8Array(12);
  new DataView(stored.buffer).setBigInt64(0, 1n, true);
  new DataView(stored.buffer).setInt32(8, 19723 + 2440588, true);
  await parquet.write({ columnData: [{ name: "c", data: [stored, null] }] });
  parquet.schema = [root, int96];
  await parquet.finish();
  const { bytes } = await redactParquet(access(new Uint8Array(writer.getBuffer())), optionsOf());
  expect(elementsOf(bytes)).toMatchObject([{ type: "INT64", logical_type: { ...TIMESTAMP, unit: "NANOS" } }]);
  expect(await rowsOf(bytes)).toEqual([{ c: new Date("2024-01-01T00:00:00Z") }, { c: null }]);
});

test("a column that has fewer cells than the file has rows is refused", async () => {
  const one = columnOf({ type: "INT32" }, [1]);
  const footer = Buffer.from(one);
  const metadata = parquetMetadata(Uint8Array.from(one).buffer);
  expect(metadata.num_rows).toBe(1n);
  // The row counts of the file and of its group: the same varint, behind the schema.
  const at = footer.lastIndexOf(Buffer.from([0x16, 0x02, 0x19]));
  footer[at + 1] = 0x04;
  await expect(redactParquet(access(new Uint8Array(footer)), optionsOf())).rejects.toThrow(/^column c: has not as many cells/);
});
