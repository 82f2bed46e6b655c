export { type ClassifyOptions, type ClassifyProgress, classifyFile, classifyParquet } from "./classify-file.ts";
export { type ClassifyPdfOptions, classifyPdf, type PdfPart, type PdfReport } from "./classify-pdf.ts";
export { type ClassifyXlsxOptions, classifyXlsx, type XlsxReport } from "./classify-xlsx.ts";
export type { FileColumn, FileReport } from "./column-samples.ts";
export type { RandomAccess } from "./parquet/page-cursor.ts";
export { type Cell, type FileFormat, type FileRecord, formatOf, readRecords, textsOf } from "./read-records.ts";
export { type SampleFileOptions, sampleFile, sampleParquet } from "./sample-file.ts";
export type { XlsxLimits } from "./xlsx-parts.ts";
