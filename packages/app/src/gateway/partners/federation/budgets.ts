import { refusal } from "@seneschal/core/keys";
import { keyText } from "../../../platform/index.ts";
import type { Reader } from "../../ground/index.ts";
import { messages, waitingBytes } from "../messages/collections.ts";
import { replicas } from "../replication/collections.ts";
import type { PartnerServices } from "../services.ts";
import type { StoredFederation } from "./collections.ts";

/** What a partner has had us keep, that nobody here asked for or has looked at yet. */
export interface PartnerUse {
  /** Invitations that wait for an answer. */
  readonly offers: number;
  /** All workspaces of the partner that are known here, offered ones too. */
  readonly workspaces: number;
  /** Of messages that were not read, rounded up. */
  readonly message_bytes: number;
}

/** Counted from the records themselves: nothing that could drift from them. */
export async function useOf(read: Reader, { id, org_id, partner_org_id }: StoredFederation): Promise<PartnerUse> {
  const [offers, workspaces, message_bytes] = await Promise.all([
    read.count(replicas, "offered", [id]),
    read.count(replicas, "by_federation", [id]),
    bytesWaiting(read, org_id, partner_org_id),
  ]);
  return { offers, workspaces, message_bytes };
}

async function bytesWaiting(read: Reader, org: string, partner: string): Promise<number> {
  const counts = await Promise.all(waitingBytes.map((bytes) => read.count(messages, "waiting", [org, keyText(partner), bytes])));
  return counts.reduce((sum, count, i) => sum + count * (waitingBytes[i] ?? 0), 0);
}

/** When it is worth trying again: somebody must answer or read first. */
const RETRY_SECONDS = 900;

function used(budget: keyof PartnerUse, limit: number) {
  const details = { budget, limit, retry_after: RETRY_SECONDS };
  return refusal("RATE_LIMITED", `the partner's budget of ${budget.replace("_", " ")} is used up`, details);
}

/** Throws `RATE_LIMITED` when the partner may have no more offers wait here. */
export async function requireRoomForOffer({ config }: PartnerServices, read: Reader, { id }: StoredFederation): Promise<void> {
  const { offers, workspaces } = config.federation.budgets;
  if ((await read.count(replicas, "offered", [id])) >= offers) throw used("offers", offers);
  if ((await read.count(replicas, "by_federation", [id])) >= workspaces) throw used("workspaces", workspaces);
}

/** Throws `RATE_LIMITED` when messages of the partner that nobody read take too much already. */
export async function requireRoomForMessage(
  { config }: PartnerServices,
  read: Reader,
  { org_id, partner_org_id }: StoredFederation,
): Promise<void> {
  const { message_bytes } = config.federation.budgets;
  if ((await bytesWaiting(read, org_id, partner_org_id)) >= message_bytes) throw used("message_bytes", message_bytes);
}
