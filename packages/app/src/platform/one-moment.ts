import type { Principal } from "@seneschal/contract";
import { checkArgument } from "@seneschal/kernel";
import type { Admission } from "./admission.ts";

const ATTEMPTS = 12;

/** One run of a work, and whether what it was judged on was true together. */
export interface Attempt<R> {
  run(): R | Promise<R>;
  /** Asked once the run has ended, well or not. */
  stands(): boolean | Promise<boolean>;
}

/**
 * What `attempt` gave when it stood: its value, or what it threw. One that does not stand runs again, with its caller let in anew first.
 * Throws `lost()` when none of twelve stood, and what a caller who is no longer let in is refused with.
 */
export async function inOneMoment<R>(
  attempt: (number: number) => Attempt<R>,
  lost: () => Error,
  admission?: Admission,
): Promise<R> {
  checkArgument("attempt", attempt, "function");
  checkArgument("lost", lost, "function");
  for (let number = 1; ; number += 1) {
    if (number > 1) await admission?.revise();
    const { run, stands } = attempt(number);
    const [outcome] = await Promise.allSettled([(async () => run())()]);
    if (await stands()) {
      if (outcome.status === "fulfilled") return outcome.value;
      throw outcome.reason;
    }
    if (number === ATTEMPTS) throw lost();
  }
}

/** `input` as it is to be read in each attempt: with its caller as let in last. */
export function asAdmitted<I extends { readonly principal: Principal | undefined }>(
  input: I,
  admission: Admission | undefined,
): () => I {
  return admission === undefined ? () => input : () => Object.assign({}, input, { principal: admission.principal });
}
