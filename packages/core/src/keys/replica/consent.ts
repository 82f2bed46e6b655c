import { checkArgument } from "@seneschal/kernel";
import { refusal } from "../codes.ts";
import { lifetimes } from "../lifetimes.ts";
import type { Workspace } from "../workspace.ts";

/** The clocks of two instances may differ so much. */
const clockSkew = 60_000;

/**
 * Whether a participant's signed consent to a deletion, made at another instance, is good still: the way to here may take a while.
 * `iat`, `exp`: seconds since the epoch, as signed.
 *
 * @example
 * ```ts
 * import { isTimelyConsent } from "@seneschal/core/keys";
 * console.log(isTimelyConsent({ iat: 0, exp: 300 }, 60_000), isTimelyConsent({ iat: 600, exp: 900 }, 0)); // true false
 * ```
 */
export function isTimelyConsent(signed: { readonly iat: number; readonly exp: number }, now: number): boolean {
  checkArgument("signed", signed, "object");
  checkArgument("now", now, "number");
  const [from, to] = [signed.iat * 1000, signed.exp * 1000];
  return from <= now + clockSkew && to > from && to - from <= lifetimes.signingRequestMax && now <= to + lifetimes.consentTransit;
}

/** The operation that a consent to the deletion of a workspace signs. */
export const deletionOperation = "workspace.delete";

/** What of a signed operation a consent is judged by. */
export interface SignedConsent {
  readonly op: string;
  readonly org_id: string;
  readonly resource_type: string;
  readonly resource_id: string;
  readonly body_sha256: string;
  /** Seconds since the epoch. */
  readonly iat: number;
  readonly exp: number;
}

/**
 * The owner's side of a partner's consent to the deletion of a workspace: it holds if the partner's root key really signed that, of the workspace as it is now, lately.
 * `body_sha256`: what the signature covers of the workspace as it is; `genuine`: the pinned key of the partner made the signature. Throws `STATE_CONFLICT` for
 * a workspace that changed, `SIGNATURE_EXPIRED`, `SIGNATURE_INVALID`.
 *
 * @example
 * ```ts
 * import { deletionOperation, requireConsent } from "@seneschal/core/keys";
 * const signed = { op: deletionOperation, org_id: "globex", resource_type: "workspace", resource_id: "w1", body_sha256: "00", iat: 0, exp: 300 };
 * const facts = { partner: "globex", workspace: { id: "w1", revision: 3 }, body_sha256: "00", genuine: true };
 * requireConsent(signed, facts, 1000);
 * try {
 *   requireConsent(signed, { ...facts, body_sha256: "01" }, 1000);
 * } catch (error) {
 *   console.log((error as Error).message); // the workspace changed since it was signed
 * }
 * ```
 */
export function requireConsent(
  signed: SignedConsent,
  facts: {
    readonly partner: string;
    readonly workspace: Pick<Workspace, "id" | "revision">;
    readonly body_sha256: string;
    readonly genuine: boolean;
  },
  now: number,
): void {
  checkArgument("signed", signed, "object");
  checkArgument("facts", facts, "object");
  checkArgument("now", now, "number");
  const { partner, body_sha256, genuine } = facts;
  const { id, revision } = facts.workspace;
  if (signed.body_sha256 !== body_sha256)
    throw refusal("STATE_CONFLICT", "the workspace changed since it was signed", { revision });
  if (!isTimelyConsent(signed, now))
    throw refusal("SIGNATURE_EXPIRED", "the consent was signed too long ago, or for too long", { revision });
  const meant =
    signed.op === deletionOperation &&
    signed.org_id === partner &&
    signed.resource_type === "workspace" &&
    signed.resource_id === id;
  if (!meant || !genuine) throw refusal("SIGNATURE_INVALID", "the partner's root key did not sign this deletion");
}

/**
 * Whose consents stand for the workspace as it is now: one revision with one content.
 *
 * @example
 * ```ts
 * import { consentsTo } from "@seneschal/core/keys";
 * const state = { revision: 3, state_sha256: "00" };
 * console.log(consentsTo(state, [{ org_id: "globex", ...state }, { org_id: "initech", ...state, revision: 2 }])); // [ 'globex' ]
 * ```
 */
export function consentsTo(
  state: { readonly revision: number; readonly state_sha256: string },
  consents: readonly { readonly org_id: string; readonly revision: number; readonly state_sha256?: string }[],
): readonly string[] {
  checkArgument("state", state, "object");
  checkArgument("consents", consents, "array");
  const { revision, state_sha256 } = state;
  return consents.filter((one) => one.revision === revision && one.state_sha256 === state_sha256).map(({ org_id }) => org_id);
}
