import type { QuotaEvent } from "@seneschal/quota";
import type { Quotas } from "../quotas.ts";

/** The live events of the replicated state, fanned out to whoever watches in this process. */
export interface Feed {
  subscribe(callback: (event: QuotaEvent) => void): () => void;
  /** Ends every stream that hangs on it. */
  close(): void;
  onClose(callback: () => void): () => void;
}

export function openFeed(quotas: Quotas): Feed {
  const listeners = new Set<(event: QuotaEvent) => void>();
  const closers = new Set<() => void>();
  const stop = quotas.subscribe((events) => {
    for (const event of events) for (const listener of listeners) listener(event);
  });
  return {
    subscribe(callback) {
      listeners.add(callback);
      return () => listeners.delete(callback);
    },
    onClose(callback) {
      closers.add(callback);
      return () => closers.delete(callback);
    },
    close() {
      stop();
      for (const close of [...closers]) close();
      listeners.clear();
    },
  };
}
