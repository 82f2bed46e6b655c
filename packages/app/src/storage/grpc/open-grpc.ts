import type { Logger } from "@seneschal/adapters/logging";
import {
  type GrpcHandler,
  type GrpcMessage,
  type GrpcServer,
  type GrpcServerOptions,
  type GrpcTls,
  type ServeGrpc,
  storageError,
} from "@seneschal/core/storage";
import type { Authorisation } from "../../platform/index.ts";
import type { StorageContext } from "../context.ts";
import type { StorageNode } from "../node.ts";
import { adminCalls } from "./admin-calls.ts";
import { createPeerAuth, type PeerAuth } from "./authenticate-peer.ts";
import { grpcFailure } from "./failure.ts";
import { fragmentCalls } from "./fragment-calls.ts";
import { keyManagerCalls, tenantKeyCalls } from "./key-calls.ts";
import { guarded, objectCalls } from "./object-calls.ts";
import { logCalls, peerCalls } from "./peer-calls.ts";
import { openRevocationFile } from "./revocation-file.ts";

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

type Calls = Readonly<Record<string, GrpcHandler>>;
type Services = GrpcServerOptions["handlers"];

/** Serves the data path: objects for tenants, fragments for nodes, devices, shards and tenants' keys for cluster admins. */
export function openDataPort(options: GrpcOptions): Promise<GrpcServer> {
  const { node, maxObjectBytes } = options;
  return serve(options, "grpc", (auth) => ({
    "seneschal.storage.v1.ObjectService": guarded(auth, objectCalls(node.objects, auth, maxObjectBytes)),
    "seneschal.storage.v1.StorageAdminService": adminCalls(node, auth),
    "seneschal.storage.v1.TenantKeyService": tenantKeyCalls(node, auth),
    "seneschal.storage.v1.FragmentService": fragmentCalls(node.devices, ({ peer }) => auth.admit(peer, "peers:use")),
  }));
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
  const known = new Set(["", "grpc.health.v1.Health", ...Object.keys(services)]);
  const health: GrpcHandler = async (call) => {
    await auth.authenticate(call.peer);
    const service = call.request["service"] ?? "";
    if (!known.has(service as string)) throw storageError("NotFound", "no such service", { field: "service" });
    return { status: "SERVING" };
  };
  const measured = Object.fromEntries(
    Object.entries(services).map(([name, calls]) => [name, observe(calls, log, metered.has(name) ? metering(context) : idle)]),
  );
  const labels = { transport };
  return options.serveGrpc({
    host: options.host,
    port: options.port,
    ...(tls === undefined ? {} : { tls }),
    handlers: { ...measured, "grpc.health.v1.Health": { Check: health } },
    failure: grpcFailure,
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
const streaming: ReadonlySet<string> = new Set(["Get", "Read", "List", "ReadDeltas"]);

type Meter = (method: string) => (status: number) => void;

const idle: Meter = () => () => undefined;

/** Counts and times calls by method and outcome. */
function metering({ metrics }: StorageContext): Meter {
  return (method) => {
    const timer = metrics.gatewayDuration.startTimer({ protocol: "grpc", method });
    return (status) => {
      timer();
      metrics.gatewayRequests.inc({ protocol: "grpc", method, status: String(status) });
    };
  };
}

/** Meters calls, and logs the failures that are ours. */
function observe(handlers: Calls, log: Logger, meter: Meter): Calls {
  const begin = (method: string) => {
    const settle = meter(method);
    return (error?: unknown): void => {
      const failure = error === undefined ? undefined : grpcFailure(error);
      if (failure?.ours === true) log.error({ error, method }, "data path call failed");
      settle(failure?.code ?? 0);
    };
  };
  const wrap = (method: string, handler: GrpcHandler): GrpcHandler => {
    if (!streaming.has(method))
      return async (call) => {
        const end = begin(method);
        try {
          const reply = await (handler(call) as Promise<GrpcMessage>);
          end();
          return reply;
        } catch (error) {
          end(error);
          throw error;
        }
      };
    return async function* (call) {
      const end = begin(method);
      let failure: unknown;
      try {
        yield* handler(call) as AsyncIterable<GrpcMessage>;
      } catch (error) {
        failure = error;
        throw error;
      } finally {
        // Also when the client left in the middle.
        end(failure);
      }
    };
  };
  return Object.fromEntries(Object.entries(handlers).map(([method, handler]) => [method, wrap(method, handler)]));
}
