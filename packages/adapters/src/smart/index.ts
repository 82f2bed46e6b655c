export { parseSmartctl } from "./parse-smartctl.ts";
export { readSmartFile } from "./read-smart-file.ts";
