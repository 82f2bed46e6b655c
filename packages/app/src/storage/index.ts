export { openClusterLog } from "./cluster/open-cluster-log.ts";
export { storageInForce } from "./environment.ts";
export { createCredentials } from "./keys/credentials.ts";
export { openStorageNode, type StorageNode, type StorageNodeOptions } from "./node.ts";
export { openS3 } from "./open-s3.ts";
export { openStorage, type Storage, type StorageParts } from "./open-storage.ts";
export { storageSchema } from "./schema.ts";
export { storageService } from "./service.ts";
export { type StorageConfig, storageSettings } from "./settings.ts";
