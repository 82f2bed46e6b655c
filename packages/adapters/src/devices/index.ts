export { openDirectoryDevice } from "./open-directory-device.ts";
export { type StoredExtent, storedExtents } from "./stored-extents.ts";
