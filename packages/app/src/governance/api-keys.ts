import { hash, randomUUID } from "node:crypto";
import type { KeyHolder } from "@seneschal/governance";
import type { JsonObject } from "@seneschal/kernel";
import { checkArgument } from "@seneschal/kernel";
import type { DocumentStore, Random, Stored } from "@seneschal/kernel/ports";
import { auditOf, type Who } from "./audit/event.ts";
import { lostRace, notFound } from "./fault.ts";

/** An API key as it is kept: the secret only as its SHA-256 (it is random, so that no slow hash is needed). */
export interface ApiKeyDoc {
  readonly id: string;
  readonly org: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** Whom the key was made for: it speaks for nobody else. */
  readonly user_id?: string;
  /** Keys that were shown its secret, now or before: whoever made and whoever rotated it. */
  readonly issuers?: readonly string[];
  readonly hash: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

/** A key with its secret, shown once. */
export interface IssuedKey extends ApiKeyDoc {
  readonly api_key: string;
}

const DAY = 86_400_000;

/** The SHA-256 of a whole key, in lower-case hex. */
export function hashKey(key: string): string {
  return hash("sha256", key);
}

/** The id inside a key of the form `sgk_<id>_<secret>`. */
export function keyIdOf(key: string): string | undefined {
  return /^sgk_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/.exec(key)?.[1];
}

function newSecret(id: string, random: Random): string {
  return `sgk_${id}_${Buffer.from(random(32)).toString("base64url")}`;
}

/** Creates a key and records it. Used by the route and by the command line. */
export async function createApiKey(
  given: { readonly store: DocumentStore; readonly random: Random },
  request: {
    readonly org: string;
    readonly name: string;
    readonly scopes: readonly string[];
    readonly userId?: string | undefined;
    readonly expiresInDays?: number;
  },
  by: Who,
): Promise<IssuedKey> {
  checkArgument("given", given, "object");
  checkArgument("request", request, "object");
  checkArgument("by", by, "object");
  const { store, random } = given;
  const id = Buffer.from(random(6)).toString("hex");
  const api_key = newSecret(id, random);
  const doc: ApiKeyDoc = {
    id,
    org: request.org,
    name: request.name,
    scopes: [...request.scopes],
    ...(request.userId === undefined ? {} : { user_id: request.userId }),
    issuers: by.apiKey === undefined ? [] : [by.apiKey],
    hash: hashKey(api_key),
    created_at: new Date(by.now).toISOString(),
    expires_at: request.expiresInDays === undefined ? null : new Date(by.now + request.expiresInDays * DAY).toISOString(),
    last_used_at: null,
    revoked_at: null,
  };
  const result = await store.commit({
    commitId: randomUUID(),
    puts: [{ coll: "api_keys", id, doc: doc as unknown as JsonObject, ifVersion: 0 }],
    audit: [
      auditOf(by, {
        operation: "APIKEY_CREATE",
        resource: `api-key/${id}`,
        reasoning: `key created with scopes ${doc.scopes.join(", ")}`,
      }),
    ],
  });
  if (!result.ok) throw lostRace();
  return { ...doc, api_key };
}

/** Gives a key a new secret; the old one stops with the same commit. */
export async function rotateApiKey(
  deps: { readonly store: DocumentStore; readonly random: Random },
  id: string,
  by: Who,
): Promise<IssuedKey> {
  checkArgument("deps", deps, "object");
  checkArgument("id", id, "string");
  checkArgument("by", by, "object");
  const stored = await liveKey(deps.store, id, by.org);
  const api_key = newSecret(id, deps.random);
  const before = keyDoc(stored);
  const issuers = [...new Set([...(before.issuers ?? []), ...(by.apiKey === undefined ? [] : [by.apiKey])])];
  const doc: ApiKeyDoc = { ...before, issuers, hash: hashKey(api_key), last_used_at: null };
  await change(deps.store, stored, doc, by, "APIKEY_ROTATE", "key rotated");
  return { ...doc, api_key };
}

/** Revokes a key for good. */
export async function revokeApiKey(store: DocumentStore, id: string, by: Who): Promise<void> {
  checkArgument("store", store, "object");
  checkArgument("id", id, "string");
  checkArgument("by", by, "object");
  const stored = await liveKey(store, id, by.org);
  await change(
    store,
    stored,
    { ...keyDoc(stored), revoked_at: new Date(by.now).toISOString() },
    by,
    "APIKEY_REVOKE",
    "key revoked",
  );
}

export function keyDoc(stored: Stored): ApiKeyDoc {
  return stored.doc as unknown as ApiKeyDoc;
}

/** Who holds a key, by its record and those of the keys behind it. A key of the configuration has none: an operator made it. */
export async function holderOf(store: DocumentStore, id: string): Promise<KeyHolder> {
  const seen = new Set<string>();
  const next = [id];
  let person: string | undefined;
  let unrecorded: string | undefined;
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    if (seen.has(at)) continue;
    seen.add(at);
    const stored = await store.get("api_keys", at);
    if (stored === undefined) continue;
    const { issuers, user_id } = keyDoc(stored);
    if (at === id) person = user_id;
    if (issuers === undefined) unrecorded = at;
    next.push(...(issuers ?? []));
  }
  seen.delete(id);
  return { id, person, issuers: seen, unrecorded };
}

async function liveKey(store: DocumentStore, id: string, org: string): Promise<Stored> {
  const stored = await store.get("api_keys", id);
  if (stored === undefined || keyDoc(stored).org !== org || keyDoc(stored).revoked_at !== null) throw notFound(id);
  return stored;
}

async function change(
  store: DocumentStore,
  before: Stored,
  doc: ApiKeyDoc,
  by: Who,
  operation: string,
  reasoning: string,
): Promise<void> {
  const result = await store.commit({
    commitId: randomUUID(),
    puts: [{ coll: "api_keys", id: before.id, doc: doc as unknown as JsonObject, ifVersion: before.version }],
    audit: [auditOf(by, { operation, resource: `api-key/${before.id}`, reasoning })],
  });
  if (!result.ok) throw lostRace();
}
