import { type AuditSink, openFileSink, openOtlpSink, openSyslogSink, openWebhookSink } from "@seneschal/adapters/audit-sinks";
import { readText } from "@seneschal/adapters/files";
import type { AuditSinkSettings } from "./settings.ts";

const MAX_BYTES = 64 << 20;
const KEEP = 10;

/** Opens a sink as it is configured. Rejects for a file that cannot be read, and for certificates that cannot be used. */
export async function openSink(settings: AuditSinkSettings, now: () => number): Promise<AuditSink> {
  const { kind, url = "", path = "", timeout: timeoutMs, secret = "", headers = {} } = settings;
  const tls = await tlsOf(settings);
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

async function tlsOf({ ca_file, cert_file, key_file }: AuditSinkSettings) {
  const read = async (name: "ca" | "cert" | "key", path: string | undefined) =>
    path === undefined ? {} : { [name]: await readText(path) };
  const tls: { ca?: string; cert?: string; key?: string } = {
    ...(await read("ca", ca_file)),
    ...(await read("cert", cert_file)),
    ...(await read("key", key_file)),
  };
  return tls;
}
