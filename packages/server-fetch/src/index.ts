export { type FetchHandler, type FetchOptions, fetchHandler } from "./fetch-handler.ts";
