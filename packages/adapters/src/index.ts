export type { BackEndErrorCode } from "./back-end.ts";
