import { isKeyed } from "./failures.ts";
import type { Contract, Route } from "./route.ts";

/** How a client sends again what was not answered. */
export interface RetryOptions {
  /** A text that is new at each call, for `Idempotency-Key`: `() => crypto.randomUUID()`. */
  readonly newKey: () => string;
  /** Resolves after so many milliseconds: `(ms) => new Promise((resolve) => setTimeout(resolve, ms))`. */
  readonly pause: (ms: number) => Promise<void>;
  /** A call is sent so often at most. Default 4. */
  readonly attempts?: number;
}

/** The wait before the second try, in milliseconds, where the service names none; doubled by each further one. */
const FIRST_WAIT = 250;
const LONGEST_WAIT = 60_000;

/** What became of one try. */
export interface Tried {
  /** Absent: no answer came. */
  readonly status?: number;
  readonly retryAfter?: string | null;
}

/** Whether a route takes an `Idempotency-Key`: in a contract whose routes say which do, those alone; else every POST whose answer can be kept. */
export function takesKey(contract: Contract, route: Route): boolean {
  return isKeyed(route, !Object.values(contract).some(({ keyed }) => keyed === true));
}

/**
 * Milliseconds until a call is sent again, or `undefined` when it is not. A rate limit did nothing and says when to come back: every call is sent again then. A
 * 429 that names no time is an answer, such as a quota's. Where it is open whether anything was done (no answer, 502, 503, 504), only what may be done twice is
 * sent again: reads, and what carries a key. The answer to a key belongs to who asked: for callers without a credential none is kept. After a first try a 409
 * may say that this one is still at work: it is waited for.
 */
export function retryWait(tried: Tried, route: Route, keyed: boolean, attempt: number): number | undefined {
  const { status, retryAfter } = tried;
  const { method, safe, auth, alsoStatus = [] } = route;
  // A probe's 503 is what it was asked for.
  if (status !== undefined && alsoStatus.includes(status)) return undefined;
  const repeatable = method === "GET" || method === "HEAD" || safe === true || (keyed && auth === "principal");
  const isOpen = status === undefined || status === 502 || status === 503 || status === 504;
  const isAtWork = keyed && attempt > 1 && status === 409;
  const seconds = /^[0-9]{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) : undefined;
  const isLimited = status === 429 && seconds !== undefined;
  if (!isLimited && !(isOpen && repeatable) && !isAtWork) return undefined;
  if (seconds === undefined) return Math.min(FIRST_WAIT * 2 ** (attempt - 1), LONGEST_WAIT);
  // Who is to come back in an hour is told so, and not kept waiting.
  return seconds * 1000 > LONGEST_WAIT ? undefined : seconds * 1000;
}
