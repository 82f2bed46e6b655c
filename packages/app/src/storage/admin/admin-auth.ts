import { createHash, timingSafeEqual } from "node:crypto";
import { type AuthoriseInput, otherSite, type Principal, type WireRequest } from "@seneschal/contract";
import { adminRolesOf, storageError } from "@seneschal/core/storage";
import { CodedError } from "@seneschal/kernel";
import { type Authorisation, questionOf } from "../../platform/index.ts";
import type { StorageContext } from "../context.ts";
import type { CertificateCheck } from "../grpc/authenticate-peer.ts";

const adminRoles = ["cluster-admin", "sre-on-call", "sre-incident-response"] as const;
type AdminRole = (typeof adminRoles)[number];

/** A configured bearer token, by the SHA-256 of its text in hex. */
export interface AdminToken {
  readonly id: string;
  readonly role: AdminRole;
  readonly sha256: string;
}

/** What a signed-in browser holds: the cookie's value, and the token that changes need beside it. */
export interface BrowserSession {
  readonly cookie: string;
  readonly csrf: string;
  readonly principal: Principal;
}

export interface AdminAuth {
  authenticate(wire: Pick<WireRequest, "method" | "headers" | "peer" | "remoteAddress">): Promise<Principal | undefined>;
  authorise(input: AuthoriseInput): Promise<void>;
  /** Throws `AuthenticationFailed`. */
  signIn(token: string, request: Pick<WireRequest, "headers" | "secure">): BrowserSession;
  session(headers: WireRequest["headers"]): BrowserSession | undefined;
  signOut(headers: WireRequest["headers"]): void;
}

export const sessionCookie = "seneschal_session";
const sessionMs = 12 * 3_600_000;
const maxSessions = 1000;

/**
 * Authenticates admins by bearer token, by a client certificate whose OU is `storage-admin`, or by a browser session.
 * Without any configured credential nobody gets in.
 */
export function createAdminAuth(
  context: StorageContext,
  {
    tokens,
    authorisation,
    peers,
  }: {
    readonly tokens: readonly AdminToken[];
    readonly authorisation: Authorisation;
    /** Judges client certificates. */
    readonly peers: Pick<CertificateCheck, "identify">;
  },
): AdminAuth {
  const known = tokens.map((token) => ({ ...token, hash: Buffer.from(token.sha256, "hex") }));
  const sessions = new Map<string, { readonly session: BrowserSession; readonly until: number }>();
  const alarms = new Map<string, number>();

  const failed = (reason: string): CodedError => {
    context.metrics.authFailures.inc({ surface: "admin", reason });
    const now = context.clock.now();
    if (now - (alarms.get(reason) ?? Number.NEGATIVE_INFINITY) >= 10_000) {
      alarms.set(reason, now);
      context.emit("warning", "security", "AuthenticationFailed on the admin interface", { reason });
    }
    return storageError("AuthenticationFailed", "the credential is not valid");
  };

  const byToken = (text: string): Principal => {
    const hash = createHash("sha256").update(text).digest();
    // Every token is compared, so that the time says nothing about which.
    const found = known.filter((candidate) => timingSafeEqual(candidate.hash, hash))[0];
    if (found === undefined) throw failed("token");
    return principal(found.id, [found.role], "token");
  };

  const byCertificate = async (peer: NonNullable<WireRequest["peer"]>, address: string): Promise<Principal> => {
    const { name, units } = await peers.identify({ address, certificate: peer });
    return principal(name, adminRolesOf(units), "mtls");
  };

  const cookieOf = (headers: WireRequest["headers"]): string | undefined =>
    (headers["cookie"] ?? "")
      .split(";")
      .map((pair) => pair.trim().split("="))
      .find(([name]) => name === sessionCookie)?.[1];

  const session: AdminAuth["session"] = (headers) => {
    const cookie = cookieOf(headers);
    const found = cookie === undefined ? undefined : sessions.get(digest(cookie));
    return found !== undefined && found.until > context.clock.now() ? found.session : undefined;
  };

  return {
    session,
    async authenticate({ method, headers, peer, remoteAddress }) {
      const header = headers["authorization"];
      if (header !== undefined) {
        const token = /^Bearer ([\x21-\x7e]{1,1024})$/i.exec(header)?.[1];
        if (token === undefined) throw failed("malformed");
        return byToken(token);
      }
      const signedIn = session(headers);
      if (signedIn !== undefined) {
        if (method !== "GET" && method !== "HEAD") checkOwnPage(headers, signedIn.csrf);
        return signedIn.principal;
      }
      return peer === undefined ? undefined : byCertificate(peer, remoteAddress);
    },
    async authorise(input) {
      const decision = await authorisation.decide(questionOf(input), input.now);
      if (decision.allowed) return;
      if (input.principal === undefined) throw new CodedError("unauthenticated", decision.reason);
      context.metrics.authFailures.inc({ surface: "admin", reason: "role" });
      throw storageError("ClusterAdminAccessDenied", decision.reason);
    },
    signIn(token, request) {
      if (otherSite(request) !== undefined) throw notOurPage();
      const made: BrowserSession = {
        cookie: Buffer.from(context.random(32)).toString("base64url"),
        csrf: Buffer.from(context.random(32)).toString("base64url"),
        principal: byToken(token),
      };
      const now = context.clock.now();
      for (const [key, { until }] of sessions) if (until <= now || sessions.size >= maxSessions) sessions.delete(key);
      sessions.set(digest(made.cookie), { session: made, until: now + sessionMs });
      return made;
    },
    signOut(headers) {
      const cookie = cookieOf(headers);
      if (cookie !== undefined) sessions.delete(digest(cookie));
    },
  };

  /** A change by cookie comes from our own page, which has its token; that no other site sent it is known before. */
  function checkOwnPage(headers: WireRequest["headers"], csrf: string): void {
    const given = headers["x-csrf-token"] ?? "";
    if (timingSafeEqual(Buffer.from(digest(given)), Buffer.from(digest(csrf)))) return;
    throw notOurPage();
  }

  function notOurPage() {
    context.metrics.authFailures.inc({ surface: "admin", reason: "csrf" });
    return storageError("ClusterAdminAccessDenied", "the request does not come from this dashboard");
  }
}

function principal(id: string, roles: readonly string[], method: string): Principal {
  return { id, type: "admin", org: "cluster", roles, scopes: [], method };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
