import { lifetimes, timestamp } from "@seneschal/core/keys";
import type { PartnerServices } from "../services.ts";
import { messageReceipts, messages } from "./collections.ts";

/** Removes copies and receipts that ended a tidy buffer ago; what is still pending is left to the outbox, which fails it. */
export async function purgeMessages(services: PartnerServices, now: number): Promise<void> {
  const ended = { to: [timestamp(now - lifetimes.tidyBuffer)], limit: 200 };
  const dels: { coll: string; id: string; ifVersion: number }[] = [];
  for (const { name } of [messages, messageReceipts]) {
    const { items } = await services.store.list(name, "by_expiry", [], ended);
    for (const { id, version, doc } of items) {
      if (doc["status"] !== "pending") dels.push({ coll: name, id, ifVersion: version });
    }
  }
  if (dels.length > 0) await services.store.commit({ commitId: services.newId(now), dels });
}
