export { type DecisionEvent, DROP_PATH, isDropped, MASK_PATH, maskDecision } from "./decision-event.ts";
export type { AuditMessage, AuditOutcome } from "./message.ts";
export { otlpLogs } from "./otlp.ts";
export { type AuditSelection, isAuditPattern, selects } from "./selects.ts";
export { syslogMessage } from "./syslog.ts";
