import type { Handlers, Principal, Route } from "@seneschal/contract";
import { type GatewayContract, gatewayContract } from "@seneschal/contract/gateway";
import { invalidField, notFound, opens, type Permission, refusal, timestamp } from "@seneschal/core/keys";
import { questionOf } from "../../platform/authz/authorisation.ts";
import { type Call, findOwn, type Reader } from "../ground/index.ts";
import { assignmentId, permissionsOf, type Role, roleAssignments, roles } from "./collections.ts";
import { personCalling, personNamed, requireAnother, requireIdentity } from "./identities.ts";
import type { PeopleServices } from "./services.ts";

type Routes = Pick<GatewayContract, "createRole" | "listRoles" | "getRole" | "assignRole" | "unassignRole">;

async function view(read: Reader, role: Role) {
  const assignments = await read.list(roleAssignments, "by_role", [role.id]);
  return {
    ...role,
    permissions: role.permissions.map((permission) => ({ ...permission })),
    assignments: assignments.map(({ identity_id, identity_type, assigned_by }) => ({ identity_id, identity_type, assigned_by })),
  };
}

const findRole = (read: Reader, id: string, org: string) => findOwn(read, roles, id, org, "role");

const guarded: readonly Route[] = Object.values(gatewayContract);
/** One route of every action. */
const routes = [...new Map(guarded.map((route) => [route.action, route]))].flatMap(([action, route]) =>
  action === undefined ? [] : [{ action, route }],
);

/** A permission names at least one action of the interface: a role with a mistyped one would promise what it does not give. */
function requireKnown(permissions: readonly Permission[]): void {
  for (const [i, permission] of permissions.entries()) {
    if (!routes.some(({ action }) => opens([permission], action)))
      throw invalidField(`permissions[${i}]`, "names no action of the interface: see x-action of its operations");
  }
}

/** Nobody gives more than they have: what the role's permissions open must be allowed to the caller, action by action. */
async function requireNotAboveOwn(
  { authorisation, read }: PeopleServices,
  { principal, now }: Call,
  permissions: readonly Permission[],
): Promise<void> {
  const own = await permissionsOf(read, principal.org, principal.id);
  const holder: Principal = { ...principal, type: "service", roles: [], scopes: [] };
  for (const { action, route } of routes) {
    if (!opens(permissions, action)) continue;
    const given = await authorisation.decide(questionOf({ route, principal: holder }, { permissions }), now);
    if (!given.allowed) continue;
    const had = await authorisation.decide(questionOf({ route, principal }, { permissions: own }), now);
    if (!had.allowed) throw refusal("FORBIDDEN", `the role allows ${action}, which the caller may not do`, { action });
  }
}

export const roleHandlers: Handlers<Routes, PeopleServices> = {
  async createRole(services, { principal, body, now, requestId }) {
    requireKnown(body.permissions);
    return services.transact({ principal, now, requestId }, async (unit) => {
      const at = timestamp(now);
      const role: Role = { id: services.newId(now), org_id: principal.org, ...body, created_at: at, updated_at: at };
      unit.insert(roles, role.id, role);
      unit.record({ type: "role.create", metadata: { role_id: role.id, name: role.name } });
      return view(unit, role);
    });
  },

  async listRoles({ read }, { principal, query }) {
    const { items, total } = await read.page(roles, "by_org", [principal.org], query);
    return { roles: await Promise.all(items.map((role) => view(read, role))), count: items.length, total };
  },

  async getRole({ read }, { principal, params }) {
    return view(read, await findRole(read, params.id, principal.org));
  },

  async assignRole(services, { principal, params, body, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const role = await findRole(unit, params.id, principal.org);
      const assignee = await personNamed(unit, principal.org, body.identity_id);
      requireAnother(await personCalling(unit, principal), [assignee], "nobody assigns a role to themselves");
      await requireIdentity(unit, principal.org, body);
      await requireNotAboveOwn(services, unit.call, role.permissions);
      const id = assignmentId(role.id, body.identity_id);
      if ((await unit.get(roleAssignments, id)) !== undefined) throw refusal("CONFLICT", "the identity has the role already");
      const { identity_id, identity_type } = body;
      unit.insert(roleAssignments, id, {
        role_id: role.id,
        org_id: principal.org,
        identity_id,
        identity_type,
        assigned_by: principal.id,
        assigned_at: timestamp(now),
      });
      unit.record({
        type: "role.assign",
        metadata: {
          role_id: role.id,
          identity_id,
          identity_type,
          ...(body.assigned_by === undefined ? {} : { claimed_assigned_by: body.assigned_by }),
        },
      });
    });
  },

  async unassignRole(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const role = await findRole(unit, params.id, principal.org);
      const id = assignmentId(role.id, params.identity_id);
      if ((await unit.get(roleAssignments, id)) === undefined) throw notFound("assignment");
      unit.delete(roleAssignments, id);
      unit.record({ type: "role.unassign", metadata: { role_id: role.id, identity_id: params.identity_id } });
    });
  },
};
