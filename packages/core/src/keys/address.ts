import { checkArgument } from "@seneschal/kernel";
import { invalidField } from "./codes.ts";

/** What of an address is judged, as a URL has it. */
export interface CalledAddress {
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}

/** What an address may be. */
export interface AddressRules {
  /** The field that holds it. */
  readonly field: string;
  /** Such as `https:`. */
  readonly protocols: readonly string[];
  /** A path is allowed too. */
  readonly path: boolean;
  /** Why the network may not be reached there; absent: it may. */
  readonly guarded?: string | undefined;
}

/**
 * Throws `VALIDATION_ERROR` with the field's name unless the gateway may call an address: by one of the protocols, without credentials, query or
 * fragment.
 *
 * @example
 * ```ts
 * import { requireAddress } from "@seneschal/core/keys";
 * requireAddress(new URL("https://gateway.globex.example:8443"), { field: "partner_url", protocols: ["https:"], path: true });
 * ```
 */
export function requireAddress(url: CalledAddress, rules: AddressRules): void {
  checkArgument("url", url, "object");
  checkArgument("rules", rules, "object");
  const { field, protocols, path, guarded } = rules;
  if (!protocols.includes(url.protocol)) throw invalidField(field, `expected ${protocols.join(" or ").replaceAll(":", "")}`);
  if (url.username !== "" || url.password !== "") throw invalidField(field, "must not hold credentials");
  if (!path && (url.search !== "" || url.hash !== "" || url.pathname !== "/"))
    throw invalidField(field, "expected scheme, host and port only");
  if (url.search !== "" || url.hash !== "") throw invalidField(field, "expected no query and no fragment");
  if (guarded !== undefined) throw invalidField(field, guarded);
}
