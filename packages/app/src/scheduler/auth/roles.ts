import { CodedError } from "@seneschal/kernel";
import { type Caller, type QuotaState, reachesTenant } from "@seneschal/quota";

/** Refuses a foreign tenant, whether it exists or not. */
export function requireTenant(state: QuotaState, caller: Caller, tenant: string): void {
  if (!reachesTenant(state, caller, tenant)) throw forbidden("the tenant is not yours");
}

export function forbidden(message: string): CodedError {
  return new CodedError("forbidden", message);
}
