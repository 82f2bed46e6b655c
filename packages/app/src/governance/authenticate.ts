import { randomUUID, timingSafeEqual } from "node:crypto";
import type { Hooks, Principal, WireRequest } from "@seneschal/contract";
import { CodedError, type JsonObject } from "@seneschal/core";
import type { DocumentStore } from "@seneschal/core/ports";
import { type Authorisation, questionOf } from "../platform/index.ts";
import { hashKey, keyDoc, keyIdOf } from "./api-keys.ts";
import type { GovernanceConfig } from "./settings.ts";

/** `last_used_at` is this exact: a write per request would cost more than it tells. */
const LAST_USED_STEP = 60_000;

/**
 * Who calls, by the API key in `Authorization: Bearer`. A configured key is known by its hash, a created one by the id inside it; a revoked, expired
 * or unknown key is one and the same refusal.
 */
export function authenticator(
  config: GovernanceConfig,
  store: DocumentStore,
  now: () => number,
): (wire: Pick<WireRequest, "headers">) => Promise<Principal | undefined> {
  const configured = config.api_keys.map((key) => ({ ...key, hash: Buffer.from(key.sha256, "hex") }));
  return async ({ headers }) => {
    const header = headers["authorization"];
    if (header === undefined) return undefined;
    const key = /^Bearer ([A-Za-z0-9._~+/=-]{1,512})$/i.exec(header)?.[1];
    if (key === undefined) throw refused();
    const hash = Buffer.from(hashKey(key), "hex");
    // Every hash is compared, so that the time says nothing.
    const known = configured.filter((candidate) => timingSafeEqual(candidate.hash, hash))[0];
    if (known !== undefined) return principal(known.id, known.org ?? config.organization, known.scopes);
    const id = keyIdOf(key);
    const stored = id === undefined ? undefined : await store.get("api_keys", id);
    if (stored === undefined) throw refused();
    const doc = keyDoc(stored);
    const at = now();
    const live = doc.revoked_at === null && (doc.expires_at === null || Date.parse(doc.expires_at) > at);
    if (!timingSafeEqual(Buffer.from(doc.hash, "hex"), hash) || !live) throw refused();
    if (doc.last_used_at === null || at - Date.parse(doc.last_used_at) >= LAST_USED_STEP) {
      // Conditional: a rotation or revocation that came between is never undone; a lost race is of no interest.
      await store.commit({
        commitId: randomUUID(),
        puts: [
          {
            coll: "api_keys",
            id: stored.id,
            ifVersion: stored.version,
            doc: { ...stored.doc, last_used_at: new Date(at).toISOString() } as JsonObject,
          },
        ],
      });
    }
    return principal(doc.id, doc.org, doc.scopes);
  };
}

/** Asks the authorisation policy, to which a caller without a key is `anonymous`. */
export function authoriser(authorisation: Authorisation): NonNullable<Hooks["authorise"]> {
  return async (input) => {
    const decision = await authorisation.decide(questionOf(input), input.now);
    if (decision.allowed) return;
    if (input.principal === undefined) throw new CodedError("unauthenticated", decision.reason);
    throw new CodedError("forbidden", decision.reason, { scope: input.route.action ?? "" });
  };
}

/** The actions that are open to callers without a key. */
export function openActions({ anonymous }: GovernanceConfig): readonly string[] {
  return [
    ...(anonymous.classify ? ["classify"] : []),
    ...(anonymous.evaluate ? ["evaluate"] : []),
    ...(anonymous.lineage ? ["lineage:read"] : []),
  ];
}

function principal(id: string, org: string, scopes: readonly string[]): Principal {
  return { id, type: "apikey", org, roles: [], scopes, method: "apikey" };
}

function refused(): CodedError {
  return new CodedError("unauthenticated", "missing or invalid API key");
}
