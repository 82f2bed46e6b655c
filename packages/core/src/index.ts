export { CodedError, isCoded } from "./errors.ts";
export type { Json, JsonObject } from "./json.ts";
