import { checkArgument } from "@seneschal/kernel";

/** What is known of who holds an API key. */
export interface KeyHolder {
  readonly id: string;
  /** Whom the key was made for, if it says so. */
  readonly person: string | undefined;
  /** Every key that was ever shown this one's secret, having made or rotated it, and theirs in turn. */
  readonly issuers: ReadonlySet<string>;
  /** A key among all these of which nobody kept who made it: release 0.1 did not. Rotating it ends that. */
  readonly unrecorded?: string | undefined;
}

/**
 * Whether two keys count as one holder's. Whoever made or rotated a key was shown its secret and can use it. Two keys from one
 * hand may both still be in it, unless each was made for another person. Of what was not recorded the worst is taken.
 *
 * @example
 * ```ts
 * import { isSameHolder } from "@seneschal/governance";
 * const first = { id: "a", person: undefined, issuers: new Set<string>() };
 * const second = { id: "b", person: "bob", issuers: new Set(["a"]) }; // a made b
 * console.log(isSameHolder(first, second)); // true
 * ```
 */
export function isSameHolder(a: KeyHolder, b: KeyHolder): boolean {
  checkArgument("a", a, "object");
  checkArgument("b", b, "object");
  if (a.unrecorded !== undefined || b.unrecorded !== undefined) return true;
  if (a.id === b.id || a.issuers.has(b.id) || b.issuers.has(a.id)) return true;
  if (a.person !== undefined && b.person !== undefined) return isSamePerson(a.person, b.person);
  return [...a.issuers].some((issuer) => b.issuers.has(issuer));
}

/** Whether two names may be one person's: without case, compatibility forms (NFKC), blanks around and what cannot be seen, as directories compare them (RFC 4518). */
export function isSamePerson(a: string, b: string): boolean {
  return folded(a) === folded(b);
}

function folded(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replace(/\s+/gu, " ")
    .trim()
    .toLowerCase();
}
