export { type Logger, openLogger } from "./open-logger.ts";
export { redact } from "./redact.ts";
