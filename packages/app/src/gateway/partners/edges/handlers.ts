import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import { invalidField, notFound, timestamp } from "@seneschal/core/keys";
import { parseCertificates } from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";
import { type Call, every, type Reader } from "../../ground/index.ts";
import { findWorkspace, type Policy, policies } from "../../workspaces/index.ts";
import type { PartnerServices } from "../services.ts";
import { type EdgeNode, edgeSyncs, edges, neverSynced } from "./collections.ts";
import { requireEdgeTarget, sealToken } from "./connection.ts";
import { type EdgeHealth, probeEdge } from "./probe.ts";
import { pushToEdge } from "./push.ts";

type Routes = Pick<
  GatewayContract,
  "registerEdge" | "listEdges" | "getEdge" | "deleteEdge" | "edgeHealth" | "syncEdgePolicies" | "syncEdgeKeys" | "edgeSyncStatus"
>;

const view = (edge: EdgeNode) => ({ ...edge, tags: { ...edge.tags } });

async function findEdge(read: Reader, id: string, org: string): Promise<EdgeNode> {
  const edge = await read.get(edges, id);
  if (edge === undefined || edge.org_id !== org) throw notFound("edge node");
  return edge;
}

/** Which edge nodes have a push running in this process. */
const pushing = new Set<string>();

async function whilePushing<R>(id: string, work: () => Promise<R>): Promise<R> {
  pushing.add(id);
  try {
    return await work();
  } finally {
    pushing.delete(id);
  }
}

async function noteProbe(services: PartnerServices, call: Call, id: string, { status, last_checked }: EdgeHealth): Promise<void> {
  await services.transact(call, async (unit) => {
    const edge = await unit.get(edges, id);
    if (edge === undefined) return;
    const answered = status === "disconnected" ? {} : { last_heartbeat: last_checked };
    unit.put(edges, id, { ...edge, ...answered, status, updated_at: last_checked });
  });
}

export const edgeHandlers: Handlers<Routes, PartnerServices> = {
  async registerEdge(services, { principal, body, now, requestId }) {
    const { vault_token, vault_ca_cert = "", ...facts } = body;
    requireEdgeTarget(services, facts.vault_address);
    if (vault_ca_cert !== "") requireCa(vault_ca_cert);
    await services.organizationKeys.ensureKek(principal.org);
    const id = services.newId(now);
    const at = timestamp(now);
    const edge: EdgeNode = {
      id,
      org_id: principal.org,
      ...facts,
      vault_ca_cert: vault_ca_cert === "" ? null : vault_ca_cert,
      sealed_token: await sealToken(services, principal.org, id, vault_token),
      status: "disconnected",
      last_heartbeat: null,
      created_at: at,
      updated_at: at,
    };
    const health = await probeEdge(services, edge, now);
    const found: EdgeNode = {
      ...edge,
      status: health.status === "healthy" ? "connected" : health.status,
      last_heartbeat: health.status === "disconnected" ? null : at,
    };
    await services.transact({ principal, now, requestId }, async (unit) => {
      unit.insert(edges, id, found);
      unit.record({ type: "edge.register", metadata: { edge_id: id, name: found.name, status: found.status } });
    });
    return view(found);
  },

  async listEdges({ read }, { principal, query }) {
    const { items, total } = await read.page(edges, "by_org", [principal.org], query);
    return { edges: items.map(view), count: items.length, total };
  },

  async getEdge({ read }, { principal, params }) {
    return view(await findEdge(read, params.id, principal.org));
  },

  async deleteEdge(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const edge = await findEdge(unit, params.id, principal.org);
      unit.delete(edges, edge.id);
      if ((await unit.get(edgeSyncs, edge.id)) !== undefined) unit.delete(edgeSyncs, edge.id);
      unit.record({ type: "edge.unregister", metadata: { edge_id: edge.id, name: edge.name } });
    });
  },

  async edgeHealth(services, { principal, params, now, requestId }) {
    const edge = await findEdge(services.read, params.id, principal.org);
    const health = await probeEdge(services, edge, now);
    await noteProbe(services, { principal, now, requestId }, edge.id, health);
    return health;
  },

  async syncEdgePolicies(services, { principal, params, body, now, requestId }) {
    const edge = await findEdge(services.read, params.id, principal.org);
    const chosen = await chosenPolicies(services, principal.org, body.policies);
    const secrets = chosen.map(({ id, name, workspace_id, version, rego }) => ({
      path: `policies/${id}`,
      data: { name, workspace: workspace_id ?? "", version, rego },
    }));
    await whilePushing(edge.id, () => pushToEdge(services, { principal, now, requestId }, edge, "policies", secrets));
  },

  async syncEdgeKeys(services, { principal, params, body, now, requestId }) {
    const edge = await findEdge(services.read, params.id, principal.org);
    const workspace = await findWorkspace(services.read, body.workspace_id, principal.org);
    const data = { wrapped_dek: body.wrapped_dek, org_id: principal.org, dek_version: workspace.dek_version };
    const secrets = [{ path: `keys/${workspace.id}`, data }];
    await whilePushing(edge.id, () => pushToEdge(services, { principal, now, requestId }, edge, "keys", secrets));
  },

  async edgeSyncStatus({ read }, { principal, params }) {
    const edge = await findEdge(read, params.id, principal.org);
    return { ...((await read.get(edgeSyncs, edge.id)) ?? neverSynced), sync_in_progress: pushing.has(edge.id) };
  },
};

/** The named policies of the organisation, or all. Throws `VALIDATION_ERROR` for one that is not the organisation's. */
async function chosenPolicies(
  services: PartnerServices,
  org: string,
  ids: readonly string[] | undefined,
): Promise<readonly Policy[]> {
  const { read } = services;
  if (ids === undefined) {
    const all: Policy[] = [];
    for await (const policy of every(services, policies, "by_org", [org])) all.push(policy);
    return all;
  }
  return Promise.all(
    ids.map(async (id, index) => {
      const policy = await read.get(policies, id);
      if (policy === undefined || policy.org_id !== org) throw invalidField(`policies[${index}]`, "no such policy");
      return policy;
    }),
  );
}

function requireCa(pem: string): void {
  try {
    if (parseCertificates(pem).length > 0) return;
  } catch (error) {
    if (!isCoded(error)) throw error;
  }
  throw invalidField("vault_ca_cert", "expected certificates in PEM");
}
