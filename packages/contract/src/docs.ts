import * as z from "zod";
import { contract } from "./contract.ts";

const page = { method: "GET", tag: "reference", auth: "public", status: 200, extension: true, uncounted: true } as const;
const file = { params: z.strictObject({ file: z.string().max(100) }) };

/**
 * The OpenAPI document of a service, without authentication: it says what is published with the source and nothing of this instance or of
 * anybody's data, and those who are to make a client of it have no credential yet. It is long, so reading it is counted.
 */
export const documentContract = contract({
  openapiDocument: {
    ...page,
    uncounted: false,
    path: "/openapi.json",
    summary: "The OpenAPI document of this service",
    produces: "application/json",
  },
});

/** The reference pages of a service: two views of its OpenAPI document. */
export const docsContract = contract({
  docsPage: { ...page, path: "/docs", summary: "Interactive API reference", produces: "text/html; charset=utf-8" },
  docsAsset: { ...page, ...file, path: "/docs/:file", summary: "A file of the page", produces: "application/octet-stream" },
  redocPage: { ...page, path: "/redoc", summary: "API reference to read", produces: "text/html; charset=utf-8" },
  redocAsset: { ...page, ...file, path: "/redoc/:file", summary: "A file of the page", produces: "application/octet-stream" },
});
