export { openDirectoryDevice } from "./open-directory-device.ts";
