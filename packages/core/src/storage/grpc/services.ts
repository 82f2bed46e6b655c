/**
 * The gRPC services of a storage node by their full names. Their messages are described once, by the `.proto` files beside this one, which
 * the package ships in its sources: clients and servers load those.
 */
export const grpcServices = [
  "seneschal.storage.v1.ObjectService",
  "seneschal.storage.v1.StorageAdminService",
  "seneschal.storage.v1.FragmentService",
  "seneschal.storage.v1.PeerService",
  "seneschal.storage.v1.LogService",
  "seneschal.storage.v1.KeyManagerService",
  "seneschal.storage.v1.TenantKeyService",
  "grpc.health.v1.Health",
] as const;

export type GrpcService = (typeof grpcServices)[number];

/** The files that describe them: of clients and admins, of nodes among themselves, the standard health checking protocol. */
export const grpcFiles = ["storage.proto", "cluster.proto", "health.proto"] as const;

/** How messages are read from the wire: fields by their names in the files, what is not there absent. */
export const grpcLoading = { keepCase: true, longs: Number, enums: String, defaults: false, oneofs: true } as const;

/** Bytes of one data message; servers take 1 MiB of it, clients 4 MiB. */
export const grpcPieceBytes = 1 << 18;
