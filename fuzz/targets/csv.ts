import { readRecords } from "@seneschal/adapters/classify-files";
import { type FuzzTarget, law, orRefusedLater, textOf } from "../target.ts";

async function* cut(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

/** CSV, TSV and JSON Lines: the same records however the text is cut. */
export const target: FuzzTarget = {
  words: ['"', '""', ",", ";", "\t", "\r\n", "\n", "\r", "\ufeff", '{"a":', "}", "a,b,c\n"],
  async run(bytes) {
    const text = textOf(bytes);
    for (const format of ["csv", "tsv", "jsonl"] as const) {
      const read = async (size: number): Promise<string> => {
        const rows = await orRefusedLater(async () => {
          const all = [];
          for await (const row of readRecords(cut(text, size), format)) all.push(Object.entries(row));
          return all;
        });
        return rows === undefined ? "refused" : JSON.stringify(rows);
      };
      const whole = await read(1 << 20);
      for (const size of [1, 5]) law((await read(size)) === whole, `${format} is the same however it is cut`);
    }
  },
};
