import { DEFAULT_TIER_POLICY, maxTier } from "@seneschal/governance";
import { isCoded } from "@seneschal/kernel";
import fc from "fast-check";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { classifyFile, classifyParquet, type FileFormat, sampleFile, textsOf } from "../../src/classify-files/index.ts";

async function* pieces(bytes: Uint8Array, size = 5): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}
const classified = (text: string | Uint8Array, format: FileFormat) =>
  classifyFile(textsOf(pieces(typeof text === "string" ? Buffer.from(text) : text, 4096)), { format });

const FORMATS = ["csv", "tsv", "jsonl"] as const;
/** Values of each kind, and what they are. */
const VALUES = [
  ["536-22-8726", "US_SSN"],
  ["ada.canary@example.org", "EMAIL_ADDRESS"],
  ["4111111111111111", "CREDIT_CARD"],
  ["DE89370400440532013000", "IBAN_CODE"],
] as const;
const tierOf = (entity: string): string => {
  const found = DEFAULT_TIER_POLICY.entities[entity];
  if (found === undefined) throw new Error(entity);
  return found.tier;
};

describe("whatever its bytes, a file is read or refused by name", () => {
  test("bytes of any kind", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom(...FORMATS),
        fc.boolean(),
        async (bytes, format, partial) => {
          for (const run of [
            () => classifyFile(textsOf(pieces(bytes)), { format }),
            () => sampleFile(textsOf(pieces(bytes), partial), { format, samples: 10, partial }),
          ])
            await run().catch((error: unknown) => expect(isCoded(error, "file_invalid")).toBe(true));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("a text in another encoding than UTF-8, or with U+0000, is none", async () => {
    const text = "id,mail\n1,ada.canary@example.org\nÄ,b\n";
    const little = Buffer.from(`\ufeff${text}`, "utf16le");
    const foreign = [little, Buffer.from(little).swap16(), Buffer.from(text, "utf16le"), Buffer.from(text, "latin1")];
    for (const bytes of foreign)
      for (const format of FORMATS) await expect(classified(bytes, format)).rejects.toMatchObject({ code: "file_invalid" });
    await expect(classified("a\0b,c\n1,2\n", "csv")).rejects.toMatchObject({ code: "file_invalid" });
    expect((await classified(`\ufeff${text}`, "csv")).columns.map(({ column }) => column)).toEqual(["id", "mail"]);
  });

  test("JSON of any depth, and with names of any length", async () => {
    const deep = (open: string, inner: string, close: string, n: number) => open.repeat(n) + inner + close.repeat(n);
    for (const line of [
      `{"a":${deep("[", "1", "]", 20_000)}}`,
      deep('{"a":', "1", "}", 20_000),
      `{"${"k".repeat(5000)}":1}`,
      `{"a":[${'{"b":1},'.repeat(2000)}0]}`,
    ])
      await classified(line, "jsonl").catch((error: unknown) => expect(isCoded(error, "file_invalid")).toBe(true));
  });
});

describe("no value stands where a name does, and it counts", () => {
  const told = async (text: string, format: FileFormat) => {
    const report = await classified(text, format);
    for (const [value, entity] of VALUES)
      if (text.includes(value)) {
        expect(JSON.stringify(report)).not.toContain(value);
        expect(maxTier(DEFAULT_TIER_POLICY, report.tier, tierOf(entity))).toBe(report.tier);
      }
    return report;
  };

  test.each(VALUES)("%s: in the first row, alone or before others, in a name, and in a cell", async (value, entity) => {
    for (const [format, delimiter] of [
      ["csv", ","],
      ["csv", ";"],
      ["tsv", "\t"],
    ] as const) {
      const row = ["Zbrozkova", value, "84500"].join(delimiter);
      for (const text of [row, `${row}\n${row}\n`]) {
        const report = await told(text, format);
        expect(report.columns.map(({ column }) => column)).toEqual(["column 1", "column 2", "column 3"]);
        expect(report.records).toBe(text.includes("\n") ? 2 : 1);
      }
      await told(`id${delimiter}note\n1${delimiter}x${delimiter}${value}\n`, format);
      await told(`Employees\n\nid${delimiter}note\n1${delimiter}${value}\n`, format);
    }
    const report = await told(`${JSON.stringify({ [value]: 1, a: { [value]: { mail: 1 } } })}\n`, "jsonl");
    expect(report.columns.map(({ column }) => column)[0]).toBe(`<${entity}>`);
    for (const record of [{ __proto__x: value }, { a: [[value]] }, { a: [{ b: value }] }, { a: { "": value } }])
      await told(JSON.stringify(record), "jsonl");
    await told(`{"__proto__":${JSON.stringify(value)}}`, "jsonl");
    await told(`{"a":[1,{"__proto__":{"x":${JSON.stringify(value)}}}]}`, "jsonl");
  });

  test("in a name of Parquet, and in what is said of a column that is damaged", async () => {
    const bytes = new Uint8Array(
      parquetWriteBuffer({ columnData: [{ name: "of ada.canary@example.org", data: ["x", "y"], type: "STRING" as const }] }),
    );
    const file = (content: Uint8Array) => ({
      byteLength: content.length,
      read: async (start: number, end: number) => content.subarray(start, end),
    });
    const report = await classifyParquet(file(bytes));
    expect(report).toMatchObject({ tier: "CONFIDENTIAL", columns: [{ column: "of <EMAIL_ADDRESS>" }] });
    const damaged = bytes.slice().fill(0xff, 4, 24);
    const error = await classifyParquet(file(damaged)).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "file_invalid" });
    const { message, details } = error as { message: string; details: object };
    expect(message + JSON.stringify(details)).not.toContain("canary");
  });
});

describe("columns of one name count all", () => {
  test.each(VALUES)("%s is found in either, whatever the other holds", async (value, entity) => {
    for (const [text, format] of [
      [`a,a\n${value},x\n`, "csv"],
      [`a,a\nx,${value}\n`, "csv"],
      [`{"a":${JSON.stringify(value)},"a":"x"}`, "jsonl"],
      [`{"a":"x","a":${JSON.stringify(value)}}`, "jsonl"],
      [`{"a.b":${JSON.stringify(value)},"a":{"b":"x"}}`, "jsonl"],
    ] as const) {
      const { tier, tags } = await classified(text, format);
      expect(maxTier(DEFAULT_TIER_POLICY, tier, tierOf(entity))).toBe(tier);
      expect(tags).toEqual(expect.arrayContaining([...(DEFAULT_TIER_POLICY.entities[entity]?.tags ?? [])]));
    }
  });

  test("a column that is one of a kind alone is so beside another of its name", async () => {
    const names = ["Ada Lovelace", "Grace Hopper", "Alan Turing", "Edsger Dijkstra"];
    const rows = names.map((name, i) => `${i},${name}`).join("\n");
    const alone = await classified(`name,y\n${names.map((name, i) => `${name},${i}`).join("\n")}`, "csv");
    const both = await classified(`name,name\n${rows}`, "csv");
    expect(maxTier(DEFAULT_TIER_POLICY, both.tier, alone.tier)).toBe(both.tier);
  });
});

test("names without a record are columns, and what they name counts", async () => {
  expect(await classified("id,ssn\n", "csv")).toMatchObject({
    records: 0,
    columns: [{ column: "id" }, { column: "ssn", entity: "US_SSN" }],
  });
});

test("a line of Excel that says the delimiter is no record", async () => {
  const report = await classified("sep=;\nid;ssn\n1;536228726\n", "csv");
  expect(report.columns).toMatchObject([{ column: "id" }, { column: "ssn", entity: "US_SSN" }]);
});
