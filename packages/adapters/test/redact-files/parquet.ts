import { parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";

/** A Parquet file of columns of texts, and of numbers where all are. */
export function parquetOf(columns: Readonly<Record<string, readonly (string | number)[]>>): Uint8Array {
  const columnData = Object.entries(columns).map(([name, data]) => {
    const isNumbers = data.every((value) => typeof value === "number");
    return { name, data: isNumbers ? [...data] : data.map(String), type: isNumbers ? ("DOUBLE" as const) : ("STRING" as const) };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

/** The rows of a Parquet file. */
export async function rowsOfParquet(bytes: Uint8Array): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return parquetReadObjects({ file: bytes.slice().buffer });
}
