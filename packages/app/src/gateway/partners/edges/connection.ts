import { connectVault, type VaultConnection } from "@seneschal/adapters/vault";
import { refusal, requireAddress } from "@seneschal/core/keys";
import { kekName, utf8 } from "../../ground/index.ts";
import type { PartnerServices } from "../services.ts";
import type { EdgeNode } from "./collections.ts";

const aad = (org: string, id: string): Uint8Array => utf8(`seneschal/edge-token/v1\0${org}\0${id}`);

/** The token of an edge node, sealed by our vault and bound to the node. The organisation's vault key must exist. */
export function sealToken({ vault }: PartnerServices, org: string, id: string, token: string): Promise<string> {
  return vault.encrypt(kekName(org), utf8(token), aad(org, id));
}

/** Throws `VALIDATION_ERROR` unless an edge node may be there. */
export function requireEdgeTarget({ targets, config }: PartnerServices, address: string): void {
  const url = new URL(address);
  const protocols = config.edges.allow_http ? ["https:", "http:"] : ["https:"];
  requireAddress(url, { field: "vault_address", protocols, path: false, guarded: targets.edges.refusal(url) });
}

/** Lends a connection to an edge node's vault for one piece of work. Throws `EDGE_UNREACHABLE` when its address is not allowed any more. */
export async function withEdge<R>(
  services: PartnerServices,
  edge: EdgeNode,
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
