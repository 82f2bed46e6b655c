import { checkArgument } from "@seneschal/kernel";
import type { AuditMessage } from "./message.ts";

/** Facility 13 is "log audit" (RFC 5424, 6.2.1). */
const FACILITY = 13;
const [WARNING, INFORMATIONAL] = [4, 6];

/**
 * An audit event as a message of RFC 5424, without framing: PRI of facility "log audit", severity informational or, where the event is
 * a refusal or a failure, warning; APP-NAME `seneschal`, PROCID the service, MSGID the event's type; the names of the event as structured
 * data; the whole {@link AuditMessage} as JSON behind them (MSG-ANY: UTF-8 without a byte order mark).
 *
 * @param hostname of the machine that sends.
 */
export function syslogMessage(message: AuditMessage, hostname: string): string {
  checkArgument("message", message, "object");
  checkArgument("hostname", hostname, "string");
  const { service, instance, seq, stream, stream_seq, id, time, type, actor, outcome } = message;
  const priority = FACILITY * 8 + (outcome === "success" ? INFORMATIONAL : WARNING);
  const header = [printable(hostname, 255), "seneschal", printable(service, 128), printable(type, 32)].join(" ");
  const names = { instance, seq, stream, stream_seq, id, type, actor, outcome };
  const data = Object.entries(names)
    .map(([name, value]) => `${name}="${escaped(String(value))}"`)
    .join(" ");
  return `<${priority}>1 ${time} ${header} [seneschal@32473 ${data}] ${JSON.stringify(message)}`;
}

/** A field of the header: PRINTUSASCII of a bounded length, `-` for nothing. */
function printable(text: string, length: number): string {
  const kept = text.replace(/[^\x21-\x7e]/g, "?").slice(0, length);
  return kept === "" ? "-" : kept;
}

/** PARAM-VALUE (RFC 5424, 6.3.3); control characters, which many receivers take for the end of a line, as blanks. */
function escaped(text: string): string {
  return text.replace(/\p{Cc}/gu, " ").replace(/["\\\]]/g, "\\$&");
}
