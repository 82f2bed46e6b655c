import { parquetWriteBuffer } from "hyparquet-writer";

/** A Parquet file of columns of texts. */
export function parquetOf(columns: Readonly<Record<string, readonly string[]>>): Uint8Array {
  const columnData = Object.entries(columns).map(([name, data]) => ({ name, data: [...data], type: "STRING" as const }));
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}
