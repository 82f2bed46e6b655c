import { createHash, timingSafeEqual } from "node:crypto";
import { claimedIssuer } from "@seneschal/adapters/jwt";
import type { Principal, WireRequest } from "@seneschal/contract";
import { CodedError } from "@seneschal/kernel";
import { ROLES, type Role } from "@seneschal/quota";
import type { ConfiguredVerifier } from "../../platform/index.ts";

/** A bearer token that is known by its hash. */
export interface OpaqueToken {
  readonly id: string;
  readonly role: Role;
  readonly tenant: string;
  readonly sha256: string;
}

/**
 * Who calls, from the bearer token alone: a JWT of a configured issuer, or an opaque token that is configured by its
 * hash. Headers and bodies that name a user are never believed. A user is known by issuer and subject (OpenID Connect Core, section 5.7): where
 * several issuers are trusted, as `<issuer>#<subject>`.
 */
export function authenticator(
  tokens: readonly OpaqueToken[],
  verifiers: readonly ConfiguredVerifier[],
): (wire: Pick<WireRequest, "headers">) => Promise<Principal | undefined> {
  const known = tokens.map((token) => ({ ...token, hash: Buffer.from(token.sha256, "hex") }));
  return async ({ headers }) => {
    const header = headers["authorization"];
    if (header === undefined) return undefined;
    const token = /^Bearer ([A-Za-z0-9._~+/=-]{1,8192})$/i.exec(header)?.[1];
    if (token === undefined) throw new CodedError("unauthenticated", "expected a bearer token");
    const hash = createHash("sha256").update(token).digest();
    // every hash is compared, so that the time says nothing
    const found = known.filter((candidate) => timingSafeEqual(candidate.hash, hash))[0];
    if (found !== undefined)
      return {
        id: found.id,
        type: found.role === "agent" ? "device" : found.role === "user" || found.role === "tenant-admin" ? "user" : "service",
        org: found.tenant,
        roles: [found.role],
        scopes: [],
        method: "token",
      };
    const issuer = claimedIssuer(token);
    const verifier = verifiers.find((candidate) => candidate.issuer === issuer) ?? verifiers[0];
    if (verifier === undefined) throw new CodedError("unauthenticated", "invalid token");
    const claims = await verifier.verify(token);
    const missing = (verifier.requiredScopes ?? []).filter((scope) => !claims.scopes.includes(scope));
    if (missing.length > 0) throw new CodedError("forbidden", "the token lacks a required scope", { missing });
    const several = verifiers.some((other) => other.issuer !== verifier.issuer);
    const id = several ? `${claims.issuer}#${claims.subject}` : claims.subject;
    if (id.length > 256) throw new CodedError("unauthenticated", "the token's subject is no name");
    return {
      id,
      type: "user",
      org: claims.organization,
      // A word that is no role counts for nothing: nobody is a user for being authenticated alone.
      roles: claims.roles.filter((role) => role !== "peer" && (ROLES as readonly string[]).includes(role)),
      scopes: claims.scopes,
      method: "jwt",
    };
  };
}
