import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import type { PeerState } from "@seneschal/contract/gateway";
import { canonicalJson } from "@seneschal/crypto";
import { hpkeSeal } from "@seneschal/crypto/hpke";
import { serverCertificate } from "../../src/gateway/index.ts";
import { shareId, shares } from "../../src/gateway/partners/collections.ts";
import { describeShare } from "../../src/gateway/partners/replication/dispatch.ts";
import { establish, importCertificate, type Side } from "./federated.ts";

/** How the hostile gateway answers a call of a victim's outbox. */
export type Lie = (request: IncomingMessage, response: ServerResponse) => void;

/** A gateway in bad hands: its keys and records are those of a real one; its server says whatever it is told to say. */
export interface Front {
  readonly url: string;
  /** From now on; without one the connection is cut. */
  lie: Lie;
  close(): void;
}

export async function openFront(mallory: Side): Promise<Front> {
  const tls = await serverCertificate(mallory.rig.gateway.services, { names: ["localhost"], now: Date.now() });
  const cut: Lie = (request) => request.socket.destroy();
  const front: { lie: Lie; server?: Server } = { lie: cut };
  const server = createServer({ cert: tls.cert, key: tls.key }, (request, response) => front.lie(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(front, {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  });
}

/** Both ends of a federation; the victim calls the front. */
export async function befriend(victim: Side, mallory: Side, front: Front): Promise<void> {
  const forMallory = await establish(victim, { ...mallory, url: front.url });
  const forVictim = await establish(mallory, victim);
  if (forMallory.status !== 201 || forVictim.status !== 201) throw new Error(forMallory.text + forVictim.text);
  const here = await importCertificate(victim, mallory.org, forVictim.body.certificate);
  const there = await importCertificate(mallory, victim.org, forMallory.body.certificate);
  if (here.status !== 204 || there.status !== 204) throw new Error(here.text + there.text);
}

const system = { id: "test", type: "system", roles: [], scopes: [], method: "none" } as const;

/** What a side's gateway would truly tell a partner of a workspace now. */
export async function told(side: Side, workspace: string, partner: string): Promise<PeerState | undefined> {
  const { services } = side.rig.gateway;
  const call = { principal: { ...system, org: side.org }, now: side.rig.clock.now(), requestId: "" };
  return services.transact(call, async (unit) => {
    const known = await unit.get(shares, shareId(workspace, partner));
    return known === undefined ? undefined : describeShare(services, unit, known);
  });
}

/** Any text, sealed by a side to an organisation elsewhere as keys of a workspace are. */
export async function sealed(side: Side, workspace: string, to: Side, text: string): Promise<string> {
  const { services } = side.rig.gateway;
  const there = to.rig.gateway.services;
  const asked = { principal: { ...system, org: to.org }, now: to.rig.clock.now(), requestId: "" };
  const { exchange } = await there.transact(asked, (unit) => there.organizationKeys.publicKeys(unit, to.org));
  const aad = new TextEncoder().encode(canonicalJson({ workspace, exporter: side.org, recipient: to.org }));
  const info = new TextEncoder().encode("seneschal/workspace-export/v1");
  const call = { principal: { ...system, org: side.org }, now: side.rig.clock.now(), requestId: "" };
  const bytes = await services.transact(call, (unit) =>
    services.organizationKeys.withExchangeSecret(unit, side.org, (senderSecret) =>
      hpkeSeal(nodeCrypto, exchange, new TextEncoder().encode(text), { info, aad, senderSecret, random: systemRandom }),
    ),
  );
  return Buffer.from(bytes).toString("base64");
}
