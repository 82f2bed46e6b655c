import { createSocket } from "node:dgram";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { hostname } from "node:os";
import { connect as connectTls, createSecureContext } from "node:tls";
import { syslogMessage } from "@seneschal/core/audit";
import { CodedError, checkOptions } from "@seneschal/kernel";
import type { AuditSink } from "./audit-sink.ts";

export interface SyslogSinkOptions {
  /** `tls://host:6514`, `tcp://host:601` or `udp://host:514`; the port may be left out. */
  readonly url: string;
  /** PEM: whom to trust about the receiver (default: the public CAs), and what to show it. Of `tls` only. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Until the receiver has a batch, milliseconds. */
  readonly timeoutMs: number;
}

/** RFC 5425, 6587 and 5426. */
const PORTS: Readonly<Record<string, number>> = { "tls:": 6514, "tcp:": 601, "udp:": 514 };

/** What fits into one datagram of IPv4. */
const MAX_DATAGRAM = 65_507;

/**
 * Messages of RFC 5424 over TLS (RFC 5425), TCP (RFC 6587, octet counting) or UDP (RFC 5426). Syslog knows no acknowledgement. Over TLS and TCP each batch has a
 * connection of its own, which is closed in order: the receiver closes its end only after it has read what came before, so that a close without a
 * reset says that it has all. Over UDP nothing says so.
 */
export function openSyslogSink(options: SyslogSinkOptions): AuditSink {
  checkOptions("options", options, { url: "string", tls: "object?", timeoutMs: "number" });
  const { url, tls = {}, timeoutMs } = options;
  const { protocol, hostname: named, port: given } = new URL(url);
  const host = named.replace(/^\[|\]$/g, "");
  const port = Number(given || PORTS[protocol] || 0);
  const secureContext = protocol === "tls:" ? createSecureContext({ ...tls, minVersion: "TLSv1.2" }) : undefined;
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const connect = (): Socket =>
    secureContext === undefined ? connectTcp({ host, port }) : connectTls({ host, port, secureContext, ...servername });
  return {
    async send(messages, signal) {
      const texts = messages.map((message) => Buffer.from(syslogMessage(message, hostname()), "utf8"));
      try {
        if (protocol === "udp:") await sendDatagrams(texts, { host, port });
        else await sendAndClose(connect(), Buffer.concat(texts.flatMap(framed)), timeoutMs, signal);
      } catch (cause) {
        const { code, message } = cause as NodeJS.ErrnoException;
        throw new CodedError("sink_failed", `the syslog receiver did not take the events (${code ?? message})`, {}, cause);
      }
    },
    close: async () => undefined,
  };
}

/** MSG-LEN SP SYSLOG-MSG. */
function framed(text: Buffer): readonly Buffer[] {
  return [Buffer.from(`${text.length} `), text];
}

function sendAndClose(socket: Socket, bytes: Buffer, timeoutMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let told = false;
    let heard = false;
    let failure: Error | undefined;
    const fail = (error: Error): void => {
      failure ??= error;
      socket.destroy();
    };
    const late = setTimeout(() => fail(new Error("no orderly close in time")), timeoutMs);
    const abort = (): void => fail(new Error("aborted"));
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    socket.once("finish", () => {
      told = true;
    });
    socket.once("end", () => {
      heard = told;
      if (!told) fail(new Error("closed by the receiver before it had everything"));
    });
    socket.once("error", fail);
    socket.once("close", () => {
      clearTimeout(late);
      signal.removeEventListener("abort", abort);
      if (failure === undefined && heard) resolve();
      else reject(failure ?? new Error("not closed in order"));
    });
    socket.resume();
    socket.end(bytes);
  });
}

async function sendDatagrams(texts: readonly Buffer[], { host, port }: { readonly host: string; readonly port: number }) {
  const socket = createSocket(isIP(host) === 6 ? "udp6" : "udp4");
  try {
    for (const text of texts) {
      await new Promise<void>((resolve, reject) => {
        // Receivers cut what is too long (RFC 5424, 6.1): the names of the event stand first.
        socket.send(text.subarray(0, MAX_DATAGRAM), port, host, (error) => (error ? reject(error) : resolve()));
      });
    }
  } finally {
    socket.close();
  }
}
