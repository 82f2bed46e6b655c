export { type Logger, openLogger, setLogLevel } from "./open-logger.ts";
export { redact } from "./redact.ts";
