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

/** What a failure looks like on the wire: the gRPC status, its text, the trailers. */
export interface GrpcFailure {
  readonly code: number;
  readonly message: string;
  readonly metadata: Readonly<Record<string, string>>;
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
  readonly failure: (error: unknown) => GrpcFailure;
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
