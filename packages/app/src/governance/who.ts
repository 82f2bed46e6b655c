import type { Principal, RequestFacts } from "@seneschal/contract";
import type { Who } from "./audit/event.ts";

/** The organisation of callers without a key: it owns nothing. */
export const NOBODY = "anonymous";

/** For whom a record is written. `user` is who the caller says acts; a key acts for itself otherwise. */
export function whoOf(
  input: { readonly principal: Principal | undefined; readonly now: number; readonly requestId: string },
  user?: string,
): Who {
  const { principal, now, requestId } = input;
  return {
    org: principal?.org ?? NOBODY,
    user: user ?? principal?.id ?? "anonymous",
    now,
    requestId,
    ...(principal === undefined ? {} : { apiKey: principal.id }),
  };
}

/** Whose budget a request's work is charged to: the organisation's, and without a key the address's. */
export function ownerOf({
  principal,
  request,
}: {
  readonly principal: Principal | undefined;
  readonly request: Pick<RequestFacts, "remoteAddress">;
}): string {
  return principal?.org ?? `${NOBODY} ${request.remoteAddress}`;
}
