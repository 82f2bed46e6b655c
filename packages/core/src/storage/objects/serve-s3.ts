import type { Clock, PolicyEngine, Random } from "@seneschal/kernel/ports";
import type { KeyAccess } from "../key-access.ts";
import type { ObjectStore, RequestOrigin } from "./object-store.ts";

/** An access key of a tenant. */
export interface S3Credential {
  readonly tenant: string;
  readonly secretKey: string;
  /** What the key may; absent: all that its tenant may. */
  readonly access?: KeyAccess | undefined;
}

/** What a caller wants to do, as the service's own policy is asked. */
export interface S3Question {
  /** The tenant whose act it is. */
  readonly caller: string;
  /** The tenant whose bucket it is. */
  readonly owner: string;
  readonly action: "objects:read" | "objects:write";
  /** A bucket, or `bucket/key`. */
  readonly resource: string;
  readonly method: string;
  /** The operation as S3 calls it. */
  readonly operation: string;
}

/** An S3 server that listens. */
export interface S3Server {
  readonly url: string;
  readonly port: number;
  /** A new certificate for connections from now on. */
  setSecureContext(tls: { readonly cert: string; readonly key: string }): void;
  /**
   * Delivers access logs that have waited long enough, `all`: all that wait. Rejects when the store of some of them does not answer: they wait
   * on, and are tried again.
   */
  deliverAccessLogs(all?: boolean): Promise<void>;
  /** Takes no more connections; resolves when those that are open have ended, and the access logs are delivered that can be. */
  close(): Promise<void>;
}

/** Where and how an S3 server listens. */
export interface S3Settings {
  readonly host: string;
  /** 0 takes any. */
  readonly port: number;
  /** Below this name the first labels of a host are a bucket; `undefined`: buckets are in paths alone. */
  readonly domain?: string | undefined;
  /** Below this name the first labels of a host are a bucket whose website is asked for; `undefined`: there are no websites. */
  readonly websiteDomain?: string | undefined;
  /** Takes signatures of Version 2 too, which cover less: off unless clients know no other. */
  readonly signatureV2?: boolean;
  /** PEM. Absent: plaintext. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Whether the address of a connection is a balancer's that speaks the PROXY protocol; absent: none is. */
  readonly proxyProtocol?: ((address: string) => boolean) | undefined;
  /** How long a handshake and the head of a request may take; default 30,000. */
  readonly readTimeoutMs?: number;
  /** How long a body may stand still, on its way in or out; default 60,000. */
  readonly idleTimeoutMs?: number;
  /** Open connections at a time, more are closed; default 4096. */
  readonly maxConnections?: number;
  /** How long requests to a bucket that has them logged wait for others, to lie in one object with them; default 300,000. */
  readonly accessLogDelayMs?: number;
}

export interface S3ServerOptions extends S3Settings {
  /** The objects as one request works with them. */
  readonly objects: (origin: RequestOrigin) => ObjectStore;
  /** The access key of a name; `undefined`: there is none. */
  readonly lookUp: (accessKey: string) => Promise<S3Credential | undefined>;
  /** Evaluates the policies of buckets. */
  readonly engine: PolicyEngine;
  /** What the service lets through of what keys and policies of buckets allow. */
  readonly authorise: (
    question: S3Question,
    now: number,
  ) => Promise<{ readonly allowed: true } | { readonly allowed: false; readonly reason: string }>;
  readonly clock: Clock;
  readonly random: Random;
  /** Called for every request that is answered; `operation` as S3 calls it. `tenant`: who has signed it, where somebody has. */
  readonly onRequest?: (request: {
    readonly operation: string;
    readonly status: number;
    readonly seconds: number;
    readonly tenant?: string;
  }) => void;
  /** A signature, a key or a policy refused a request; `reason` is its code. */
  readonly onRefusal?: (reason: string) => void;
  /** So many requests were written to a log object, or given up, or could not be written this time. `error`: why not. */
  readonly onAccessLog?: (log: {
    readonly bucket: string;
    readonly outcome: "delivered" | "failed" | "dropped";
    readonly records: number;
    readonly error?: unknown;
  }) => void;
  /** A failure that is the server's own. */
  readonly onFailure?: (error: unknown, request: { readonly operation: string; readonly requestId: string }) => void;
  /** Called with the connections that are open and those of them that serve no request, whenever that changes. */
  readonly onConnections?: (connections: { readonly open: number; readonly idle: number }) => void;
  /** Called with the bytes of a connection that went. */
  readonly onTraffic?: (bytes: { readonly received: number; readonly sent: number }) => void;
  /** Called with the kind of a connection's failure: a code of the system, or `too_many`. */
  readonly onConnectionError?: (kind: string) => void;
}

/** Serves objects by the S3 protocol. */
export type ServeS3 = (options: S3ServerOptions) => Promise<S3Server>;
