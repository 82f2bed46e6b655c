import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { GrpcObject, ServiceClientConstructor } from "@grpc/grpc-js";
import { type GrpcService, grpcFiles, grpcLoading, grpcServices } from "@seneschal/core/storage";
import { grpc, protoLoader } from "../grpc.ts";

const core = dirname(createRequire(import.meta.url).resolve("@seneschal/core/package.json"));

/** Where the interface of clients and admins, that between nodes, and the standard health checking protocol are written down. */
export const [STORAGE_PROTO, CLUSTER_PROTO, HEALTH_PROTO] = grpcFiles.map((file) => join(core, "src/storage/grpc", file)) as [
  string,
  string,
  string,
];

/** Clients of the storage node's services by their full names. */
export type DataServices = Readonly<Record<GrpcService, ServiceClientConstructor>>;

let loaded: DataServices | undefined;

/** Loads the proto files, once. */
export function dataServices(): DataServices {
  loaded ??= load();
  return loaded;
}

function load(): DataServices {
  const root = grpc().loadPackageDefinition(protoLoader().loadSync([STORAGE_PROTO, CLUSTER_PROTO, HEALTH_PROTO], grpcLoading));
  const find = (path: string) =>
    path.split(".").reduce<unknown>((at, step) => (at as GrpcObject)[step], root) as ServiceClientConstructor;
  return Object.fromEntries(grpcServices.map((name) => [name, find(name)])) as DataServices;
}
