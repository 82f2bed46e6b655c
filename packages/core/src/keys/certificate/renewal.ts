/**
 * Whether a certificate is renewed now: when a third of its life, at most 30 days, is left of it; also when it has ended, since nobody else renews it. All in
 * milliseconds.
 */
export function isRenewalDue(
  { notBefore, notAfter }: { readonly notBefore: number; readonly notAfter: number },
  now: number,
): boolean {
  const left = Math.min((notAfter - notBefore) / 3, 30 * 86_400_000);
  return notAfter - now <= left;
}
