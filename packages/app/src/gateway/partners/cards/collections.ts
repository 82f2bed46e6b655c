import type { SeenCard } from "@seneschal/core/keys";
import type { CardStatement } from "@seneschal/crypto/custody";
import { keyText } from "../../../platform/index.ts";
import { collection } from "../../ground/index.ts";

/** What another organisation has said of a person's card, each fingerprint once, in the order in which it came. */
export interface SeenCards {
  readonly org_id: string;
  readonly partner_org_id: string;
  readonly identity_id: string;
  readonly seen: readonly SeenCard<CardStatement>[];
}

export const seenCards = collection<SeenCards>("seen_cards", {
  by_org: { key: ({ org_id, partner_org_id }) => [org_id, keyText(partner_org_id)] },
});

export const seenCardsId = (org: string, partner: string, identity: string): string =>
  [org, partner, identity].map(encodeURIComponent).join("/");
