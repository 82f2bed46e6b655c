export { type ClassifyOptions, type ClassifyProgress, classifyFile, classifyParquet } from "./classify-file.ts";
export { type ClassifyPdfOptions, classifyPdf, type PdfPart, type PdfReport } from "./classify-pdf.ts";
export type { FileReport } from "./column-samples.ts";
export type { RandomAccess } from "./parquet/page-cursor.ts";
export { type FileFormat, formatOf, readRecords } from "./read-records.ts";
export { type SampleFileOptions, sampleFile, sampleParquet } from "./sample-file.ts";
