import { CodedError } from "@seneschal/kernel";

/** What a service is: built, started or stopped; and how many requests are in flight. */
export interface Phases {
  /** Throws `service_unavailable` unless the service is started. */
  readonly check: () => void;
  /** Counts a request until it is answered. */
  during<T>(request: Promise<T>): Promise<T>;
  /** Idempotent; rejects after `stop`. */
  start(work: () => Promise<void>): Promise<void>;
  /** Idempotent. Calls `close` when no request is in flight any more, or after the grace. */
  stop(close: () => Promise<void>, graceMs?: number): Promise<void>;
}

/** The life of a service. One that nobody started answers nothing: its background work would be missing without a sign. */
export function phases(name: string, usualGraceMs = 10_000): Phases {
  let started: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;
  let inFlight = 0;
  let idle: (() => void) | undefined;
  const over = (): void => {
    inFlight--;
    if (inFlight === 0) idle?.();
  };
  const drained = (graceMs: number): Promise<void> =>
    new Promise((resolve) => {
      if (inFlight === 0) return resolve();
      const timer = setTimeout(resolve, graceMs);
      idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  return {
    check() {
      if (stopped !== undefined) throw new CodedError("service_unavailable", "the service is stopped");
      if (started === undefined)
        throw new CodedError("service_unavailable", `the service is not started: call start() of the ${name} service`);
    },
    during(request) {
      inFlight++;
      return request.finally(over);
    },
    start(work) {
      if (stopped !== undefined) return Promise.reject(new CodedError("service_unavailable", "the service is stopped"));
      started ??= work();
      return started;
    },
    stop(close, graceMs = usualGraceMs) {
      stopped ??= drained(graceMs).then(close);
      return stopped;
    },
  };
}
