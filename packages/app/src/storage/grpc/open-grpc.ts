import type { Logger } from "@seneschal/adapters/logging";
import {
  type GrpcHandler,
  type GrpcObjects,
  type GrpcPeer,
  type GrpcServer,
  type GrpcServerOptions,
  type GrpcTls,
  type ObjectSession,
  type ServeGrpc,
  storageError,
} from "@seneschal/core/storage";
import type { Authorisation } from "../../platform/index.ts";
import type { StorageNode } from "../node.ts";
import { objectStore } from "../objects/object-store.ts";
import { adminCalls } from "./admin-calls.ts";
import { createPeerAuth, openRevocationFile, type PeerAuth } from "./authenticate-peer.ts";
import { fragmentCalls, keyManagerCalls, logCalls, peerCalls, tenantKeyCalls } from "./node-calls.ts";

export interface GrpcOptions {
  readonly node: StorageNode;
  /** Decides what callers may do. */
  readonly authorisation: Authorisation;
  readonly log: Logger;
  readonly host: string;
  readonly port: number;
  /** PEM. Absent: plaintext on loopback, where everybody is everybody. */
  readonly tls?: GrpcTls;
  /** Path of the revocation list. */
  readonly crl?: string;
  /** Bytes of one object; default 5 GiB. */
  readonly maxObjectBytes?: number;
  /** How long a body may stand still, on its way in or out; default 60,000. */
  readonly idleTimeoutMs?: number | undefined;
  /** Whether the address of a connection is a balancer's that speaks the PROXY protocol; absent: none is. */
  readonly proxyProtocol?: (address: string) => boolean;
  readonly serveGrpc: ServeGrpc;
}

type Services = GrpcServerOptions["handlers"];

/** Serves the data path: objects for tenants, fragments for nodes, devices, shards and tenants' keys for cluster admins. */
export function openDataPort(options: GrpcOptions): Promise<GrpcServer> {
  const { node, maxObjectBytes: maxBytes } = options;
  const objects = (auth: PeerAuth): GrpcObjects => ({
    open: (peer) => openSession(node, auth, peer),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  const services = (auth: PeerAuth): Services => ({
    "seneschal.storage.v1.StorageAdminService": adminCalls(node, auth),
    "seneschal.storage.v1.TenantKeyService": tenantKeyCalls(node, auth),
    "seneschal.storage.v1.FragmentService": fragmentCalls(node.devices, ({ peer }) => auth.admit(peer, "peers:use")),
  });
  return serve(options, "grpc", services, objects);
}

/** Serves the peers' port: how this node is, the cluster's log, the key manager. */
export function openPeersPort(options: Omit<GrpcOptions, "maxObjectBytes">): Promise<GrpcServer> {
  const { node } = options;
  return serve(options, "raft", (auth) => ({
    "seneschal.storage.v1.PeerService": peerCalls(node, auth),
    "seneschal.storage.v1.LogService": logCalls(node, auth),
    "seneschal.storage.v1.KeyManagerService": keyManagerCalls(node, auth),
  }));
}

function serve(
  options: GrpcOptions,
  transport: "grpc" | "raft",
  servicesWith: (auth: PeerAuth) => Services,
  objectsWith?: (auth: PeerAuth) => GrpcObjects,
): Promise<GrpcServer> {
  const { node, log, tls } = options;
  const { context } = node;
  const revocations =
    options.crl === undefined || tls === undefined
      ? undefined
      : openRevocationFile(options.crl, {
          trustedCa: tls.ca,
          now: () => context.clock.now(),
          provider: context.crypto,
        });
  const auth = createPeerAuth({
    context,
    surface: "grpc",
    tenants: node.tenants,
    authorisation: options.authorisation,
    log,
    insecure: tls === undefined,
    ...(revocations === undefined ? {} : { revocations }),
  });
  const services = servicesWith(auth);
  const objects = objectsWith && { objects: objectsWith(auth) };
  const own = objects === undefined ? [] : ["seneschal.storage.v1.ObjectService"];
  const known = new Set(["", "grpc.health.v1.Health", ...own, ...Object.keys(services)]);
  const health: GrpcHandler = async (call) => {
    await auth.authenticate(call.peer);
    const service = call.request["service"] ?? "";
    if (!known.has(service as string)) throw storageError("NotFound", "no such service", { field: "service" });
    return { status: "SERVING" };
  };
  const labels = { transport };
  return options.serveGrpc({
    host: options.host,
    port: options.port,
    ...(tls === undefined ? {} : { tls }),
    handlers: { ...services, "grpc.health.v1.Health": { Check: health } },
    ...objects,
    onCall({ service, method, status, seconds }) {
      if (!metered.has(service)) return;
      context.metrics.gatewayDuration.observe({ protocol: "grpc", method }, seconds);
      context.metrics.gatewayRequests.inc({ protocol: "grpc", method, status: String(status) });
    },
    onFailure: (error, method) => log.error({ error, method }, "data path call failed"),
    ...(options.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: options.idleTimeoutMs }),
    ...(options.proxyProtocol === undefined ? {} : { proxyProtocol: options.proxyProtocol }),
    onConnections(open) {
      node.connections.set(transport, open);
      // HTTP/2 keeps one connection for all calls: open is active.
      context.metrics.transportActive.set(labels, open);
    },
    onTraffic({ received, sent }) {
      context.metrics.transportBytes.inc({ ...labels, direction: "rx" }, received);
      context.metrics.transportBytes.inc({ ...labels, direction: "tx" }, sent);
    },
    onConnectionError: (kind) => context.metrics.transportErrors.inc({ ...labels, kind }),
    onHandshakeError(error, address) {
      context.metrics.transportErrors.inc({ ...labels, kind: "handshake" });
      log.warn({ error, peer: address }, "the handshake failed");
      auth.refuse("handshake", address);
    },
  });
}

/** Requests of clients; what nodes ask each other is no gateway's request. */
const metered: ReadonlySet<string> = new Set([
  "seneschal.storage.v1.ObjectService",
  "seneschal.storage.v1.StorageAdminService",
  "seneschal.storage.v1.TenantKeyService",
]);

/** The objects of a node for one call, whose notifications say who made it. */
async function openSession(node: StorageNode, auth: PeerAuth, peer: GrpcPeer): Promise<ObjectSession> {
  const caller = await auth.authenticate(peer);
  const principal = caller.kind === "tenant" ? caller.tenant : caller.id;
  const address = peer.address.replace(/:\d+$/, "").replace(/^::ffff:/, "");
  const request_id = Buffer.from(node.context.random(8)).toString("hex").toUpperCase();
  return {
    objects: objectStore(node.objects, { principal, address, request_id }),
    tenantOf: (action, named) => auth.tenantOf(caller, action, named),
  };
}
