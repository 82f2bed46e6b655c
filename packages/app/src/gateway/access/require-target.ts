import type { Contract, Hooks, Route } from "@seneschal/contract";
import { notFound, requireRestorable } from "@seneschal/core/keys";
import { isCoded } from "@seneschal/kernel";
import { type Call, crks, currentCrk, type EntityReading, organizations } from "../ground/index.ts";
import { backups, readBackupFile } from "../oversight/index.ts";
import { replicaId, replicas } from "../partners/index.ts";
import type { GatewayServices } from "../services.ts";
import { findWorkspace, invitations } from "../workspaces/index.ts";

interface Input extends Call {
  readonly params: Readonly<Record<string, string>>;
}
type Find = (services: GatewayServices, input: Input) => unknown;

/** Where the `GET` of what the path names asks for more, or for something else, than the routes below it. */
const own: Readonly<Record<string, Find>> = {
  async "/api/v1/workspaces/:id"({ read }, { principal, params: { id = "" } }) {
    const [invited] = await read.list(invitations, "pending", [id, principal.org]);
    const offered = await read.get(replicas, replicaId(id, principal.org));
    if (invited === undefined && offered === undefined) await findWorkspace(read, id, principal.org);
  },
  async "/api/v1/crk/:id"({ read }, { principal, params: { id = "" } }) {
    if ((await read.get(crks, id))?.org_id !== principal.org) throw notFound("root key");
  },
  async "/api/v1/crk/shares/:crk_id"({ read }, { principal, params }) {
    if ((await currentCrk(read, principal.org))?.id !== params["crk_id"]) throw notFound("share");
  },
  // A clean instance has the file alone.
  async "/api/v1/backups/:id"(services, { principal, params: { id = "" } }) {
    const clean = (await services.read.count(organizations, "by_time", [])) === 0;
    const { org_id } = (await services.read.get(backups, id)) ?? (await readBackupFile(services, id)).head;
    requireRestorable(org_id, principal.org, clean);
  },
};

/**
 * Whether what a path names is there for the caller: by the `GET` of the path up to its first parameter, which looks for it as every route
 * below does.
 */
export function requireTarget(
  services: GatewayServices,
  contract: Contract,
  handlers: object,
  readings: Readonly<Record<string, EntityReading<never>>>,
): NonNullable<Hooks["requireTarget"]> {
  const all = Object.entries(contract);
  const finds = new Map<Route, Find | undefined>();
  for (const [, route] of all) {
    const target = /^.*?\/:[^/]+/.exec(route.path)?.[0] ?? "";
    const source = all.find(([, { method, path }]) => method === "GET" && path === target);
    const reading = readings[source?.[1].entity ?? ""]?.read as Find | undefined;
    const get = source && (handlers as Readonly<Record<string, Find>>)[source[0]];
    finds.set(route, own[target] ?? reading ?? get);
  }
  return async ({ route, ...input }) => {
    try {
      await finds.get(route)?.(services, input);
    } catch (error) {
      // What else stands in the way is told to a request that could be carried out.
      if (isCoded(error) && error.code === "NOT_FOUND") throw error;
    }
  };
}
