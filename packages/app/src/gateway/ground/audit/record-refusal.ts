import type { KeysError } from "@seneschal/core/keys";
import type { Call } from "../call.ts";
import { isLocal } from "../organizations.ts";
import type { GroundServices } from "../services.ts";
import { instanceStream } from "./event.ts";

const recorded = new WeakSet<Error>();

/** Marks an error whose refusal stands in the audit log already. */
export function markRecorded<E extends Error>(error: E): E {
  recorded.add(error);
  return error;
}

/**
 * Writes a refusal (of a policy of `workspace`: its violation) into the caller's audit log, a partner's into that of the organisation it is
 * federated with, that of a caller whose organisation has not begun here into the instance's; once per error.
 */
export async function recordRefusal(
  services: GroundServices,
  call: Call,
  route: string,
  error: KeysError,
  workspace = "",
): Promise<void> {
  if (recorded.has(error)) return;
  recorded.add(error);
  const owner = await services.hostOf(services.read, call.principal);
  const begun = await isLocal(services.read, owner);
  await services.transact(call, async (unit) => {
    unit.record({
      type: error.code === "POLICY_VIOLATION" ? "policy.violation" : "auth.failure",
      org: begun ? owner : instanceStream,
      workspace,
      result: "denied",
      metadata: { route, code: error.code, reason: error.message, ...(begun ? {} : { organization: owner }) },
    });
  });
}
