import { randomUUID } from "node:crypto";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { checkOptions } from "@seneschal/kernel";
import type { CryptoProvider, Random } from "@seneschal/kernel/ports";
import { authRoutes, type EmulatorLogins } from "./auth-routes.ts";
import { kvRoutes } from "./kv-routes.ts";
import { pkiRoutes } from "./pki-routes.ts";
import { type Body, HttpFault, type Reply, type Route } from "./route.ts";
import { transitRoutes } from "./transit-routes.ts";

const MAX_BODY = 32 * 1024 * 1024;

/** A running emulator. */
export interface VaultEmulator {
  readonly address: string;
  readonly rootToken: string;
  /** Sealed: everything but health answers 503. */
  setSealed(sealed: boolean): void;
  close(): Promise<void>;
}

/**
 * Starts an HTTP server that speaks the part of the Vault interface that this project uses: transit, PKI, key-value (more of
 * them by `sys/mounts`), logins, health.
 * It is there for tests and for trying things out; its keys live in memory and die with it.
 *
 * @example
 * ```ts
 * import { nodeCrypto } from "@seneschal/adapters/node-crypto";
 * import { systemRandom } from "@seneschal/adapters/system";
 * import { startVaultEmulator } from "@seneschal/adapters/vault/emulator";
 * const emulator = await startVaultEmulator({ crypto: nodeCrypto, random: systemRandom, now: Date.now });
 * const answer = await fetch(`${emulator.address}/v1/sys/health`);
 * console.log(answer.status); // 200
 * await emulator.close();
 * ```
 */
export async function startVaultEmulator(options: {
  readonly crypto: CryptoProvider;
  readonly random: Random;
  readonly now: () => number;
  readonly rootToken?: string;
  readonly logins?: EmulatorLogins;
  /** Only calls that name this namespace are served. */
  readonly namespace?: string;
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca?: string };
}): Promise<VaultEmulator> {
  checkOptions("options", options, {
    crypto: "object",
    random: "function",
    now: "function",
    rootToken: "string?",
    logins: "object?",
    namespace: "string?",
    tls: "object?",
  });
  const { crypto, random, now, tls, namespace } = options;
  const rootToken = options.rootToken ?? `root-${Buffer.from(random(9)).toString("hex")}`;
  const auth = authRoutes({ rootToken, logins: options.logins ?? {}, random, now });
  const engines: Readonly<Record<string, (mount: string) => readonly Route[]>> = {
    transit: (mount) => transitRoutes({ mount, crypto, random, now }),
    kv: (mount) => kvRoutes({ mount, now }),
    pki: (mount) => pkiRoutes({ mount, crypto, random, now }),
  };
  const mounts = new Map<string, readonly Route[]>();
  const mount = (path: string, type: string): void => {
    const engine = engines[type];
    if (engine === undefined) throw new HttpFault(400, [`plugin not found in the catalog: ${type}`]);
    if (mounts.has(path)) throw new HttpFault(400, [`path is already in use at ${path}/`]);
    mounts.set(path, engine(path));
  };
  for (const [path, type] of [
    ["transit", "transit"],
    ["secret", "kv"],
    ["pki", "pki"],
  ] as const) {
    mount(path, type);
  }
  const own: readonly Route[] = [
    ...auth.routes,
    {
      method: "POST",
      path: "sys/mounts/:name",
      run: ({ name, body }) => {
        mount(name, String(body["type"]));
        return { status: 204 };
      },
    },
    {
      method: "DELETE",
      path: "sys/mounts/:name",
      run: ({ name }) => {
        mounts.delete(name);
        return { status: 204 };
      },
    },
  ];
  let sealed = false;

  const answer = async (request: IncomingMessage): Promise<Reply> => {
    const url = new URL(request.url ?? "/", "http://emulator");
    const path = url.pathname.replace(/^\/v1\//, "");
    const method = request.method === "PUT" ? "POST" : request.method;
    if (path === "sys/health") {
      return {
        status: sealed ? 503 : 200,
        plain: { initialized: true, sealed, standby: false, version: "emulator", server_time_utc: Math.floor(now() / 1000) },
      };
    }
    if (path === "sys/seal-status") return { plain: { initialized: true, sealed } };
    if (sealed) throw new HttpFault(503, ["Vault is sealed"]);
    if ((request.headers["x-vault-namespace"] ?? "") !== (namespace ?? "")) throw new HttpFault(404, ["no handler for route"]);
    const listing = method === "GET" && url.searchParams.get("list") === "true";
    const found = match([...own, ...[...mounts.values()].flat()], listing ? "LIST" : method, path);
    const token = String(request.headers["x-vault-token"] ?? request.headers.authorization?.replace(/^Bearer /, "") ?? "");
    if (found?.route.open !== true && !auth.accepts(token)) throw new HttpFault(403, ["permission denied"]);
    if (found === undefined) throw new HttpFault(404, ["no handler for route"]);
    const body = await readBody(request);
    const socket = request.socket as Partial<TLSSocket>;
    const name = socket.authorized === true ? socket.getPeerCertificate?.().subject.CN : undefined;
    return found.route.run({
      name: found.params["name"] ?? "",
      params: found.params,
      body,
      token,
      ...(typeof name === "string" ? { clientName: name } : {}),
    });
  };

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    answer(request)
      .then((reply) => send(response, reply))
      .catch((error: unknown) => sendFault(response, error));
  };
  const server =
    tls === undefined
      ? createHttpServer(listener)
      : createHttpsServer({ ...tls, requestCert: tls.ca !== undefined, rejectUnauthorized: false }, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    rootToken,
    setSealed(value) {
      sealed = value;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function match(routes: readonly Route[], method: string | undefined, path: string) {
  const segments = path.split("/").map(decodeURIComponent);
  for (const route of routes) {
    const pattern = route.path.split("/");
    if (route.method !== method || pattern.length !== segments.length) continue;
    if (!pattern.every((part, i) => part.startsWith(":") || part === segments[i])) continue;
    const params = Object.fromEntries(
      pattern.flatMap((part, i) => (part.startsWith(":") ? [[part.slice(1), segments[i] ?? ""]] : [])),
    );
    return { route, params: params as Readonly<Record<string, string>> };
  }
  return undefined;
}

async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MAX_BODY) throw new HttpFault(413, ["request body too large"]);
    chunks.push(chunk as Buffer);
  }
  if (size === 0) return {};
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Body;
  } catch {
    // Refused below.
  }
  throw new HttpFault(400, ["failed to parse JSON input"]);
}

function send(response: ServerResponse, reply: Reply): void {
  const status = reply.status ?? 200;
  if (status === 204) {
    response.writeHead(204).end();
    return;
  }
  if (reply.raw !== undefined) {
    response.writeHead(status, { "content-type": reply.raw.type }).end(reply.raw.bytes);
    return;
  }
  const envelope = {
    request_id: randomUUID(),
    lease_id: "",
    renewable: false,
    lease_duration: 0,
    data: reply.data ?? null,
    wrap_info: null,
    warnings: null,
    auth: reply.auth ?? null,
  };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(reply.plain ?? envelope));
}

/** A fault has its own status; a coded error of the engines is the caller's mistake; anything else is ours. */
function sendFault(response: ServerResponse, error: unknown): void {
  const fault =
    error instanceof HttpFault
      ? error
      : (error as { code?: unknown }).code !== undefined
        ? new HttpFault(400, [(error as Error).message])
        : new HttpFault(500, ["internal error"]);
  response.writeHead(fault.status, { "content-type": "application/json" }).end(JSON.stringify({ errors: fault.errors }));
}
