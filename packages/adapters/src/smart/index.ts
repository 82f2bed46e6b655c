export { parseSmartctl } from "./parse-smartctl.ts";
export { readSmartFile, smartReadingOf } from "./read-smart-file.ts";
