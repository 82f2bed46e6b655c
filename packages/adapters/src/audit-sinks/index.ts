export type { AuditSink } from "./audit-sink.ts";
export { type FileSinkOptions, openFileSink } from "./open-file-sink.ts";
export { type OtlpSinkOptions, openOtlpSink } from "./open-otlp-sink.ts";
export { openSyslogSink, type SyslogSinkOptions } from "./open-syslog-sink.ts";
export { openWebhookSink } from "./open-webhook-sink.ts";
