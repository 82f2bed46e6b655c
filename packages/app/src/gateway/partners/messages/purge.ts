import { lifetimes, timestamp } from "@seneschal/core/keys";
import { forgetEnded } from "../../ground/index.ts";
import type { PartnerServices } from "../services.ts";
import { messageReceipts, messages } from "./collections.ts";

/** Removes copies and receipts that ended a tidy buffer ago; what is still pending is left to the outbox, which fails it. */
export async function purgeMessages(services: PartnerServices, now: number): Promise<void> {
  const ended = { index: "by_expiry", until: timestamp(now - lifetimes.tidyBuffer), now };
  await forgetEnded(services, messages, { ...ended, stays: ({ status }) => status === "pending" });
  await forgetEnded(services, messageReceipts, ended);
}
