import { fileURLToPath } from "node:url";
import type { GrpcObject, ServiceClientConstructor } from "@grpc/grpc-js";
import { grpc, protoLoader } from "../grpc.ts";

const proto = (name: string): string => fileURLToPath(new URL(`../../src/grpc-storage/${name}.proto`, import.meta.url));

/** Where the interface of clients and admins is written down. */
export const STORAGE_PROTO = proto("storage");
/** Where the interface between nodes is written down. */
export const CLUSTER_PROTO = proto("cluster");
/** The standard health checking protocol. */
export const HEALTH_PROTO = proto("health");

const LOADING = { keepCase: true, longs: Number, enums: String, defaults: false, oneofs: true } as const;

const names = [
  "seneschal.storage.v1.ObjectService",
  "seneschal.storage.v1.StorageAdminService",
  "seneschal.storage.v1.FragmentService",
  "seneschal.storage.v1.PeerService",
  "seneschal.storage.v1.LogService",
  "seneschal.storage.v1.KeyManagerService",
  "seneschal.storage.v1.TenantKeyService",
  "grpc.health.v1.Health",
] as const;

/** The services of the storage node by their full names; for servers and clients alike. */
export type DataServices = Readonly<Record<(typeof names)[number], ServiceClientConstructor>>;

let loaded: DataServices | undefined;

/** Loads the proto files, once. */
export function dataServices(): DataServices {
  loaded ??= load();
  return loaded;
}

function load(): DataServices {
  const root = grpc().loadPackageDefinition(protoLoader().loadSync([STORAGE_PROTO, CLUSTER_PROTO, HEALTH_PROTO], LOADING));
  const find = (path: string) =>
    path.split(".").reduce<unknown>((at, step) => (at as GrpcObject)[step], root) as ServiceClientConstructor;
  return Object.fromEntries(names.map((name) => [name, find(name)])) as DataServices;
}
