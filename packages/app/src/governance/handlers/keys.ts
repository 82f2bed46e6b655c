import type { Handlers } from "@seneschal/contract";
import type { GovernanceContract } from "@seneschal/contract/governance";
import { everyDocument } from "../../platform/index.ts";
import { type ApiKeyDoc, createApiKey, keyDoc, revokeApiKey, rotateApiKey } from "../api-keys.ts";
import type { GovernanceServices } from "../services.ts";
import { whoOf } from "../who.ts";

type Routes = Pick<GovernanceContract, "createApiKey" | "listApiKeys" | "rotateApiKey" | "revokeApiKey">;

export const keyHandlers: Handlers<Routes, GovernanceServices> = {
  async createApiKey(services, input) {
    const { name, scopes, user_id, expires_in_days } = input.body;
    const request = {
      org: input.principal.org,
      name,
      scopes,
      userId: user_id,
      ...(expires_in_days === undefined ? {} : { expiresInDays: expires_in_days }),
    };
    const issued = await createApiKey(services, request, whoOf(input));
    return { ...view(issued), api_key: issued.api_key };
  },

  async listApiKeys({ store }, { principal }) {
    const keys: ApiKeyDoc[] = [];
    for await (const stored of everyDocument(store, "api_keys", "by_org", [principal.org])) keys.push(keyDoc(stored));
    return { api_keys: keys.map(view), count: keys.length, total: keys.length };
  },

  async rotateApiKey(services, input) {
    const issued = await rotateApiKey(services, input.params.id, whoOf(input));
    return { ...view(issued), api_key: issued.api_key };
  },

  async revokeApiKey({ store }, input) {
    await revokeApiKey(store, input.params.id, whoOf(input));
  },
};

function view({ id, name, scopes, user_id, issuers, created_at, expires_at, last_used_at, revoked_at }: ApiKeyDoc) {
  const issued = { user_id: user_id ?? null, issuers: [...(issuers ?? [])] };
  return { id, name, scopes: [...scopes], ...issued, created_at, expires_at, last_used_at, revoked_at };
}
