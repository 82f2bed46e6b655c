export { type HttpAccountingOptions, httpAccounting } from "./http-accounting.ts";
export { openUsageBuffer, type UsageBuffer, type UsageBufferOptions } from "./usage-buffer.ts";
