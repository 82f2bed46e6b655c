import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { classifyFile, type FileFormat, formatOf, readRecords } from "../../src/classify-files/index.ts";

async function* cut(text: string, size: number): AsyncGenerator<string> {
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size);
}
async function all(text: string, format: FileFormat, size = 7) {
  const records = [];
  for await (const { names, cells } of readRecords(cut(text, size), format))
    if (!names) records.push(Object.fromEntries(cells.map(({ name, value }) => [name, value])));
  return records;
}

describe("reading records", () => {
  test("quotes hold delimiters, quotes and line breaks, wherever the chunks are cut", async () => {
    const text = 'id,note\r\n1,"a, ""b""\nc"\r\n\r\n2,plain\n';
    for (let size = 1; size <= text.length; size++) {
      expect(await all(text, "csv", size)).toEqual([
        { id: "1", note: 'a, "b"\nc' },
        { id: "2", note: "plain" },
      ]);
    }
  });

  test("what is written as CSV is read back", async () => {
    const cell = fc.string({ maxLength: 8 }).map((s) => s.replace(/\r/g, ""));
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 9 }),
        async (rows, size) => {
          const quote = (s: string) => `"${s.replaceAll('"', '""')}"`;
          const text = ["a,b", ...rows.map((row) => row.map(quote).join(","))].join("\n");
          expect(await all(text, "csv", size)).toEqual(rows.map(([a, b]) => ({ a, b })));
        },
      ),
    );
  });

  test("JSON Lines: nested fields are dotted, a broken line is named", async () => {
    expect(await all('{"a":{"b":1},"c":[1,2],"d":null}\n\n', "jsonl")).toEqual([{ "a.b": "1", c: "1 2" }]);
    await expect(all('{"a":1}\n{"a":\n', "jsonl")).rejects.toMatchObject({ code: "file_invalid", details: { record: 2 } });
  });

  test("an open quote is an error, not a silent end", async () => {
    await expect(all('a,b\n1,"x\n', "csv")).rejects.toMatchObject({ code: "file_invalid" });
  });

  test("formats by name", () =>
    expect(["x.csv", "x.TSV", "x.ndjson", "x.parquet"].map(formatOf)).toEqual(["csv", "tsv", "jsonl", undefined]));
});

describe("classifying a file", () => {
  const people = `id,Full_Name,email,ssn,country\n${Array.from({ length: 50 }, (_, i) => `${i},Ada ${"ABCDEFGHIJ"[i % 10]}ovelace,ada${i}@example.org,536-22-${8000 + i},DE`).join("\n")}`;

  test("columns by name and values, the file by its most sensitive column, no value in the report", async () => {
    const report = await classifyFile(cut(people, 100), { format: "csv", about: "people" });
    expect(report.tier).toBe("PROPRIETARY");
    expect(report.records).toBe(50);
    expect(report.columns.map((c) => c.entity)).toEqual([undefined, "PERSON", "EMAIL_ADDRESS", "US_SSN", undefined]);
    expect(JSON.stringify(report)).not.toMatch(/ada\d|536-22/);
  });

  test("progress ends at the end", async () => {
    const seen: number[] = [];
    await classifyFile(cut(people, 100), { format: "csv", onProgress: ({ records, read }) => seen.push(records, read) });
    expect(seen.slice(-2)).toEqual([50, people.length]);
  });

  test("a secret column that begins late in a long file is found", async () => {
    async function* long() {
      yield "id,note\n";
      for (let i = 0; i < 20_000; i++) yield `${i},${i < 15_000 ? "nothing" : "card 4111111111111111"}\n`;
    }
    expect((await classifyFile(long(), { format: "csv", samples: 100 })).tier).toBe("RESTRICTED");
  });
});
