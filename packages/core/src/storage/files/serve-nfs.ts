import type { FileService } from "./file-service.ts";

/** An NFS server that listens. */
export interface NfsServer {
  readonly port: number;
  /** Takes no more connections, and ends those that are open once their calls are answered. */
  close(): Promise<void>;
}

export interface NfsServerOptions {
  readonly files: FileService;
  readonly host: string;
  /** 0 takes any. */
  readonly port: number;
  /** Open connections at a time, more are closed. */
  readonly maxConnections: number;
  /** How long a call may stand half sent, and a reply be not taken. */
  readonly idleTimeoutMs: number;
  /** Called for every call that is answered; `status` is a name, `OK` where it succeeded. */
  readonly onCall?: (call: { readonly procedure: string; readonly status: string; readonly seconds: number }) => void;
  /** A failure that nobody foresaw: the client is told `EIO`. */
  readonly onFailure?: (error: unknown, procedure: string) => void;
  /** Called with 1 and -1 as connections come and go, and with the bytes of one that went. */
  readonly onConnection?: (change: 1 | -1, bytes: { readonly received: number; readonly sent: number }) => void;
}

/** Serves files by NFSv3 and MOUNT over TCP, both on one port, without a portmapper. */
export type ServeNfs = (options: NfsServerOptions) => Promise<NfsServer>;
