export { openStorage, type Storage, type StorageParts } from "./open-storage.ts";
export { storageSchema } from "./schema.ts";
export { type StorageConfig, storageSettings } from "./settings.ts";
