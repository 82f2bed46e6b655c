import { checkArgument } from "@seneschal/kernel";

/** What browsers may do with a bucket from pages of other origins (Amazon S3 API reference, CORSRule). Names of headers have any case. */
export interface CorsRule {
  readonly id?: string;
  /** One `*` at most in each, for any text. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  /** Headers that a page may send; one `*` at most in each. */
  readonly headers: readonly string[];
  /** Headers that a page may read. */
  readonly exposed: readonly string[];
  readonly maxAgeSeconds?: number;
}

/** What a page asks for. */
export interface CorsQuestion {
  readonly origin: string;
  readonly method: string;
  /** The headers that it would send. */
  readonly headers: readonly string[];
}

/**
 * The first rule that allows all of it, and whether every origin may; `undefined`: none does.
 *
 * @example
 * ```ts
 * import { corsRuleFor } from "@seneschal/core/storage";
 * const rule = { origins: ["https://*.acme.example"], methods: ["GET"], headers: [], exposed: [] };
 * console.log(corsRuleFor([rule], { origin: "https://app.acme.example", method: "GET", headers: [] })?.anyOrigin); // false
 * console.log(corsRuleFor([rule], { origin: "https://evil.example", method: "GET", headers: [] })); // undefined
 * ```
 */
export function corsRuleFor(
  rules: readonly CorsRule[],
  question: CorsQuestion,
): { readonly rule: CorsRule; readonly anyOrigin: boolean } | undefined {
  checkArgument("rules", rules, "array");
  checkArgument("question", question, "object");
  const { origin, method, headers } = question;
  for (const rule of rules) {
    const allowed = rule.origins.find((pattern) => fits(pattern, origin));
    if (allowed === undefined || !rule.methods.includes(method)) continue;
    const lower = rule.headers.map((pattern) => pattern.toLowerCase());
    if (headers.every((name) => lower.some((pattern) => fits(pattern, name.toLowerCase()))))
      return { rule, anyOrigin: allowed === "*" };
  }
  return undefined;
}

function fits(pattern: string, text: string): boolean {
  const star = pattern.indexOf("*");
  if (star < 0) return pattern === text;
  const [before, behind] = [pattern.slice(0, star), pattern.slice(star + 1)];
  return text.length >= before.length + behind.length && text.startsWith(before) && text.endsWith(behind);
}
