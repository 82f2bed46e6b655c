export { type ClassifyFileOptions, type ClassifyProgress, classifyFile, type FileReport } from "./classify-file.ts";
export { type FileFormat, formatOf, readRecords } from "./read-records.ts";
