import type { AuditMessage } from "@seneschal/core/audit";

/**
 * Where audit events go beside the log. `send` resolves when the receiver has all of them, as far as its protocol can tell, and rejects with
 * `sink_failed` otherwise: then none, some or all may have come, and whoever sends says them all again. An error never holds a secret or an event.
 */
export interface AuditSink {
  /** In order; at least one. */
  send(messages: readonly AuditMessage[], signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
