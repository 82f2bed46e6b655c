export type { AuditMessage, AuditOutcome } from "./message.ts";
export { otlpLogs } from "./otlp.ts";
export { type AuditSelection, isAuditPattern, selects } from "./selects.ts";
export { syslogMessage } from "./syslog.ts";
