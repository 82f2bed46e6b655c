import { checkArgument } from "@seneschal/kernel";

/** Something that goes on beside requests; `stop` waits for the turn that runs. */
export interface Stoppable {
  stop(): Promise<void>;
}

/** Does work again and again until stopped. */
export type Repeat = (ms: number, work: () => Promise<void>) => Stoppable;

/** By the timers of the host: the next turn begins `ms` after the last one ended, so turns never overlap. */
export const repeatByTimer: Repeat = (ms, work) => {
  checkArgument("ms", ms, "number");
  checkArgument("work", work, "function");
  let stopped = false;
  let turn: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const again = (): void => {
    if (stopped) return;
    timer = setTimeout(() => {
      turn = work().finally(again);
    }, ms);
    timer.unref();
  };
  again();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await turn;
    },
  };
};
