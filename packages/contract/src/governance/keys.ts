import * as z from "zod";
import type { Contract } from "../route.ts";
import { secret } from "../secret.ts";
import { API_SCOPES, apiKey, person } from "./shapes.ts";

const admin = { tag: "api keys", auth: "principal", action: "admin", extension: true } as const;
const params = z.strictObject({ id: z.string().max(64) });
const issued = z.strictObject({ ...apiKey.shape, api_key: secret(z.string()) });

/** API keys: the secret is shown once, only its hash is kept. */
export const keyRoutes = {
  createApiKey: {
    ...admin,
    method: "POST",
    path: "/api/v1/api-keys",
    summary: "Create an API key",
    body: z.strictObject({
      name: z.string().min(1).max(128),
      scopes: z.array(z.enum(API_SCOPES)).min(1),
      user_id: person.optional().meta({ description: "Whom the key is for: approvals are given in this name only" }),
      expires_in_days: z.int().min(1).max(3660).optional(),
    }),
    status: 201,
    reply: issued,
  },
  listApiKeys: {
    ...admin,
    method: "GET",
    path: "/api/v1/api-keys",
    summary: "API keys of the organisation, without their secrets",
    status: 200,
    reply: z.strictObject({ api_keys: z.array(apiKey), count: z.int(), total: z.int() }),
  },
  rotateApiKey: {
    ...admin,
    method: "POST",
    path: "/api/v1/api-keys/:id/rotate",
    summary: "Give a key a new secret; the old one stops at once",
    params,
    status: 200,
    reply: issued,
  },
  revokeApiKey: {
    ...admin,
    method: "DELETE",
    path: "/api/v1/api-keys/:id",
    summary: "Revoke a key",
    params,
    status: 204,
  },
} as const satisfies Contract;
