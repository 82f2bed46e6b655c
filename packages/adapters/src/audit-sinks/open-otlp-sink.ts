import { otlpLogs } from "@seneschal/core/audit";
import { CodedError, checkOptions } from "@seneschal/kernel";
import { mtlsFetch, type TlsIdentity } from "../http/mtls-fetch.ts";
import type { AuditSink } from "./audit-sink.ts";

export interface OtlpSinkOptions {
  /** With its path, such as `https://collector:4318/v1/logs`. */
  readonly url: string;
  /** For the collector, such as its token. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls?: Pick<TlsIdentity, "ca" | "cert" | "key">;
  /** Until a batch is answered, milliseconds. */
  readonly timeoutMs: number;
}

/** An OpenTelemetry collector: OTLP logs over HTTP in JSON. One that took a part of a batch only has not taken it: audit events are not dropped for that. */
export function openOtlpSink(options: OtlpSinkOptions): AuditSink {
  checkOptions("options", options, { url: "string", headers: "object", tls: "object?", timeoutMs: "number" });
  const { url, headers, tls = {}, timeoutMs } = options;
  const http = mtlsFetch({ ...tls, timeout: timeoutMs });
  return {
    async send(messages, signal) {
      let status: number;
      let answer: string;
      try {
        const response = await http.fetch(url, {
          method: "POST",
          headers: { ...headers, "content-type": "application/json" },
          body: JSON.stringify(otlpLogs(messages)),
          redirect: "manual",
          signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        });
        status = response.status;
        answer = await response.text();
      } catch (cause) {
        throw new CodedError("sink_failed", "the collector does not answer", {}, cause);
      }
      if (status < 200 || status > 299) throw new CodedError("sink_failed", `the collector answered ${status}`, { status });
      const rejected = rejectedOf(answer);
      if (rejected > 0) throw new CodedError("sink_failed", `the collector refused ${rejected} of the events`, { rejected });
    },
    close: () => http.close(),
  };
}

/** `partialSuccess.rejectedLogRecords` of an answer, a 64-bit number as text or not. */
function rejectedOf(answer: string): number {
  try {
    const { partialSuccess } = JSON.parse(answer) as { partialSuccess?: { rejectedLogRecords?: string | number } };
    return Number(partialSuccess?.rejectedLogRecords ?? 0);
  } catch {
    return 0;
  }
}
