import { type AuditSink, openFileSink, openOtlpSink, openSyslogSink, openWebhookSink } from "@seneschal/adapters/audit-sinks";
import { readText } from "@seneschal/adapters/files";
import type { AuditSinkSettings } from "./settings.ts";

const MAX_BYTES = 64 << 20;
const KEEP = 10;

/** Opens a sink as it is configured, with what {@link readSinkTls} gave. Throws for certificates that cannot be used. */
export function openSink(settings: AuditSinkSettings, tls: SinkTls, now: () => number): AuditSink {
  const { kind, url = "", path = "", timeout: timeoutMs, secret = "", headers = {} } = settings;
  switch (kind) {
    case "file":
      return openFileSink({ path, maxBytes: settings.max_bytes ?? MAX_BYTES, keep: settings.keep ?? KEEP });
    case "syslog":
      return openSyslogSink({ url, tls, timeoutMs });
    case "otlp":
      return openOtlpSink({ url, headers, tls, timeoutMs });
    case "webhook":
      return openWebhookSink({ url, secret, now, timeoutMs, ...(tls.ca === undefined ? {} : { ca: tls.ca }) });
  }
}

/** What the files of a sink hold. PEM. */
export interface SinkTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** Reads the files that a sink names. Rejects for one that cannot be read. */
export async function readSinkTls({ ca_file, cert_file, key_file }: AuditSinkSettings): Promise<SinkTls> {
  const read = async (name: keyof SinkTls, path: string | undefined) =>
    path === undefined ? {} : { [name]: await readText(path) };
  return { ...(await read("ca", ca_file)), ...(await read("cert", cert_file)), ...(await read("key", key_file)) };
}
