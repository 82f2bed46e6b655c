import type { AuthoriseInput } from "@seneschal/contract";
import { type Authorisation, questionOf } from "../../platform/index.ts";
import { forbidden } from "./roles.ts";

/** Whether a caller may use a route at all; throws `forbidden` with the policy's reason. `now` in milliseconds. */
export type Authorise = (input: Pick<AuthoriseInput, "route" | "principal" | "now">) => Promise<void>;

export function authoriser(authorisation: Authorisation): Authorise {
  return async (input) => {
    const decision = await authorisation.decide(questionOf(input), input.now);
    if (!decision.allowed) throw forbidden(decision.reason);
  };
}
