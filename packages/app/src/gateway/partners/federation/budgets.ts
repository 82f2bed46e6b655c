import { countedSizes, type Federation, type PartnerUse, requireWithinBudgets } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import type { Reader } from "../../ground/index.ts";
import { messages, replicas } from "../collections.ts";
import type { PartnerServices } from "../services.ts";

type Budgeted = Pick<Federation, "id" | "org_id" | "partner_org_id">;

/** Counted from the records themselves: nothing that could drift from them. */
export async function useOf(read: Reader, federation: Budgeted): Promise<PartnerUse> {
  const [workspaces, message_bytes] = await Promise.all([workspacesOf(read, federation), bytesWaiting(read, federation)]);
  return { ...workspaces, ...message_bytes };
}

async function workspacesOf(read: Reader, { id }: Budgeted): Promise<Pick<PartnerUse, "offers" | "workspaces">> {
  const [offers, workspaces] = await Promise.all([
    read.count(replicas, "offered", [id]),
    read.count(replicas, "by_federation", [id]),
  ]);
  return { offers, workspaces };
}

async function bytesWaiting(read: Reader, { org_id, partner_org_id }: Budgeted): Promise<Pick<PartnerUse, "message_bytes">> {
  const counts = await Promise.all(
    countedSizes.map((bytes) => read.count(messages, "waiting", [org_id, keyText(partner_org_id), bytes])),
  );
  return { message_bytes: counts.reduce((sum, count, i) => sum + count * (countedSizes[i] ?? 0), 0) };
}

/** Throws `RATE_LIMITED` when the partner may have no more offers wait here. */
export async function requireRoomForOffer({ config }: PartnerServices, read: Reader, federation: Budgeted): Promise<void> {
  requireWithinBudgets(await workspacesOf(read, federation), config.federation.budgets);
}

/** Throws `RATE_LIMITED` when messages of the partner that nobody read take too much already. */
export async function requireRoomForMessage({ config }: PartnerServices, read: Reader, federation: Budgeted): Promise<void> {
  requireWithinBudgets(await bytesWaiting(read, federation), config.federation.budgets);
}
