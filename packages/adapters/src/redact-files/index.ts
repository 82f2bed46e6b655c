export { redactParquet, restoreParquet } from "./redact-parquet.ts";
export { redactXlsx, restoreXlsx } from "./redact-xlsx.ts";
export type { RedactedFile, RestoredFile } from "./redacted-file.ts";
