import { type LocalRunner, localRunner } from "@seneschal/adapters/runner";
import type { Outputs } from "../services.ts";

/** The local runner, and the output of what it runs. */
export function openOutputs(now: () => number): Outputs & { readonly runner: LocalRunner } {
  const runner = localRunner({ now });
  return {
    runner,
    tail: (allocation, lines) => runner.tail(allocation, lines),
    follow: (allocation, callback) => runner.follow(allocation, callback),
  };
}
