import { connectVault, type VaultAnswer, type VaultConnection } from "@seneschal/adapters/vault";
import type { Handlers } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  countPush,
  type EdgeHealth,
  type EdgeNode,
  invalidField,
  judgeEdge,
  neverSynced,
  noteProbe,
  type Policy,
  refusal,
  registerEdge,
  requireAddress,
  timestamp,
} from "@seneschal/core/keys";
import { parseCertificates } from "@seneschal/crypto/x509";
import { isCoded } from "@seneschal/kernel";
import { type Call, every, findOwn, kekName, listed, type Reader, utf8 } from "../ground/index.ts";
import { findWorkspace, policies } from "../workspaces/index.ts";
import { edgeSyncs, edges } from "./collections.ts";
import type { PartnerServices } from "./services.ts";

const aad = (org: string, id: string): Uint8Array => utf8(`seneschal/edge-token/v1\0${org}\0${id}`);

/** The token of an edge node, sealed by our vault and bound to the node. The organisation's vault key must exist. */
function sealToken({ vault }: PartnerServices, org: string, id: string, token: string): Promise<string> {
  return vault.encrypt(kekName(org), utf8(token), aad(org, id));
}

/** Throws `VALIDATION_ERROR` unless an edge node may be there. */
function requireEdgeTarget({ targets, config }: PartnerServices, address: string): void {
  const url = new URL(address);
  const protocols = config.edges.allow_http ? ["https:", "http:"] : ["https:"];
  requireAddress(url, { field: "vault_address", protocols, path: false, guarded: targets.edges.refusal(url) });
}

/** What a connection to an edge node needs to know of it. */
type EdgeTarget = Pick<EdgeNode, "id" | "org_id" | "vault_address" | "vault_ca_cert" | "sealed_token">;

/** Lends a connection to an edge node's vault for one piece of work. Throws `EDGE_UNREACHABLE` when its address is not allowed any more. */
async function withEdge<R>(
  services: PartnerServices,
  edge: EdgeTarget,
  work: (connection: VaultConnection) => Promise<R>,
  /** Milliseconds for all of it; a single request has the probe's time. */
  limit: number = services.config.edges.probe_timeout,
): Promise<R> {
  const { vault, targets, config } = services;
  if (targets.edges.refusal(new URL(edge.vault_address)) !== undefined) {
    throw refusal("EDGE_UNREACHABLE", "the edge node's address is not allowed");
  }
  const token = await vault.decrypt(kekName(edge.org_id), edge.sealed_token, aad(edge.org_id, edge.id));
  const connection = connectVault({
    address: edge.vault_address,
    auth: { kind: "token", token: Buffer.from(token).toString("utf8") },
    ...(edge.vault_ca_cert === null ? {} : { ca: edge.vault_ca_cert }),
    timeout: config.edges.probe_timeout,
    lookup: targets.edges.lookup,
    now: Date.now,
  });
  token.fill(0);
  try {
    return await deadline(work(connection), limit);
  } finally {
    connection.close();
  }
}

/** Also a host that sends a byte now and then is over in time. */
function deadline<R>(work: Promise<R>, ms: number): Promise<R> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(refusal("EDGE_UNREACHABLE", "the edge node does not answer in time")), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Sealed, standby and uninitialised servers answer 200 like the others: what they are stands in the body. */
const HEALTH = "sys/health?standbyok=true&perfstandbyok=true&sealedcode=200&uninitcode=200";

/** Asks an edge node's vault how it is. Its failures are part of the answer. */
async function probeEdge(services: PartnerServices, edge: EdgeTarget, now: number): Promise<EdgeHealth> {
  const started = process.hrtime.bigint();
  const latency = (): number => Math.round(Number(process.hrtime.bigint() - started) / 1e6);
  try {
    return await withEdge(services, edge, async (connection) => {
      const health = objectOf(await connection.call("GET", HEALTH));
      const latency_ms = latency();
      const leader = health?.["sealed"] === false ? objectOf(await connection.call("GET", "sys/leader")) : undefined;
      const members = leader?.["ha_enabled"] === true ? objectOf(await connection.call("GET", "sys/ha-status")) : undefined;
      return judgeEdge({ health, leader, members }, latency_ms, now);
    });
  } catch (error) {
    if (!isCoded(error)) throw error;
    return judgeEdge(undefined, latency(), now);
  }
}

function objectOf({ status, raw }: VaultAnswer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(raw.toString("utf8"));
    const usable = typeof value === "object" && value !== null && (status < 300 || "sealed" in value);
    return usable ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** For a whole push, however many secrets it has. */
const PUSH_MS = 60_000;

/** A secret for the edge vault's key-value engine. */
interface Pushed {
  /** Below `seneschal/`. */
  readonly path: string;
  readonly data: object;
}

/**
 * Writes secrets into an edge node's vault and counts what came of it. Throws `EDGE_UNREACHABLE` when it was not done; what was
 * written before the failure stays, and pushing again writes it again.
 */
async function pushToEdge(
  services: PartnerServices,
  call: Call,
  edge: EdgeNode,
  kind: "policies" | "keys",
  secrets: readonly Pushed[],
): Promise<void> {
  let written = 0;
  const failure = await withEdge(
    services,
    edge,
    async (connection) => {
      for (const { path, data } of secrets) {
        const answer = await connection.call("POST", `${services.config.edges.kv_mount}/data/seneschal/${path}`, { data });
        if (answer.status >= 300) return `the edge node's vault refused with status ${answer.status}`;
        written += 1;
      }
      return undefined;
    },
    PUSH_MS,
  ).catch((error: unknown) => {
    if (isCoded(error, "vault_unavailable") || isCoded(error, "EDGE_UNREACHABLE")) return "the edge node does not answer";
    throw error;
  });
  await services.transact(call, async (unit) => {
    const before = await unit.get(edgeSyncs, edge.id);
    const current = await unit.get(edges, edge.id);
    if (current !== undefined) {
      unit.put(edgeSyncs, edge.id, countPush(before, { kind, written, failure }, call.now));
      if (failure === undefined) unit.put(edges, edge.id, { ...current, last_heartbeat: timestamp(call.now) });
    }
    unit.record({
      type: kind === "policies" ? "edge.sync.policies" : "edge.sync.keys",
      result: failure === undefined ? "success" : "error",
      metadata: { edge_id: edge.id, written, of: secrets.length },
    });
  });
  if (failure !== undefined) throw refusal("EDGE_UNREACHABLE", failure, { written });
}

type Routes = Pick<
  GatewayContract,
  "registerEdge" | "listEdges" | "getEdge" | "deleteEdge" | "edgeHealth" | "syncEdgePolicies" | "syncEdgeKeys" | "edgeSyncStatus"
>;

const view = (edge: EdgeNode) => ({ ...edge, tags: { ...edge.tags } });

const findEdge = (read: Reader, id: string, org: string) => findOwn(read, edges, id, org, "edge node");

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

export const edgeHandlers: Handlers<Routes, PartnerServices> = {
  async registerEdge(services, { principal, body, now, requestId }) {
    const { vault_token, vault_ca_cert = "", ...facts } = body;
    requireEdgeTarget(services, facts.vault_address);
    if (vault_ca_cert !== "") requireCa(vault_ca_cert);
    await services.organizationKeys.ensureKek(principal.org);
    const id = services.newId(now);
    const given = {
      id,
      org_id: principal.org,
      ...facts,
      vault_ca_cert: vault_ca_cert === "" ? null : vault_ca_cert,
      sealed_token: await sealToken(services, principal.org, id, vault_token),
    };
    const found = registerEdge(given, await probeEdge(services, given, now), now);
    await services.transact({ principal, now, requestId }, async (unit) => {
      unit.insert(edges, id, found);
      unit.record({ type: "edge.register", metadata: { edge_id: id, name: found.name, status: found.status } });
    });
    return view(found);
  },

  listEdges: async ({ read }, { principal, query }) =>
    listed("edges", await read.page(edges, "by_org", [principal.org], query), view),

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
    await services.transact({ principal, now, requestId }, async (unit) => {
      const current = await unit.get(edges, edge.id);
      if (current !== undefined) unit.put(edges, edge.id, noteProbe(current, health));
    });
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
