import { z } from "zod";
import { contract } from "./contract.ts";

const page = { method: "GET", tag: "reference", auth: "public", status: 200, extension: true } as const;
const file = { params: z.strictObject({ file: z.string().max(100) }) };

/** The reference pages of a service: two views of its OpenAPI document, and the document. */
export const docsContract = contract({
  openapiDocument: { ...page, path: "/openapi.json", summary: "The OpenAPI document", produces: "application/json" },
  docsPage: { ...page, path: "/docs", summary: "Interactive API reference", produces: "text/html; charset=utf-8" },
  docsAsset: { ...page, ...file, path: "/docs/:file", summary: "A file of the page", produces: "application/octet-stream" },
  redocPage: { ...page, path: "/redoc", summary: "API reference to read", produces: "text/html; charset=utf-8" },
  redocAsset: { ...page, ...file, path: "/redoc/:file", summary: "A file of the page", produces: "application/octet-stream" },
});
