import { type Federation, isSettled, requireHeard, type Workspace } from "@seneschal/core/keys";
import { type Participation, replicatedWorkspace, stateHash } from "../../workspaces/index.ts";
import { dispatches, dispatchId, federations, replicaId, replicas, shares } from "../collections.ts";
import type { PartnerServices } from "../services.ts";

/** Asks of a workspace that another instance owns what {@link requireHeard} does; of one that is owned here nothing. */
export async function requireFollowed(
  { read, config }: PartnerServices,
  { mode }: Workspace,
  { federation_id }: Participation,
  now: number,
): Promise<void> {
  if (federation_id === undefined) return;
  requireHeard(await read.get(federations, federation_id), { mode, lease: config.federation.replica_lease }, now);
}

type Needs = Pick<PartnerServices, "read" | "crypto">;

/** What of a workspace is to be compared between instances: the owner's hash and followers, or what a participant took over. */
export async function followed({ read, crypto }: Needs, workspace: Workspace, org: string) {
  if (workspace.replica === true) {
    const replica = await read.get(replicas, replicaId(workspace.id, org));
    return replica?.state_sha256 === undefined ? {} : { state_sha256: replica.state_sha256 };
  }
  if (workspace.org_id !== org) return {};
  const all = await read.list(shares, "by_workspace", [workspace.id]);
  if (all.length === 0) return {};
  const followers = await Promise.all(
    all.map(async (share) => {
      const { federation_id, workspace_id, partner_org_id: org_id, stage, follower } = share;
      const waiting = await read.get(dispatches, dispatchId({ kind: "state", federation_id, workspace_id }));
      return {
        org_id,
        stage,
        up_to_date: isSettled(share),
        error_detail: waiting?.error_detail ?? null,
        revision: follower?.revision ?? null,
        state_sha256: follower?.state_sha256 ?? null,
        dek_version: follower?.dek_version ?? null,
        confirmed_at: follower?.confirmed_at ?? null,
      };
    }),
  );
  return { state_sha256: stateHash(crypto, replicatedWorkspace(workspace)), followers };
}

const SHOWN = 100;

/** What waits for a partner, and how far it followed what it takes part in. */
export async function standingOf({ read }: Pick<Needs, "read">, { id }: Federation) {
  const [count, waiting, shared] = await Promise.all([
    read.count(dispatches, "by_federation", [id]),
    read.list(dispatches, "by_federation", [id]),
    read.list(shares, "by_federation", [id]),
  ]);
  const [oldest] = waiting.toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1));
  const follows = shared
    .filter(({ stage }) => stage === "shared")
    .map((share) => ({
      workspace_id: share.workspace_id,
      up_to_date: isSettled(share),
      revision: share.follower?.revision ?? null,
      state_sha256: share.follower?.state_sha256 ?? null,
      confirmed_at: share.follower?.confirmed_at ?? null,
    }))
    .toSorted((a, b) => Number(a.up_to_date) - Number(b.up_to_date));
  const outbox = { count, oldest_at: oldest?.created_at ?? null, error_detail: oldest?.error_detail ?? null };
  return { outbox, follows: follows.slice(0, SHOWN) };
}
