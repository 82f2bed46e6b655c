import { type IdentityFetch, mtlsFetch } from "@seneschal/adapters/http";
import { staticKeys, tokenVerifier } from "@seneschal/adapters/jwt";
import { openLogger } from "@seneschal/adapters/logging";
import { openMemoryRates, openMemoryStore, settableClock } from "@seneschal/adapters/memory";
import { openMetrics } from "@seneschal/adapters/metrics";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import { systemRandom } from "@seneschal/adapters/system";
import { openEmbeddedVault, vaultCollections } from "@seneschal/adapters/vault";
import { dispatcher, type Hooks, type RunningServer, UndocumentedCode } from "@seneschal/contract";
import { unwatched } from "@seneschal/contract/testing";
import type { DocumentStore, Vault } from "@seneschal/kernel/ports";
import {
  type DevCredentials,
  type DevIssuer,
  devCredentials,
  devIssuer,
  type Gateway,
  type GatewayOptions,
  type GatewaySettings,
  gatewaySettings,
  openGateway,
  serverCertificate,
} from "../../src/gateway/index.ts";
import { checkHealth, rateLimiter, tokenVerifiers } from "../../src/platform/index.ts";
import { strictBackground } from "../platform/strict-background.ts";
import { checkUnsaid } from "../platform/watched-requests.ts";
import { openTestStore, testServer } from "./backend.ts";
import { gatewayWatch } from "./gateway-watch.ts";
import { threads } from "./threads.ts";

/** What a call came to. */
export interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
  readonly body: any;
  readonly headers: Headers;
  readonly text: string;
}

/** Somebody who calls: with a certificate, a token, or nothing. */
export type Caller = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

export interface Rig {
  readonly gateway: Gateway;
  readonly store: DocumentStore;
  readonly clock: ReturnType<typeof settableClock>;
  readonly issuer: DevIssuer;
  readonly dev: DevCredentials;
  readonly server: RunningServer;
  /** An admin of a role, over mTLS. */
  admin(org: string, role?: keyof DevCredentials["organizations"][string]["admins"]): Caller;
  /** A bearer of a token with these claims. */
  bearer(claims: {
    readonly sub: string;
    readonly org: string;
    readonly roles?: readonly string[];
    readonly scope?: string;
    readonly email?: string;
    readonly email_verified?: boolean;
  }): Caller;
  readonly anonymous: Caller;
  with(identity: { readonly cert: string; readonly key: string }): Caller;
  close(): Promise<void>;
}

export interface RigOptions {
  readonly settings?: GatewaySettings;
  /** Stays the caller's to close. */
  readonly store?: DocumentStore;
  readonly vault?: Vault;
  readonly issuer?: DevIssuer;
  readonly organizations?: readonly string[];
  readonly revocations?: GatewayOptions["revocations"];
  readonly observe?: Hooks["observe"];
  /** The time at its beginning; now unless said. */
  readonly began?: number;
  /** Closing it throws when a request that only reads wrote something, or one that changed something did not say so: gateway-watch.ts. */
  readonly watched?: true;
  /** Where the audit events go that `settings.audit.archive` lets go. */
  readonly archive?: GatewayOptions["archive"];
  readonly decisionsTold?: GatewayOptions["decisionsTold"];
}

/** A gateway over real sockets with mTLS, on the server and the store of this run, with two organisations whose admins are enrolled. */
export async function openRig(options: RigOptions = {}): Promise<Rig> {
  const clock = settableClock(options.began ?? Date.now());
  const log = openLogger({ level: "silent" });
  const metrics = openMetrics({ prefix: "gateway", version: "test" });
  const store = options.store ?? (await openTestStore());
  const issuer = options.issuer ?? devIssuer();
  const called = { instance_id: "seneschal", ...options.settings?.server };
  const config = gatewaySettings.parse({ rate_limit: generous, ...options.settings, server: called });
  const now = (): number => clock.now();
  const verifier = tokenVerifier({
    keys: staticKeys(issuer.publicKey),
    issuer: issuer.issuer,
    audiences: [issuer.audience],
    clockSkewMs: 30_000,
    now,
  });
  const gateway: Gateway = await openGateway({
    store: options.watched ? gatewayWatch.store(store) : store,
    vault: options.vault ?? (await memoryVault()),
    crypto: nodeCrypto,
    ...threads,
    clock,
    random: systemRandom,
    config,
    log,
    metrics,
    version: "test",
    background: strictBackground(log),
    health: () => checkHealth(gateway.checks ?? [], () => undefined),
    tokens: [{ ...verifier, method: "jwt" }, ...(await tokenVerifiers(config.auth, now))],
    ...(options.revocations === undefined ? {} : { revocations: options.revocations }),
    ...(options.archive === undefined ? {} : { archive: options.archive }),
    ...(options.decisionsTold === undefined ? {} : { decisionsTold: options.decisionsTold }),
  });
  /** Codes that an operation answered and its documents do not name. */
  const undocumented: unknown[] = [];
  const hooks: Hooks = {
    ...unwatched,
    onError: (error) => {
      if (error instanceof UndocumentedCode) undocumented.push(error.message);
    },
    ...gateway.hooks,
    now,
    requestId: () => Buffer.from(systemRandom(16)).toString("hex"),
    ...(options.observe && { observe: options.observe }),
    rateLimit: rateLimiter("gateway", gateway.limits, openMemoryRates(systemRandom), now),
  };
  const dev = await devCredentials(gateway.services, {
    organizations: options.organizations ?? ["acme", "globex"],
    issuer,
    now: now(),
  });
  const tls = await serverCertificate(gateway.services, { names: ["localhost", "127.0.0.1"], now: now() });
  /** What requests changed without saying so, or while they only read. */
  const unsaid = new Set<string>();
  const server = await testServer()(
    dispatcher(options.watched ? gatewayWatch.endpoints(gateway.endpoints(hooks), unsaid) : gateway.endpoints(hooks), hooks),
    {
      port: 0,
      tls: { cert: tls.cert, key: tls.key, ca: [tls.clientCa], requestCert: true },
    },
  );
  const open: IdentityFetch[] = [];
  const caller = (
    identity: { readonly cert?: string; readonly key?: string },
    fixed: () => Record<string, string> = () => ({}),
  ): Caller => {
    const http = mtlsFetch({ ca: tls.ca, ...identity });
    open.push(http);
    return async (method, path, body, headers = {}) => {
      const response = await http.fetch(`https://localhost:${server.port}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...fixed(), ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = response.headers.get("content-type")?.startsWith("application/json") === true && text !== "";
      return { status: response.status, body: json ? JSON.parse(text) : undefined, headers: response.headers, text };
    };
  };
  const byRole = new Map<string, Caller>();
  return {
    gateway,
    store,
    clock,
    issuer,
    dev,
    server,
    admin(org, role = "super_admin") {
      const admin = dev.organizations[org]?.admins[role];
      if (admin === undefined) throw new Error(`no ${role} of ${org}`);
      const known = byRole.get(admin.id) ?? caller({ cert: admin.certificate, key: admin.private_key });
      byRole.set(admin.id, known);
      return known;
    },
    bearer: (claims) => caller({}, () => ({ authorization: `Bearer ${issuer.token(claims, now())}` })),
    anonymous: caller({}),
    with: (identity) => caller(identity),
    async close() {
      await Promise.all(open.map((http) => http.close()));
      await server.close();
      await gateway.stop?.();
      if (options.store === undefined) await store.close();
      checkUnsaid(unsaid);
      if (undocumented.length > 0) throw new Error(`documents do not name: ${[...new Set(undocumented)].join("; ")}`);
    },
  };
}

export function memoryVault(): Promise<Vault> {
  return openEmbeddedVault({
    store: openMemoryStore({ collections: vaultCollections }),
    crypto: nodeCrypto,
    random: systemRandom,
    clock: settableClock(Date.now()),
    unseal: { kind: "key", key: systemRandom(32) },
  });
}

const generous = {
  authenticated: { limit: 1_000_000, window: "1m" },
  anonymous: { limit: 1_000_000, window: "1m" },
  guarded: { limit: 1_000_000, window: "1m" },
};
