import type { Dispatch } from "./dispatcher.ts";
import type { PeerCertificate } from "./wire.ts";

/** PEM texts. */
export interface TlsOptions {
  readonly cert: string;
  readonly key: string;
  /** Trust store for client certificates. */
  readonly ca?: readonly string[];
  /** One list for **each** CA of the chain, or OpenSSL refuses everybody. */
  readonly crl?: readonly string[];
  /** Asks for a client certificate, but lets the handshake succeed without a good one: the application answers. */
  readonly requestCert?: boolean;
}

export interface ServeOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls?: TlsOptions;
  /** Milliseconds to receive a whole request; default 30,000. */
  readonly requestTimeout?: number;
  /** Milliseconds that a connection may be silent; default 120,000. */
  readonly idleTimeout?: number;
  /** Milliseconds that `close` waits for requests in flight; default 10,000. */
  readonly grace?: number;
  /**
   * The addresses of balancers that speak the PROXY protocol (version 1 or 2): each of their connections must begin with its header, and
   * is taken to come from the address in it. Without, the protocol is not read.
   */
  readonly proxyProtocol?: (address: string) => boolean;
}

/** The processes in front of a server: how many there are to be, how many serve, and how many have ended and were replaced. */
export interface ServerProcesses {
  readonly wanted: number;
  readonly running: number;
  readonly replaced: number;
}

/** A listening server. */
export interface RunningServer {
  readonly address: string;
  readonly port: number;
  /** `https://127.0.0.1:8443` */
  readonly url: string;
  /** New certificate, trust store or revocation lists, for connections from now on; session tickets of before stop working. */
  setSecureContext(tls: TlsOptions): void;
  /** Drops the live connections whose peer the predicate names; returns how many. */
  destroySockets(predicate: (peer: PeerCertificate | undefined, remoteAddress: string) => boolean): number;
  /** Of a server that has processes in front of it. */
  readonly processes?: () => ServerProcesses;
  /** Stops accepting, lets requests in flight finish within the grace, drops the rest. Idempotent. */
  close(): Promise<void>;
}

/** How a service stands in an application that has routes of its own. */
export interface MountOptions {
  /** A path that is not the service's: answered with its 404 (default), or left to what comes after it in the application. */
  readonly unmatched?: "answer" | "next";
}

/** What every server package exports as `serve`. */
export type Serve = (dispatch: Dispatch, options: ServeOptions) => Promise<RunningServer>;
