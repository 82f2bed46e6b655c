import fc from "fast-check";
import { parquetWriteBuffer } from "hyparquet-writer";
import { expect, test } from "vitest";
import { sampleFile, sampleParquet } from "../../src/classify-files/index.ts";

async function* chunks(text: string): AsyncGenerator<string> {
  for (let i = 0; i < text.length; i += 5) yield text.slice(i, i + 5);
}

test("wherever the beginning of a text ends, the records before are sampled and the one that is cut is not", async () => {
  const cell = fc.string({ minLength: 1, maxLength: 6 }).map((s) => s.replace(/[\r\0]/g, "x"));
  const rows = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(rows, fc.constantFrom("csv" as const, "jsonl" as const), fc.nat(), async (cells, format, at) => {
      const quote = (s: string) => `"${s.replaceAll('"', '""')}"`;
      const text =
        format === "jsonl"
          ? cells.map(([a, b]) => `${JSON.stringify({ a, b })}\n`).join("")
          : `a,b\n${cells.map((row) => `${row.map(quote).join(",")}\n`).join("")}`;
      const cut = text.slice(0, at % text.length);
      const sampled = await sampleFile(chunks(cut), { format, samples: 100, partial: true }).catch((error: unknown) => {
        expect(error).toMatchObject({ code: "file_invalid" });
        return [];
      });
      for (const [i, { name, values }] of sampled.entries()) {
        expect(name).toBe("ab"[i]);
        expect(values).toEqual(cells.slice(0, values.length).map((row) => row[i]));
        expect(values.length).toBeLessThan(cells.length + (cut.endsWith("\n") ? 1 : 0));
      }
    }),
  );
});

test("of a large Parquet file every column is sampled, from all over it, and a part of it is read", async () => {
  const data = Array.from({ length: 200_000 }, (_, i) => `value ${i} of this column`);
  const columnData = ["a", "b"].map((name) => ({ name, data, type: "STRING" as const }));
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData, codec: "UNCOMPRESSED", rowGroupSize: 10_000, pageSize: 4096 }));
  let read = 0;
  const file = {
    byteLength: bytes.length,
    async read(start: number, end: number) {
      read += end - start;
      return bytes.subarray(start, end);
    },
  };
  const sampled = await sampleParquet(file, { samples: 100, most: 4 << 20 });
  expect(sampled.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(read).toBeLessThan(bytes.length / 2);
  for (const { values } of sampled) {
    const places = values.map((value) => data.indexOf(value));
    expect(Math.min(...places)).toBeLessThan(1000);
    expect(Math.max(...places)).toBeGreaterThan(data.length / 2);
  }
});
