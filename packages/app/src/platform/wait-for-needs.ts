import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "@seneschal/adapters/logging";
import type { Dispatch, ErrorTable, Incoming, WireResponse } from "@seneschal/contract";

/** For how long a start waits for what it needs. */
export interface Waiting {
  /** Milliseconds. */
  readonly atMost: number;
  /** Between two attempts, milliseconds; default 1000, and longer from time to time. */
  readonly every?: number;
  /** Ends the waiting. */
  readonly signal?: AbortSignal;
}

/** What a start may meet and the next attempt need not: the other side is not there, or not ready. */
const passing: ReadonlySet<unknown> = new Set([
  ...["store_unavailable", "vault_unavailable", "log_unavailable", "no_quorum", "outcome_unknown", "unavailable"],
  ...["ECONNREFUSED", "ECONNRESET", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH", "EPIPE"],
  // PostgreSQL: the server starts up, shuts down, or has no room for another connection.
  ...["57P03", "57P01", "53300"],
]);

function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return passing.has((error as { readonly code?: unknown }).code) || isPassing(error.cause);
}

const SLOWEST_MS = 5000;

/**
 * Does `work` until it succeeds, its failure is one that does not pass, or the time is over; `waiting` is called before each wait. The time
 * begins anew whenever `work` says so: for what has no time of its own, such as people.
 */
export async function untilThere<T>(
  work: (anew: () => void) => Promise<T>,
  wait: Waiting | undefined,
  log: Pick<Logger, "warn" | "info">,
  waiting: () => Promise<void>,
): Promise<T> {
  const { atMost = 0, every = 1000, signal } = wait ?? {};
  let started = performance.now();
  const anew = (): void => {
    started = performance.now();
  };
  for (let attempt = 1; ; attempt++) {
    try {
      const result = await work(anew);
      if (attempt > 1) log.info({ attempt }, "what the start waited for is there");
      return result;
    } catch (error) {
      const left = atMost - (performance.now() - started);
      if (left <= 0 || signal?.aborted === true || !isPassing(error)) throw error;
      log.warn({ error, attempt, seconds_left: Math.round(left / 1000) }, "the start waits for what the service needs");
      await waiting();
      await delay(Math.min(left, SLOWEST_MS, every * attempt), undefined, signal === undefined ? {} : { signal });
    }
  }
}

/** Answers while a service is not built yet: it lives, it is not ready, and says when to return. */
export function notYet(errors: ErrorTable | undefined, livePath: string): Dispatch {
  const { code = "SERVICE_UNAVAILABLE" } = errors?.find("service_unavailable") ?? {};
  const json = (status: number, value: object, headers: Record<string, string> = {}) => ({
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: new Uint8Array(Buffer.from(JSON.stringify(value))),
  });
  const refusal = { error: { code, message: "the service waits for what it needs", details: {} } };
  const answer = async ({ target }: Incoming): Promise<WireResponse> => {
    const [path] = target.split("?");
    return path === livePath ? json(200, { status: "alive" }) : json(503, refusal, { "retry-after": "5" });
  };
  return Object.assign(answer, { serves: () => true });
}
