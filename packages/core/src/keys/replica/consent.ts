import { checkArgument } from "@seneschal/kernel";
import { lifetimes } from "../lifetimes.ts";

/** The clocks of two instances may differ so much. */
const clockSkew = 60_000;

/**
 * Whether a participant's signed consent to a deletion, made at another instance, is good still: the way to here may take a while.
 * `iat`, `exp`: seconds since the epoch, as signed.
 */
export function isTimelyConsent(signed: { readonly iat: number; readonly exp: number }, now: number): boolean {
  checkArgument("signed", signed, "object");
  checkArgument("now", now, "number");
  const [from, to] = [signed.iat * 1000, signed.exp * 1000];
  return from <= now + clockSkew && to > from && to - from <= lifetimes.signingRequestMax && now <= to + lifetimes.consentTransit;
}
