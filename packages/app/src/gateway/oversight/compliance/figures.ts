import { type GrowingObject, isAboutPerson, isKeyUse, LastUses, type Period, type Workspace } from "@seneschal/core/keys";
import type { JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { type Collection, every } from "../../ground/index.ts";
import type { PartnerServices } from "../../partners/index.ts";
import {
  admins,
  devices,
  memberships,
  roleAssignments,
  roles,
  serviceIdentities,
  subjectKey,
  users,
} from "../../people/index.ts";
import { admissions, participations, workspaces } from "../../workspaces/index.ts";
import { auditFigures, scanAudit } from "../audit-query.ts";

/** What a report may look at: an organisation's records, and its log up to the event `size` within a period. */
export interface Scope {
  readonly org: string;
  readonly period: Period;
  readonly size: number;
}

/** When a workspace's key was last used, out of the audit log. */
interface KeyUses {
  /** By anybody. */
  newest(): Promise<string | null>;
  /** The same people with the time of each. A few hundred of them are held at a time, however many there are and however often they came. */
  of<P extends { readonly identity_id: string }>(
    people: AsyncIterable<P>,
  ): AsyncGenerator<P & { readonly last_access: string | null }>;
}

const BATCH = 500;

/** Looks back from the newest event of the workspace, and no further than it must. */
function keyUses(store: DocumentStore, { org, period, size }: Scope, workspace: string): KeyUses {
  async function* backwards() {
    for await (const { event, stream_seq } of scanAudit(store, org, { ...period, workspace }, true)) {
      if (isKeyUse(event) && stream_seq <= size) yield event;
    }
  }

  async function* timed<P extends { readonly identity_id: string }>(batch: readonly P[]) {
    const uses = new LastUses(batch.map(({ identity_id }) => identity_id));
    for await (const event of backwards()) if (uses.see(event)) break;
    for (const person of batch) yield { ...person, last_access: uses.of(person.identity_id) };
  }

  return {
    async newest() {
      for await (const { timestamp } of backwards()) return timestamp;
      return null;
    },
    async *of(people) {
      let batch = [];
      for await (const person of people) {
        if (batch.push(person) < BATCH) continue;
        yield* timed(batch);
        batch = [];
      }
      if (batch.length > 0) yield* timed(batch);
    },
  };
}

/** What happened in a period: counts over the whole audit log of the organisation. */
export async function summary({ store, read }: PartnerServices, { org, period, size }: Scope): Promise<GrowingObject> {
  return {
    ...(await auditFigures(store, org, period, size)),
    workspace_count: await read.count(participations, "by_org", [org]),
  };
}

/** Everything that is held about one person (GDPR Art. 15): the record, memberships, admissions, roles, and every event it did or that names it. */
export async function subjectAccess(services: PartnerServices, scope: Scope, subject: string): Promise<GrowingObject> {
  const { org, period, size } = scope;
  const [user] = await services.read.list(users, "by_subject", subjectKey(org, subject), { limit: 1 });
  const ids = new Set([subject, ...(user === undefined ? [] : [user.id])]);
  async function* held<T extends object>(from: Collection<T>) {
    for (const id of ids) {
      for await (const found of every(services, from, "by_identity", [org, id])) yield found as unknown as JsonObject;
    }
  }
  let total = 0;
  async function* events() {
    for await (const { event, stream_seq } of scanAudit(services.store, org, period)) {
      if (stream_seq > size || !isAboutPerson(event, ids)) continue;
      total += 1;
      yield { ...event };
    }
  }
  return {
    subject_id: subject,
    identity: await identityOf(services, org, ids),
    memberships: held(memberships),
    admissions: held(admissions),
    roles: held(roleAssignments),
    events: events(),
    total_events: () => total,
  };
}

async function identityOf({ read }: PartnerServices, org: string, ids: ReadonlySet<string>): Promise<JsonObject | null> {
  for (const [type, from] of [
    ["admin", admins],
    ["user", users],
    ["service", serviceIdentities],
    ["device", devices],
  ] as const) {
    for (const id of ids) {
      const found = await read.get<{ readonly org_id: string; readonly credentials?: unknown }>(from as never, id);
      if (found?.org_id !== org) continue;
      // Hashes of credentials are about the key, not about the person.
      const { credentials: _, ...facts } = found;
      return { type, ...(facts as JsonObject) };
    }
  }
  return null;
}

/** Who can reach which workspace, and when they last did. */
export async function accessReview(services: PartnerServices, scope: Scope): Promise<GrowingObject> {
  const { org, period, size } = scope;
  let total = 0;
  async function* reviewed() {
    for await (const { workspace_id, group_id } of every(services, participations, "by_org", [org])) {
      const workspace = await services.read.get(workspaces, workspace_id);
      if (workspace === undefined) continue;
      total += 1;
      yield await reviewOf(services, org, workspace, group_id, keyUses(services.store, scope, workspace_id));
    }
  }
  return {
    audit_stats: await auditFigures(services.store, org, period, size),
    workspaces: reviewed(),
    total_workspaces: () => total,
  };
}

async function reviewOf(
  services: PartnerServices,
  org: string,
  workspace: Workspace,
  group: string | null,
  uses: KeyUses,
): Promise<GrowingObject> {
  async function* admitted() {
    for await (const admission of every(services, admissions, "by_workspace", [workspace.id])) {
      const { org_id, status, identity_id, identity_type, granted_by, granted_at } = admission;
      if (org_id !== org || status !== "active") continue;
      yield { ...(await knownAs(services, org, identity_id)), identity_type, granted_by, granted_at };
    }
  }
  async function* members(group_id: string) {
    for await (const { identity_id, identity_type } of every(services, memberships, "by_group", [group_id])) {
      yield { ...(await knownAs(services, org, identity_id)), identity_type };
    }
  }
  const { id, name, classification, mode, crk_protected, status } = workspace;
  return {
    workspace_id: id,
    name,
    classification,
    mode,
    crk_protected,
    status,
    last_access: await uses.newest(),
    admissions: uses.of(admitted()),
    groups: group === null ? [] : [{ group_id: group, members: uses.of(members(group)) }],
  };
}

/** What a reader knows somebody by, and what it may be; an identity without a record has its id alone. */
async function knownAs(services: PartnerServices, org: string, identity: string) {
  const { read } = services;
  const admin = await read.get(admins, identity);
  const names = admin?.org_id === org ? [admin.role as string] : [];
  for await (const { role_id } of every(services, roleAssignments, "by_identity", [org, identity])) {
    const role = await read.get(roles, role_id);
    if (role !== undefined) names.push(role.name);
  }
  return { identity_id: identity, name: await nameOf(services, org, identity), roles: names.sort() };
}

async function nameOf({ read }: PartnerServices, org: string, identity: string): Promise<string | null> {
  for (const from of [admins, users, serviceIdentities] as const) {
    const found = await read.get<{ readonly org_id: string; readonly name: string }>(from as never, identity);
    if (found?.org_id === org) return found.name;
  }
  const device = await read.get(devices, identity);
  return device?.org_id === org ? device.device_name : null;
}
