import type { SampledColumn } from "@seneschal/governance";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import { ColumnSamples } from "./column-samples.ts";
import type { RandomAccess } from "./parquet/page-cursor.ts";
import { FILE_FORMATS, type FileFormat, readRecords } from "./read-records.ts";

export interface SampleFileOptions {
  readonly format: FileFormat;
  /** Values that are kept per column. */
  readonly samples: number;
  /** `chunks` end before the file does: the record that they end in is left out. */
  readonly partial: boolean;
}

/** Values of every column of a CSV, TSV or JSON Lines text, spread over it. Throws `file_invalid` for a text that is not of the format. */
export async function sampleFile(chunks: AsyncIterable<string>, options: SampleFileOptions): Promise<readonly SampledColumn[]> {
  checkOptions("options", options, { format: FILE_FORMATS, samples: "number", partial: "boolean" });
  checkArgument("chunks", chunks, "object");
  const { format, partial } = options;
  const samples = new ColumnSamples(options.samples);
  let records = 0;
  for await (const record of readRecords(chunks, format, partial)) {
    if (!record.names) records++;
    samples.add(record);
  }
  if (partial && records === 0) throw new CodedError("file_invalid", "its first record is longer than what is read of a file");
  return samples.sampled();
}

/** Values of every column of a Parquet file, of at most about `most` bytes of it. Throws `file_invalid` naming the column that cannot be read. */
export async function sampleParquet(
  file: RandomAccess,
  options: { readonly samples: number; readonly most: number },
): Promise<readonly SampledColumn[]> {
  checkOptions("options", options, { samples: "number", most: "number" });
  checkArgument("file", file, "object");
  const { readParquet } = await import("./parquet/read-parquet.ts");
  const samples = new ColumnSamples(options.samples);
  for await (const page of readParquet(file, options.most)) samples.addPage(page);
  return samples.sampled();
}
