import { classifyParquet } from "@seneschal/adapters/classify-files";
import { type FuzzTarget, law, orRefusedLater } from "../target.ts";

/** Parquet files: a report, or a refusal that names the column. */
export const target: FuzzTarget = {
  words: ["PAR1", "\x15\x00", "\x15\x02", "\x15\x06", "\x18\x05email", "\x2c\x15", "\x00\x00\x00\x01"],
  async run(bytes) {
    const report = await orRefusedLater(() =>
      classifyParquet({ byteLength: bytes.length, read: async (start, end) => bytes.slice(start, end) }),
    );
    if (report !== undefined) law(report.records >= 0, "a report counts its records");
  },
};
