import { parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";

/** A Parquet file of columns of texts. */
export function parquetOf(columns: Readonly<Record<string, readonly string[]>>): Uint8Array {
  const columnData = Object.entries(columns).map(([name, data]) => ({ name, data: [...data], type: "STRING" as const }));
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

/** The rows of a Parquet file. */
export async function rowsOfParquet(bytes: Uint8Array): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return parquetReadObjects({ file: bytes.slice().buffer });
}
