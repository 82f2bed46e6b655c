import { backEnd } from "./back-end.ts";

export const grpc = backEnd<typeof import("@grpc/grpc-js")>("@grpc/grpc-js");
/** Reads interface descriptions for {@link grpc}. */
export const protoLoader = backEnd<typeof import("@grpc/proto-loader")>("@grpc/proto-loader");
