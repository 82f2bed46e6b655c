import type { Serve } from "@seneschal/contract";
import type { ServeAdminService } from "@seneschal/contract/scheduler";
import type { ServeGrpc, ServeNfs, ServeS3 } from "@seneschal/core/storage";

/** The binding of the named framework; only the chosen one is loaded. */
export async function chooseServer(http: "fastify" | "express"): Promise<Serve> {
  const { serve } = http === "fastify" ? await import("@seneschal/server-fastify") : await import("@seneschal/server-express");
  return serve;
}

/** The binding with processes in front of this one; loaded where a service is configured so. */
export function serveByProcesses(count: number): Serve {
  return async (dispatch, options) => (await import("@seneschal/server-node")).serveByProcesses(count)(dispatch, options);
}

/** The NFS server; loaded where something is exported. */
export const serveNfs: ServeNfs = async (options) => (await import("@seneschal/server-nfs")).serveNfs(options);

/** The S3 server; loaded where there is a storage service. */
export const serveS3: ServeS3 = async (options) => (await import("@seneschal/server-s3")).serveS3(options);

/** The gRPC server of the storage service; loaded where its data path is configured. */
export const serveGrpc: ServeGrpc = async (options) => (await import("@seneschal/server-grpc")).serveGrpc(options);

/** That of the scheduler; loaded where it is enabled. */
export const serveAdminService: ServeAdminService = async (options) =>
  (await import("@seneschal/server-grpc")).serveAdminService(options);
