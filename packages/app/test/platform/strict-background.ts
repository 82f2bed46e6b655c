import type { Logger } from "@seneschal/adapters/logging";
import { type Background, openBackground } from "../../src/platform/index.ts";

/** Background work for tests: a step that fails fails its caller too. */
export function strictBackground(log: Logger): Background {
  return openBackground(log, {
    backgroundFailure(_step, error) {
      throw error;
    },
    backgroundFailing: () => undefined,
  });
}
