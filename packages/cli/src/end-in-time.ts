import type { Logger } from "@seneschal/adapters/logging";
import type { ProcessConfig } from "@seneschal/app";
import type { Host } from "./host.ts";

/** What processes in front have beyond the grace of their requests, and what databases, vaults and receivers have to be closed. Milliseconds. */
const [FRONTS_MS, CLOSING_MS] = [5000, 10_000];

/**
 * Has the process end in time once it is told to: what is not closed by then is dropped, and said. `config` is what is in force, nothing before that
 * is known. The signal ends a start.
 */
export function endInTime(host: Host, log: Logger, config: () => ProcessConfig | undefined): AbortSignal {
  const ended = new AbortController();
  void host.interrupted.then(() => {
    ended.abort();
    host.endWithin(longestEnd(config()), (open) => log.error({ open }, "not everything could be closed in time: it is dropped"));
  });
  return ended.signal;
}

/** What a start that was told to end while it waited comes to: nothing. Throws every other reason. */
export function toldToEnd(error: unknown): undefined {
  if ((error as { readonly name?: unknown }).name !== "AbortError") throw error;
}

/** How long an end takes at most: services end one after another, and what they hold is closed behind that. */
function longestEnd(config: ProcessConfig | undefined): number {
  const each = (config?.services ?? []).map((name) => {
    const { shutdown_timeout, processes } = (config as ProcessConfig)[name].server;
    return shutdown_timeout + (processes === 0 ? 0 : FRONTS_MS);
  });
  return each.reduce((sum, ms) => sum + ms, CLOSING_MS);
}
