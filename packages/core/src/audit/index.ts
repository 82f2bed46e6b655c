export { type AuditGap, claimGaps, coversGap, gapLine, parseGapLine, type SignedGap } from "./gaps.ts";
export type { AuditMessage, AuditOutcome } from "./message.ts";
export { otlpLogs } from "./otlp.ts";
export { type AuditSelection, isAuditPattern, selects } from "./selects.ts";
export { syslogMessage } from "./syslog.ts";
