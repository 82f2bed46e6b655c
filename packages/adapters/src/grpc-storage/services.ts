import { fileURLToPath } from "node:url";
import { type GrpcObject, loadPackageDefinition, type ServiceClientConstructor } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

/** Where the storage interface is written down. */
export const STORAGE_PROTO = fileURLToPath(new URL("../../src/grpc-storage/storage.proto", import.meta.url));
/** The standard health checking protocol. */
export const HEALTH_PROTO = fileURLToPath(new URL("../../src/grpc-storage/health.proto", import.meta.url));

const LOADING = { keepCase: true, longs: Number, enums: String, defaults: false, oneofs: true } as const;

/** The services of the data path by their full names; for servers and clients alike. */
export type DataServices = Readonly<
  Record<
    "seneschal.storage.v1.ObjectService" | "seneschal.storage.v1.StorageAdminService" | "grpc.health.v1.Health",
    ServiceClientConstructor
  >
>;

/** Loads the proto files. */
export function dataServices(): DataServices {
  const loaded = loadPackageDefinition(loadSync([STORAGE_PROTO, HEALTH_PROTO], LOADING));
  const service = (path: string): ServiceClientConstructor =>
    path.split(".").reduce<unknown>((at, step) => (at as GrpcObject)[step], loaded) as ServiceClientConstructor;
  return {
    "seneschal.storage.v1.ObjectService": service("seneschal.storage.v1.ObjectService"),
    "seneschal.storage.v1.StorageAdminService": service("seneschal.storage.v1.StorageAdminService"),
    "grpc.health.v1.Health": service("grpc.health.v1.Health"),
  };
}
