export { newId, sha256 } from "./identity.ts";
