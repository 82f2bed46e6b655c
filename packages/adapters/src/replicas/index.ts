export { openS3Replicas, type S3ReplicasOptions } from "./open-s3-replicas.ts";
export type { DescriptionPart, Replica, ReplicaErrorCode, ReplicaPart, ReplicaTarget } from "./replica-target.ts";
