import type { JsonObject } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import type { AuditMessage } from "./message.ts";

/** SeverityNumber of the OpenTelemetry log data model. */
const [INFO, WARN] = [9, 13];

/**
 * Audit events of one service and instance as the body of an OTLP logs request in JSON (opentelemetry-proto, `ExportLogsServiceRequest`): one
 * resource, one scope, a record for each event. Its body is the whole {@link AuditMessage} as JSON text, its attributes the names in it.
 */
export function otlpLogs(messages: readonly AuditMessage[]): JsonObject {
  checkArgument("messages", messages, "array");
  const [first] = messages;
  if (first === undefined) return { resourceLogs: [] };
  return {
    resourceLogs: [
      {
        resource: {
          attributes: [text("service.name", `seneschal-${first.service}`), text("service.instance.id", first.instance)],
        },
        scopeLogs: [{ scope: { name: "seneschal.audit", version: "1" }, logRecords: messages.map(record) }],
      },
    ],
  };
}

function record(message: AuditMessage): JsonObject {
  const { time, type, stream, stream_seq, seq, id, actor, outcome } = message;
  const ok = outcome === "success";
  // 64-bit numbers are text in the JSON of protocol buffers.
  const nanoseconds = `${Date.parse(time)}000000`;
  return {
    timeUnixNano: nanoseconds,
    observedTimeUnixNano: nanoseconds,
    severityNumber: ok ? INFO : WARN,
    severityText: ok ? "INFO" : "WARN",
    eventName: type,
    body: { stringValue: JSON.stringify(message) },
    attributes: [
      text("audit.id", id),
      { key: "audit.seq", value: { intValue: String(seq) } },
      text("audit.stream", stream),
      { key: "audit.stream_seq", value: { intValue: String(stream_seq) } },
      text("audit.type", type),
      text("audit.actor", actor),
      text("audit.outcome", outcome),
    ],
  };
}

function text(key: string, stringValue: string): JsonObject {
  return { key, value: { stringValue } };
}
