export { deviceBytes } from "./device-bytes.ts";
export { type AdmittedDevice, openAdmittedDevice } from "./open-admitted-device.ts";
export { openDirectoryDevice } from "./open-directory-device.ts";
export { type StoredExtent, storedExtents } from "./stored-extents.ts";
