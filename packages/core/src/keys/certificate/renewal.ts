import { checkArgument } from "@seneschal/kernel";

/**
 * Whether a certificate is renewed now: when a third of its life, at most 30 days, is left of it; also when it has ended, since nobody else renews it. All in
 * milliseconds.
 */
export function isRenewalDue(given: { readonly notBefore: number; readonly notAfter: number }, now: number): boolean {
  checkArgument("given", given, "object");
  checkArgument("now", now, "number");
  const { notBefore, notAfter } = given;
  const left = Math.min((notAfter - notBefore) / 3, 30 * 86_400_000);
  return notAfter - now <= left;
}
