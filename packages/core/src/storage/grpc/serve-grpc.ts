import type { ObjectStore } from "../objects/object-store.ts";
import type { GrpcService } from "./services.ts";

/** A message: fields under their proto names, absent ones absent. */
export type GrpcMessage = Readonly<Record<string, unknown>>;

/** Who is at the other end: the certificate with the TLS layer's verdict, absent without TLS or without a certificate. */
export interface GrpcPeer {
  /** `host:port`; told by a balancer: the host alone. */
  readonly address: string;
  readonly certificate?: { readonly der: Uint8Array; readonly authorized: boolean; readonly error?: string };
}

/** A call: one request, or for client streaming `messages`, which throws `Cancelled` when the client goes away before it ended. */
export interface GrpcCall {
  readonly peer: GrpcPeer;
  readonly request: GrpcMessage;
  readonly messages: AsyncIterable<GrpcMessage>;
}

/** Answers with one message, or with a stream of them where the method streams. */
export type GrpcHandler = (call: GrpcCall) => Promise<GrpcMessage> | AsyncIterable<GrpcMessage>;

/** Who calls the ObjectService, and what it is served of. */
export interface ObjectSession {
  readonly objects: ObjectStore;
  /** The tenant whose data a call is about: the caller's own, or the one that it names if it may. Throws `TenantAccessDenied`. */
  tenantOf(action: "objects:read" | "objects:write", named: string): Promise<string>;
}

/** What the ObjectService is served by. */
export interface GrpcObjects {
  /** Called before anything of a call is read. Throws `AuthenticationFailed`. */
  open(peer: GrpcPeer): Promise<ObjectSession>;
  /** Bytes of one object; default 5 GiB, as one put of S3 may have. */
  readonly maxBytes?: number;
}

/** PEM: who is trusted, and what is shown. */
export interface GrpcTls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Where gRPC is served, and what answers. */
export interface GrpcServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Absent: plaintext, on loopback only. */
  readonly tls?: GrpcTls;
  /** Methods that have no handler answer UNIMPLEMENTED. */
  readonly handlers: { readonly [S in GrpcService]?: Readonly<Record<string, GrpcHandler>> };
  /** Absent: the ObjectService is not served, or by its handlers. */
  readonly objects?: GrpcObjects;
  /** Called for every call once it is over, also where its client left in the middle; `status` as gRPC numbers it. */
  readonly onCall?: (call: {
    readonly service: GrpcService;
    readonly method: string;
    readonly status: number;
    readonly seconds: number;
  }) => void;
  /** A failure that is not the client's. */
  readonly onFailure?: (error: unknown, method: string) => void;
  /** How long a client may send nothing of a stream, or take nothing of one, milliseconds; default 60,000. */
  readonly idleTimeoutMs?: number;
  /** Whether the address of a connection is a balancer's that speaks the PROXY protocol; absent: none is. */
  readonly proxyProtocol?: (address: string) => boolean;
  /** Called with the connections that are open, whenever that changes. */
  readonly onConnections?: (open: number) => void;
  /** Called with the bytes of a connection that went. */
  readonly onTraffic?: (bytes: { readonly received: number; readonly sent: number }) => void;
  /** Called with the kind of a connection's failure: a code of the system, or `error`. */
  readonly onConnectionError?: (kind: string) => void;
  /** TLS could not be agreed on at all. */
  readonly onHandshakeError?: (error: Error, address: string) => void;
}

/** A gRPC port that listens. */
export interface GrpcServer {
  readonly port: number;
  /** What new connections are shown and held against from now on; those that are there stay. Of a server with TLS. */
  setSecureContext(tls: GrpcTls): void;
  close(): Promise<void>;
}

/** Serves services of a storage node by gRPC. */
export type ServeGrpc = (options: GrpcServerOptions) => Promise<GrpcServer>;
