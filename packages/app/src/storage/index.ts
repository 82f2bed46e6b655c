export { openClusterLog } from "./cluster/open-cluster-log.ts";
export { storageInForce } from "./environment.ts";
export { openStorageNode, type StorageNode, type StorageNodeOptions } from "./node.ts";
export { openStorage, type Storage, type StorageParts } from "./open-storage.ts";
export { createCredentials } from "./s3/credentials.ts";
export { serveS3 } from "./s3/serve-s3.ts";
export { storageSchema } from "./schema.ts";
export { storageService } from "./service.ts";
export { type StorageConfig, storageSettings } from "./settings.ts";
