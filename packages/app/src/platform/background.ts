import { AsyncLocalStorage } from "node:async_hooks";
import type { Logger } from "@seneschal/adapters/logging";
import { type Repeat, repeatByTimer, type Stoppable } from "./repeat.ts";

/** Where steps of background work are seen beside the log: the metrics of a service, or what it has in their place. */
export interface BackgroundWatch {
  /** A run of a step failed. */
  backgroundFailure(step: string, error: unknown): void;
  /** A step began to fail, or does not any more. */
  backgroundFailing(step: string, failing: boolean, error?: unknown): void;
}

/**
 * The background work of a service, step by step: each fails alone, and is seen to fail until it succeeds again. Whatever a service does by
 * time is begun here: nothing else of it has a timer.
 */
export interface Background {
  /** Does a step; what it gave, or `undefined` when it failed. Never rejects. */
  step<T>(name: string, work: () => Promise<T>): Promise<T | undefined>;
  /** A step for each item: the failure of one keeps no other from its turn. Never rejects. */
  each<T>(name: string, items: Iterable<T> | Promise<Iterable<T>>, work: (item: T) => Promise<unknown>): Promise<void>;
  /** Does a step again and again, `ms` after its last turn ended, however that ended; turns never overlap. */
  every(name: string, ms: number, work: () => Promise<unknown>, repeat?: Repeat): Stoppable;
  /** A step that is done when something has made it due; after a turn that failed it is due by itself, `retryMs` later at the latest. */
  soon(name: string, retryMs: number, work: () => Promise<unknown>): Due;
  /** A step that is not this process's to do: whatever it was last is forgotten. */
  skip(name: string): void;
  /** The steps whose last run failed, by name. */
  failing(): readonly string[];
}

/** See {@link Background.soon}. */
export interface Due extends Stoppable {
  /** In `ms` at the latest, also where it was due later, such as after a turn that failed. */
  due(ms: number): void;
}

/** Background work that is logged, and told to `watch`. */
export function openBackground(log: Pick<Logger, "error" | "info">, watch: BackgroundWatch): Background {
  const failed = new Set<string>();
  const succeeded = (name: string): void => {
    if (!failed.delete(name)) return;
    log.info({ step: name }, "background work goes on");
    watch.backgroundFailing(name, false);
  };
  // Nothing is of the request that made it due: that has its answer, and its trace has ended.
  const outside = AsyncLocalStorage.snapshot();
  const step: Background["step"] = async (name, work) => {
    try {
      const result = await outside(work);
      succeeded(name);
      return result;
    } catch (error) {
      log.error({ step: name, error }, "background work failed");
      watch.backgroundFailure(name, error);
      if (!failed.has(name)) {
        failed.add(name);
        watch.backgroundFailing(name, true, error);
      }
      return undefined;
    }
  };
  return {
    step,
    async each(name, items, work) {
      await step(name, async () => {
        const errors: unknown[] = [];
        for (const item of await items) await work(item).catch((error: unknown) => errors.push(error));
        if (errors.length > 0)
          throw errors.length === 1 ? errors[0] : new AggregateError(errors, `${errors.length} of ${name} failed`);
      });
    },
    every: (name, ms, work, repeat = repeatByTimer) =>
      repeat(ms, async () => {
        await step(name, work);
      }),
    soon(name, retryMs, work) {
      let stopped = false;
      let timer: NodeJS.Timeout | undefined;
      let dueAt = Number.POSITIVE_INFINITY;
      let turn: Promise<unknown> = Promise.resolve();
      const due = (ms: number): void => {
        const at = performance.now() + ms;
        if (stopped || at >= dueAt) return;
        clearTimeout(timer);
        dueAt = at;
        timer = setTimeout(() => {
          dueAt = Number.POSITIVE_INFINITY;
          turn = turn.then(() =>
            step(name, async () => {
              await work();
              return true;
            }),
          );
          // Nothing may come that asks before.
          turn = turn.then((done) => (done === true ? undefined : due(retryMs)));
        }, ms).unref();
      };
      return {
        due,
        async stop() {
          stopped = true;
          clearTimeout(timer);
          await turn;
        },
      };
    },
    skip: succeeded,
    failing: () => [...failed].sort(),
  };
}
