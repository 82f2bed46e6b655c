import type { JsonObject } from "@seneschal/core";

/** The body as the client sent it: what was signed is what was sent, before defaults and aliases. */
export function signedBody(rawBody: Uint8Array): JsonObject {
  if (rawBody.length === 0) return {};
  const value: unknown = JSON.parse(Buffer.from(rawBody).toString("utf8"));
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}
