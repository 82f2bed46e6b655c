/** A call of the AdminService as a handler sees it: fields under their proto names, absent ones absent. */
export interface AdminServiceCall {
  readonly authorization: string | undefined;
  /** Of the caller, without the port. */
  readonly address: string;
  readonly request: Readonly<Record<string, unknown>>;
}

export type AdminServiceHandler = (call: AdminServiceCall) => Promise<Readonly<Record<string, unknown>>>;

/** What answers the methods of the AdminService. */
export interface AdminServiceHandlers {
  readonly UpdateTenant: AdminServiceHandler;
  readonly GetTenantUsage: AdminServiceHandler;
  readonly GetUserUsage: AdminServiceHandler;
}

/** Where the AdminService is served, and what answers. */
export interface AdminServiceOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** PEM. Absent: plaintext, on loopback only. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Whether the address of a connection is a balancer's that speaks the PROXY protocol; absent: none is. */
  readonly proxyProtocol?: (address: string) => boolean;
  readonly handlers: AdminServiceHandlers;
}

/** An AdminService that listens. */
export interface AdminServiceServer {
  readonly port: number;
  /** What new connections are shown from now on, PEM; those that are there stay. Of a server with TLS. */
  setSecureContext(tls: { readonly cert: string; readonly key: string }): void;
  close(): Promise<void>;
}

/** Serves the scheduler's AdminService by gRPC. */
export type ServeAdminService = (options: AdminServiceOptions) => Promise<AdminServiceServer>;
