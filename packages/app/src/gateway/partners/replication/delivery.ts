import type { Dispatch, StoredFederation } from "../collections.ts";
import { type PeerAnswer, refusesForGood } from "../federation/channel.ts";
import type { PartnerServices } from "../services.ts";

/** What a try came to. `refused`: the partner said no for good, with this code. */
export type Delivery =
  | { readonly kind: "done" }
  /** `unreachable`: so would be all else for this partner. */
  | { readonly kind: "retry"; readonly detail: string; readonly unreachable?: true }
  | { readonly kind: "refused"; readonly code: string };

/** Says one kind of thing to a partner. What it throws of `FEDERATION_FAILED` is tried again. */
export type Send = (
  services: PartnerServices,
  dispatch: Dispatch,
  federation: StoredFederation,
  now: number,
) => Promise<Delivery>;

/** What a partner's answer that is no success means. */
export function refusedOrLater(answer: PeerAnswer): Delivery {
  if (refusesForGood(answer)) return { kind: "refused", code: answer.code ?? "STATE_CONFLICT" };
  return { kind: "retry", detail: `the partner refused with status ${answer.status}` };
}
