import { checkArgument } from "@seneschal/kernel";
import { invalidField, refusal } from "../codes.ts";
import { milliseconds, timestamp } from "../time.ts";
import { participates, type Workspace } from "../workspace.ts";
import type { ReplicaEvent } from "./event.ts";
import { offerOf, type Replica, requireRevision } from "./judge.ts";

/** What an owner's instance says of its workspace. */
export interface OwnerState {
  /** As it is to stand here: `org_id` is the owner that it names. */
  readonly workspace: Workspace;
  readonly sequence: number;
  /** SHA-256 of the workspace as it travelled, hex. */
  readonly state_sha256: string;
}

/** What is known here of the workspace. */
export interface FollowFacts {
  /** Of the organisation here that takes part, which has accepted. */
  readonly replica: Replica;
  /** Absent before the first state. */
  readonly existing: Workspace | undefined;
  /** The organisation has been given keys before. */
  readonly joined: boolean;
  /** Other organisations here that take part. */
  readonly others: readonly { readonly org_id: string; readonly group_id: string | null }[];
  /** One of them has it from another instance, whose organisation has the owner's name. */
  readonly foreign: boolean;
  /** What every organisation here that takes part has of it. */
  readonly siblings: readonly Pick<Replica, "revision" | "state_sha256">[];
}

/** What an owner's state comes to here. */
export interface Followed {
  readonly workspace: Workspace;
  readonly replica: Replica;
  /** Organisations here that take part in it from now on. */
  readonly orgs: readonly string[];
  readonly events: readonly ReplicaEvent[];
}

/**
 * Takes over what an owner says of its workspace, as far as it may: of its own, with the organisation among the participants, never
 * backwards, and nothing that protects is taken away. Which group opens it is for each organisation here to say. Throws `FORBIDDEN`,
 * `CONFLICT`, `STATE_CONFLICT`, `VALIDATION_ERROR`.
 *
 * @example
 * ```ts
 * import { createWorkspace, followOwner, receiveOffer, stepWorkspace } from "@seneschal/core/keys";
 * const route = { federation_id: "f1", org_id: "globex", owner_org_id: "acme" };
 * const workspace = { name: "merger", classification: "CONFIDENTIAL", mode: "standard", purpose: "", crk_protected: false } as const;
 * const invitation = { id: "i1", invited_by: "ada", expires_at: "1970-01-02T00:00:00.000Z" };
 * const received = receiveOffer(route, { workspace_id: "w1", sequence: 1, workspace, invitation }, { id: "i2", lifetime: 3_600_000 }, 0);
 * if (received) {
 *   const { state: owned } = createWorkspace({ id: "w1", org: "acme", by: "ada", group_id: null, ...workspace }, 0);
 *   const joined = stepWorkspace(owned, { kind: "join", org: "globex", group_id: null }, 0).state;
 *   const replica = { ...received.replica, stage: "accepted" } as const;
 *   const facts = { replica, existing: undefined, joined: false, others: [], foreign: false, siblings: [] };
 *   const followed = followOwner(facts, { workspace: joined, sequence: 2, state_sha256: "00" }, 1);
 *   console.log(followed.replica.stage, followed.workspace.revision === joined.revision); // shared true
 * }
 * ```
 */
export function followOwner(facts: FollowFacts, state: OwnerState, now: number): Followed {
  checkArgument("facts", facts, "object");
  checkArgument("state", state, "object");
  checkArgument("now", now, "number");
  const { replica, existing, others } = facts;
  const { workspace: pushed, sequence, state_sha256 } = state;
  requireGenuine(pushed, replica);
  const { workspace_id: id, org_id: org, owner_org_id: owner } = replica;
  if ((existing !== undefined && existing.org_id !== owner) || facts.foreign) {
    throw refusal("CONFLICT", "a workspace of that id exists", { workspace_id: id });
  }
  const { revision } = pushed;
  for (const sibling of facts.siblings) requireRevision(sibling, { revision, state_sha256 });
  if (existing !== undefined) requireForward(existing, pushed);

  const group_bindings = { ...pushed.group_bindings };
  for (const { org_id, group_id } of [...others, { org_id: org, group_id: replica.group_id }]) {
    delete group_bindings[org_id];
    if (group_id !== null) group_bindings[org_id] = group_id;
  }
  // What changes for one organisation here changes for all of them at the same moment, and is told in the log of each.
  const following = others.map(({ org_id }) => org_id).filter((other) => participates(pushed, other));
  const { offer_until: _, ...known } = replica;
  return {
    workspace: { ...pushed, replica: true, group_bindings },
    replica: {
      ...known,
      offer: offerOf(pushed),
      stage: "shared",
      sequence,
      updated_at: timestamp(now),
      revision,
      state_sha256,
    },
    orgs: [org, ...following],
    events: [
      ...changesOf(org, facts.joined ? existing : undefined, pushed),
      ...(existing === undefined ? [] : following.flatMap((other) => changesOf(other, existing, pushed))),
      ...leavesOf(others, existing, pushed),
    ],
  };
}

/**
 * When a participation began, which orders lists here: a time of elsewhere, but not in the future.
 *
 * @example
 * ```ts
 * import { participationBegan } from "@seneschal/core/keys";
 * console.log(participationBegan({ created_at: "2026-01-01T00:00:00.000Z" }, Date.UTC(2025, 0, 1))); // 2025-01-01T00:00:00.000Z
 * ```
 */
export function participationBegan(workspace: Pick<Workspace, "created_at">, now: number): string {
  checkArgument("workspace", workspace, "object");
  checkArgument("now", now, "number");
  const { created_at } = workspace;
  return milliseconds(created_at) < now ? created_at : timestamp(now);
}

/** Throws unless the workspace is what its owner may speak of, with the organisation among the participants. */
function requireGenuine(pushed: Workspace, { workspace_id, org_id, owner_org_id: owner }: Replica): void {
  if (pushed.id !== workspace_id) throw invalidField("workspace.id", "is not the workspace's");
  if (pushed.org_id !== owner) {
    throw refusal("FORBIDDEN", "partners speak for their own workspaces only", { field: "workspace.owner_org_id" });
  }
  const orgs = pushed.participants.map((participant) => participant.org_id);
  const owners = pushed.participants.filter(({ role }) => role === "owner");
  if (owners.length !== 1 || owners[0]?.org_id !== owner || new Set(orgs).size !== orgs.length || !orgs.includes(org_id)) {
    throw invalidField("workspace.participants", "expected each once, the owner and this organisation among them");
  }
}

/** A change that was overtaken by a newer one is not taken over; what protects is not taken away. */
function requireForward(existing: Workspace, pushed: Workspace): void {
  requireRevision({ revision: existing.revision }, { revision: pushed.revision, state_sha256: "" });
  if (existing.crk_protected && !pushed.crk_protected) {
    throw refusal("STATE_CONFLICT", "the protection by root keys is never lifted");
  }
  if (existing.status === "archived" && pushed.status !== "archived")
    throw refusal("STATE_CONFLICT", "an archive is never opened again");
}

function changesOf(org: string, before: Workspace | undefined, pushed: Workspace): readonly ReplicaEvent[] {
  const of = { org, workspace: pushed.id };
  const { revision, dek_version, org_id: owner_org_id, expires_at } = pushed;
  if (before === undefined) return [{ type: "workspace.join", ...of, metadata: { owner_org_id, revision, dek_version } }];
  const events: ReplicaEvent[] = [];
  if (dek_version > before.dek_version) events.push({ type: "key.rotate", ...of, metadata: { version: dek_version } });
  if (pushed.status !== before.status) events.push({ type: "workspace.archive", ...of });
  if (expires_at !== before.expires_at) events.push({ type: "workspace.extend", ...of, metadata: { expires_at } });
  if (revision > before.revision) events.push({ type: "workspace.update", ...of, metadata: { revision } });
  return events;
}

/** What is said over one federation can end the part of another organisation here: it is told in its own log. */
function leavesOf(others: FollowFacts["others"], before: Workspace | undefined, pushed: Workspace): readonly ReplicaEvent[] {
  if (before === undefined) return [];
  const { id: workspace, org_id: owner_org_id, revision } = pushed;
  return others
    .filter(({ org_id }) => participates(before, org_id) && !participates(pushed, org_id))
    .map(({ org_id: org }) => ({
      type: "workspace.leave",
      org,
      workspace,
      metadata: { org_id: org, owner_org_id, revision, reason: "owner" },
    }));
}
