import type { Socket } from "node:net";
import {
  type DataCall,
  type DataHandler,
  type DataServer,
  dataServices,
  type Message,
  openDataServer,
} from "@seneschal/adapters/grpc-storage";
import type { Logger } from "@seneschal/adapters/logging";
import { storageError } from "@seneschal/core/storage";
import type { StorageContext } from "../context.ts";
import type { StorageNode } from "../node.ts";
import { adminCalls } from "./admin-calls.ts";
import { createPeerAuth } from "./authenticate-peer.ts";
import { grpcFailure } from "./failure.ts";
import { guarded, objectCalls } from "./object-calls.ts";
import { openRevocationFile } from "./revocation-file.ts";

export interface GrpcOptions {
  readonly node: StorageNode;
  readonly log: Logger;
  readonly host: string;
  readonly port: number;
  /** PEM. Absent: plaintext on loopback, where everybody is everybody. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
  /** Path of the revocation list. */
  readonly crl?: string;
  /** Bytes of one object; default 5 GiB. */
  readonly maxObjectBytes?: number;
}

/** Serves the data path: objects for tenants, devices for cluster admins, health for whoever has a certificate. */
export async function serveGrpc(options: GrpcOptions): Promise<DataServer> {
  const { node, log, tls } = options;
  const { context } = node;
  const revocations =
    options.crl === undefined || tls === undefined
      ? undefined
      : await openRevocationFile(options.crl, {
          trustedCa: tls.ca,
          now: () => context.clock.now(),
          provider: context.crypto,
        });
  const auth = createPeerAuth({
    context,
    tenants: node.tenants,
    log,
    insecure: tls === undefined,
    ...(revocations === undefined ? {} : { revocations }),
  });
  const known = new Set(["", ...Object.keys(dataServices())]);
  const health = async (call: DataCall): Promise<Message> => {
    await auth.authenticate(call.peer);
    const service = call.request["service"] ?? "";
    if (!known.has(service as string)) throw storageError("NotFound", "no such service", { field: "service" });
    return { status: "SERVING" };
  };
  const objects = guarded((call) => auth.authenticate(call.peer), objectCalls(node.objects, options.maxObjectBytes));
  const admin = adminCalls(node, (call) => auth.authenticateAdmin(call.peer));
  const measured = (handlers: Readonly<Record<string, DataHandler>>) => measure(context, log, handlers);
  try {
    const server = await openDataServer({
      host: options.host,
      port: options.port,
      ...(tls === undefined ? {} : { tls }),
      handlers: {
        "seneschal.storage.v1.ObjectService": measured(objects),
        "seneschal.storage.v1.StorageAdminService": measured(admin),
        "grpc.health.v1.Health": { Check: health },
      },
      failure: grpcFailure,
      onConnection: (socket) => watch(context, node.connections, socket),
      onHandshakeError(error, address) {
        context.metrics.transportErrors.inc({ transport: "grpc", kind: "handshake" });
        log.warn({ error, peer: address }, "the handshake failed");
        auth.refuse("handshake", address);
      },
    });
    return {
      port: server.port,
      async close() {
        await server.close();
        revocations?.close();
      },
    };
  } catch (error) {
    revocations?.close();
    throw error;
  }
}

/** Counts and times calls by method and outcome, and logs the failures that are ours. */
function measure(
  { metrics }: StorageContext,
  log: Logger,
  handlers: Readonly<Record<string, DataHandler>>,
): Readonly<Record<string, DataHandler>> {
  const begin = (method: string) => {
    const timer = metrics.gatewayDuration.startTimer({ protocol: "grpc", method });
    return (error?: unknown): void => {
      timer();
      const failure = error === undefined ? undefined : grpcFailure(error);
      if (failure?.ours === true) log.error({ error, method }, "data path call failed");
      metrics.gatewayRequests.inc({ protocol: "grpc", method, status: String(failure?.code ?? 0) });
    };
  };
  const wrap = (method: string, handler: DataHandler): DataHandler => {
    if (method !== "Get")
      return async (call) => {
        const end = begin(method);
        try {
          const reply = await (handler(call) as Promise<Message>);
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
        yield* handler(call) as AsyncIterable<Message>;
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

function watch({ metrics }: StorageContext, connections: Map<string, number>, socket: Socket): void {
  const labels = { transport: "grpc" };
  const show = (change: number): void => {
    connections.set("grpc", (connections.get("grpc") ?? 0) + change);
    // HTTP/2 keeps one connection for all calls: open is active.
    metrics.transportActive.set(labels, connections.get("grpc") ?? 0);
  };
  show(1);
  socket.on("error", (error: NodeJS.ErrnoException) => metrics.transportErrors.inc({ ...labels, kind: error.code ?? "error" }));
  socket.on("close", () => {
    metrics.transportBytes.inc({ ...labels, direction: "rx" }, socket.bytesRead);
    metrics.transportBytes.inc({ ...labels, direction: "tx" }, socket.bytesWritten);
    show(-1);
  });
}
