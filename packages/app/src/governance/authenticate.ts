import { randomUUID, timingSafeEqual } from "node:crypto";
import type { Hooks, Principal, WireRequest } from "@seneschal/contract";
import { CodedError, type JsonObject } from "@seneschal/kernel";
import type { DocumentStore } from "@seneschal/kernel/ports";
import { type Authorisation, questionOf } from "../platform/index.ts";
import { hashKey, keyDoc, keyIdOf } from "./api-keys.ts";
import type { GovernanceConfig } from "./settings.ts";

/** `last_used_at` is this exact: a write per request would cost more than it tells. */
const LAST_USED_STEP = 60_000;

/**
 * Who calls, by the API key in `Authorization: Bearer`, as far as the store that is read through knows it. A configured key is known by its
 * hash, a created one by the id inside it; a revoked, expired or unknown key is one and the same refusal. `shared` is where uses are noted.
 */
export function authenticator(
  config: GovernanceConfig,
  shared: DocumentStore,
  now: () => number,
): (store: Pick<DocumentStore, "get">) => (wire: Pick<WireRequest, "headers">) => Promise<Principal | undefined> {
  const configured = config.api_keys.map((key) => ({ ...key, hash: Buffer.from(key.sha256, "hex") }));
  /** When a use was noted, by the hash of the key: a rotated one has not been used. */
  const noted = new Map<string, number>();
  const live = async (store: Pick<DocumentStore, "get">, id: string, hash: Buffer) => {
    const stored = await store.get("api_keys", id);
    if (stored === undefined) throw refused();
    const doc = keyDoc(stored);
    const isLive = doc.revoked_at === null && (doc.expires_at === null || Date.parse(doc.expires_at) > now());
    if (!timingSafeEqual(Buffer.from(doc.hash, "hex"), hash) || !isLive) throw refused();
    return { stored, doc };
  };
  /** Before the key is judged: a use that is noted changes the document that the request is judged on. */
  const note = async (id: string, hash: Buffer): Promise<void> => {
    const [at, key] = [now(), hash.toString("hex")];
    if (at - (noted.get(key) ?? Number.NEGATIVE_INFINITY) < LAST_USED_STEP) return;
    const { stored, doc } = await live(shared, id, hash);
    if (doc.last_used_at === null || at - Date.parse(doc.last_used_at) >= LAST_USED_STEP) {
      const used = { ...stored.doc, last_used_at: new Date(at).toISOString() } as JsonObject;
      // Conditional: a rotation or revocation that came between is never undone; a lost race is of no interest.
      await shared.commit({
        commitId: randomUUID(),
        puts: [{ coll: "api_keys", id, ifVersion: stored.version, doc: used }],
      });
    }
    noted.set(key, at);
  };
  return (store) =>
    async ({ headers }) => {
      const header = headers["authorization"];
      if (header === undefined) return undefined;
      const key = /^Bearer ([A-Za-z0-9._~+/=-]{1,512})$/i.exec(header)?.[1];
      if (key === undefined) throw refused();
      const hash = Buffer.from(hashKey(key), "hex");
      // Every hash is compared, so that the time says nothing.
      const known = configured.filter((candidate) => timingSafeEqual(candidate.hash, hash))[0];
      if (known !== undefined) return principal(known.id, known.org ?? config.organization, known.scopes);
      const id = keyIdOf(key);
      if (id === undefined) throw refused();
      await note(id, hash);
      const { doc } = await live(store, id, hash);
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
