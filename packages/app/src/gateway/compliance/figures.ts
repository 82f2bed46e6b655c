import type { Json, JsonObject } from "@seneschal/core";
import type { Admission, Workspace } from "@seneschal/core/keys";
import { admins } from "../admins/collections.ts";
import { admissions } from "../admissions/collections.ts";
import { type AuditFilter, scanAudit } from "../audit/query.ts";
import { devices } from "../devices/collections.ts";
import { memberships } from "../groups/collections.ts";
import { roleAssignments, roles } from "../roles/collections.ts";
import { serviceIdentities } from "../services/collections.ts";
import type { GatewayServices } from "../services.ts";
import type { Collection } from "../store/collection.ts";
import { every } from "../store/every.ts";
import type { Reader } from "../store/reader.ts";
import { users } from "../users/collections.ts";
import { seats, workspaces } from "../workspaces/collections.ts";

/** The period of a report, both ends inclusive. */
export interface Period {
  readonly since: string;
  readonly until: string;
}

async function all<T extends object>(
  services: GatewayServices,
  from: Collection<T>,
  index: string,
  prefix: readonly string[],
): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const doc of every(services, from, index, prefix)) found.push(doc);
  return found;
}

/** What happened in a period: counts over the whole audit log of the organisation. */
export async function summary(services: GatewayServices, org: string, period: Period): Promise<JsonObject> {
  const byResult: Record<string, number> = { success: 0, error: 0, denied: 0 };
  const byType = new Map<string, number>();
  const actors = new Set<string>();
  let total = 0;
  for await (const { event } of scanAudit(services.store, org, period)) {
    total += 1;
    byResult[event.result] = (byResult[event.result] ?? 0) + 1;
    byType.set(event.event_type, (byType.get(event.event_type) ?? 0) + 1);
    actors.add(event.actor);
  }
  return {
    total_events: total,
    success_count: byResult["success"] ?? 0,
    error_count: byResult["error"] ?? 0,
    denied_count: byResult["denied"] ?? 0,
    events_by_type: Object.fromEntries([...byType].sort()),
    unique_actors: actors.size,
    workspace_count: await services.read.count(seats, "by_org", [org]),
  };
}

/** Everything that is held about one person (GDPR Art. 15): the record, memberships, admissions, roles, and every event it did or that names it. */
export async function subjectAccess(
  services: GatewayServices,
  org: string,
  subject: string,
  filter: AuditFilter,
): Promise<JsonObject> {
  const { read } = services;
  const [user] = await read.list(users, "by_subject", [org, subject], { limit: 1 });
  const ids = new Set([subject, ...(user === undefined ? [] : [user.id])]);
  let identity: JsonObject | null = null;
  for (const [type, from] of [
    ["admin", admins],
    ["user", users],
    ["service", serviceIdentities],
    ["device", devices],
  ] as const) {
    for (const id of ids) {
      const found = await read.get<{ readonly org_id: string }>(from as never, id);
      // Hashes of credentials are about the key, not about the person.
      if (found?.org_id === org) identity ??= { type, ...({ ...found, credentials: undefined } as unknown as JsonObject) };
    }
  }
  const events: JsonObject[] = [];
  for await (const { event } of scanAudit(services.store, org, filter)) {
    if (ids.has(event.actor) || mentions(event.metadata, ids)) events.push({ ...event } as unknown as JsonObject);
  }
  const held = async <T extends object>(from: Collection<T>, index: string) => {
    const found = await Promise.all([...ids].map((id) => all(services, from, index, [org, id])));
    return found.flat() as unknown as JsonObject[];
  };
  return JSON.parse(
    JSON.stringify({
      subject_id: subject,
      identity,
      memberships: await held(memberships, "by_identity"),
      admissions: await held(admissions, "by_identity"),
      roles: await held(roleAssignments, "by_identity"),
      events,
      total_events: events.length,
    }),
  ) as JsonObject;
}

function mentions(value: Json, ids: ReadonlySet<string>): boolean {
  if (typeof value === "string") return ids.has(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((item) => mentions(item as Json, ids));
}

/** What a reader knows somebody by; an identity without a record has its id alone. */
async function nameOf(read: Reader, org: string, identity: string): Promise<string | null> {
  for (const from of [admins, users, serviceIdentities] as const) {
    const found = await read.get<{ readonly org_id: string; readonly name: string }>(from as never, identity);
    if (found?.org_id === org) return found.name;
  }
  const device = await read.get(devices, identity);
  return device?.org_id === org ? device.device_name : null;
}

/** Who can reach which workspace, and when they last did. */
export async function accessReview(services: GatewayServices, org: string, period: Period): Promise<JsonObject> {
  const { read } = services;
  const lastUse = new Map<string, string>();
  for (const event_type of ["encrypt", "decrypt"]) {
    for await (const { event } of scanAudit(services.store, org, { ...period, event_type })) {
      if (event.result !== "success") continue;
      for (const key of [event.workspace, `${event.workspace} ${event.actor}`]) {
        if ((lastUse.get(key) ?? "") < event.timestamp) lastUse.set(key, event.timestamp);
      }
    }
  }
  const roleNames = async (identity: string): Promise<string[]> => {
    const assigned = await read.list(roleAssignments, "by_identity", [org, identity]);
    const named = await Promise.all(assigned.map(({ role_id }) => read.get(roles, role_id)));
    const admin = await read.get(admins, identity);
    return [
      ...(admin?.org_id === org ? [admin.role as string] : []),
      ...named.flatMap((role) => (role ? [role.name] : [])),
    ].sort();
  };
  const reached = async (workspace: Workspace, identity: string) => ({
    identity_id: identity,
    name: await nameOf(read, org, identity),
    roles: await roleNames(identity),
    last_access: lastUse.get(`${workspace.id} ${identity}`) ?? null,
  });

  const reviewed: JsonObject[] = [];
  for await (const { workspace_id, group_id } of every(services, seats, "by_org", [org])) {
    const workspace = await read.get(workspaces, workspace_id);
    if (workspace === undefined) continue;
    const admitted: JsonObject[] = [];
    const own = (await all(services, admissions, "by_workspace", [workspace_id])).filter(
      (admission: Admission) => admission.org_id === org && admission.status === "active",
    );
    for (const { identity_id, identity_type, granted_by, granted_at } of own) {
      admitted.push({ ...(await reached(workspace, identity_id)), identity_type, granted_by, granted_at });
    }
    const members: JsonObject[] = [];
    for (const { identity_id, identity_type } of group_id === null
      ? []
      : await all(services, memberships, "by_group", [group_id])) {
      members.push({ ...(await reached(workspace, identity_id)), identity_type });
    }
    const { id, name, classification, mode, crk_protected, status } = workspace;
    reviewed.push({
      ...{ workspace_id: id, name, classification, mode, crk_protected, status },
      admissions: admitted,
      groups: group_id === null ? [] : [{ group_id, members }],
      last_access: lastUse.get(id) ?? null,
    });
  }
  return { workspaces: reviewed, total_workspaces: reviewed.length, audit_stats: await summary(services, org, period) };
}
