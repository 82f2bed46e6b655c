import { fileURLToPath } from "node:url";
import {
  type GrpcObject,
  loadPackageDefinition,
  Metadata,
  Server,
  type ServerUnaryCall,
  type ServiceClientConstructor,
  type ServiceError,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { AdminServiceHandler, AdminServiceOptions, AdminServiceServer } from "@seneschal/contract/scheduler";
import { checkOptions, isCoded, type JsonObject } from "@seneschal/kernel";
import { encodeAsciiJson } from "@seneschal/kernel/log";
import { isLoopback, listenGrpc } from "./listen-grpc.ts";

/** Where the interface is written down. */
const PROTO = fileURLToPath(new URL("../src/scheduler.proto", import.meta.url));

/** gRPC status of each failure; quota data travels as JSON in the trailer `error-details`. */
const STATUS: Readonly<Record<string, keyof typeof status>> = {
  quota_exceeded: "RESOURCE_EXHAUSTED",
  rate_limited: "RESOURCE_EXHAUSTED",
  ownership_conflict: "ABORTED",
  stale_state: "ABORTED",
  already_exists: "ALREADY_EXISTS",
  invalid_transition: "FAILED_PRECONDITION",
  no_quorum: "UNAVAILABLE",
  outcome_unknown: "UNAVAILABLE",
  service_unavailable: "UNAVAILABLE",
  log_full: "UNAVAILABLE",
  log_failed: "UNAVAILABLE",
  log_closed: "UNAVAILABLE",
  log_diverged: "UNAVAILABLE",
  log_version: "UNAVAILABLE",
  precondition_failed: "FAILED_PRECONDITION",
  not_found: "NOT_FOUND",
  invalid_argument: "INVALID_ARGUMENT",
  validation_failed: "INVALID_ARGUMENT",
  unauthenticated: "UNAUTHENTICATED",
  invalid_token: "UNAUTHENTICATED",
  token_expired: "UNAUTHENTICATED",
  invalid_issuer: "UNAUTHENTICATED",
  forbidden: "PERMISSION_DENIED",
};

const LOADING = { keepCase: true, longs: Number, enums: String, defaults: false, arrays: true, oneofs: false } as const;

/** The AdminService by its proto file; for servers and clients alike. */
export function adminService(): ServiceClientConstructor {
  const loaded = loadPackageDefinition(loadSync(PROTO, LOADING));
  const scheduler = (loaded["seneschal"] as GrpcObject)["scheduler"] as GrpcObject;
  return (scheduler["v1"] as GrpcObject)["AdminService"] as ServiceClientConstructor;
}

/** Serves the AdminService. Without TLS only on loopback: throws `TypeError` otherwise. */
export async function serveAdminService(options: AdminServiceOptions): Promise<AdminServiceServer> {
  checkOptions("options", options, {
    host: "string",
    port: "number",
    tls: "object?",
    proxyProtocol: "function?",
    handlers: "object",
  });
  const { host, port, tls, proxyProtocol, handlers } = options;
  if (tls === undefined && !isLoopback(host)) throw new TypeError("gRPC without TLS listens on loopback only");
  const server = new Server({ "grpc.max_receive_message_length": 1024 * 1024 });
  server.addService(
    adminService().service,
    Object.fromEntries(
      Object.entries(handlers).map(([name, handler]) => [name, unary(handler, (peer) => listener.hostOf(peer))]),
    ),
  );
  const listener = await listenGrpc(server, { host, port, ...(tls && { tls }), ...(proxyProtocol && { proxyProtocol }) });
  return { port: listener.port, setSecureContext: listener.setSecureContext, close: listener.close };
}

type Message = Record<string, unknown>;

function unary(handler: AdminServiceHandler, hostOf: (peer: string) => string) {
  return (call: ServerUnaryCall<Message, Message>, done: sendUnaryData<Message>): void => {
    const authorization = call.metadata.get("authorization")[0]?.toString();
    const address = hostOf(call.getPeer());
    handler({ authorization, address, request: call.request }).then(
      (reply) => done(null, present(reply)),
      (error: unknown) => done(failure(error)),
    );
  };
}

/** Proto has no null: what is not there is left out. */
function present(reply: Readonly<Message>): Message {
  return Object.fromEntries(
    Object.entries(reply)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([key, value]) => [key, Array.isArray(value) ? value.map((item) => present(item as Message)) : value]),
  );
}

function failure(error: unknown): Partial<ServiceError> {
  const name = isCoded(error) ? STATUS[error.code] : undefined;
  if (name === undefined || !isCoded(error)) return { code: status.INTERNAL, details: "internal error" };
  const metadata = new Metadata();
  metadata.set("error-code", error.code);
  // metadata is ASCII
  metadata.set("error-details", Buffer.from(encodeAsciiJson(error.details as JsonObject)).toString("latin1"));
  return { code: status[name], details: error.message, metadata };
}
