import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { checkOptions } from "@seneschal/kernel";
import { vaultError } from "./vault-error.ts";

/** How the client proves itself. */
export type VaultAuth =
  | { readonly kind: "token"; readonly token: string }
  /** `secretId` is asked for at every login: operators replace it. */
  | { readonly kind: "approle"; readonly roleId: string; readonly secretId: () => Promise<string>; readonly mount?: string }
  /** `jwt` is read at every login: Kubernetes rotates it. */
  | { readonly kind: "kubernetes"; readonly role: string; readonly jwt: () => Promise<string>; readonly mount?: string }
  | { readonly kind: "cert"; readonly name?: string; readonly mount?: string };

export interface VaultConnectionOptions {
  /** For example `https://vault.example:8200`. */
  readonly address: string;
  readonly auth: VaultAuth;
  readonly namespace?: string;
  /** PEM of the CA that signed the server's certificate. */
  readonly ca?: string;
  /** PEM of the client's certificate and key, for the cert login. */
  readonly cert?: string;
  readonly key?: string;
  /** Milliseconds for one request. Default 10,000. */
  readonly timeout?: number;
  /** Resolves names instead of the host's resolver. */
  readonly lookup?: LookupFunction;
  /** Milliseconds since the epoch; tells when a login must be renewed. */
  readonly now: () => number;
}

/** An answer of the server: status and parsed body; raw bytes where the body is not JSON. */
export interface VaultAnswer {
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly errors: readonly string[];
  readonly raw: Buffer;
}

/** Calls the HTTP interface, logging in when needed. */
export interface VaultConnection {
  /** Sends `body` as JSON. Never throws for a status of the server; throws `vault_unavailable` when there is no answer or no login. */
  call(method: "GET" | "POST" | "DELETE" | "PATCH", path: string, body?: object): Promise<VaultAnswer>;
  /** Lists keys: `GET ?list=true`, because Node's servers refuse the LIST method. An empty list is a 404 there. */
  list(path: string): Promise<readonly string[]>;
  close(): void;
}

interface Login {
  readonly token: string;
  /** Milliseconds; infinite for a token that was given. */
  readonly until: number;
}

const MAX_ANSWER = 32 * 1024 * 1024;

/**
 * Opens a connection with keep-alive. Logs in before the first call, again when four fifths of the lease are over, and
 * once more when the server refuses the token. Tokens appear in no error.
 */
export function connectVault(options: VaultConnectionOptions): VaultConnection {
  checkOptions("options", options, {
    address: "string",
    auth: "object",
    namespace: "string?",
    ca: "string?",
    cert: "string?",
    key: "string?",
    timeout: "number?",
    lookup: "function?",
    now: "function",
  });
  const base = new URL(options.address);
  const secure = base.protocol === "https:";
  const tls = {
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...(options.cert === undefined ? {} : { cert: options.cert }),
    ...(options.key === undefined ? {} : { key: options.key }),
  };
  const pool = { keepAlive: true, maxSockets: 32, ...(options.lookup === undefined ? {} : { lookup: options.lookup }) };
  const agent = secure ? new HttpsAgent({ ...pool, ...tls }) : new HttpAgent(pool);
  let login: Promise<Login> | undefined;

  const send = (method: string, path: string, token: string | undefined, body: object | undefined): Promise<VaultAnswer> =>
    new Promise((resolve, reject) => {
      const failed = (cause: Error) => reject(vaultError("vault_unavailable", "the vault does not answer", {}, cause));
      const payload = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const request = (secure ? httpsRequest : httpRequest)(
        new URL(`/v1/${path}`, base),
        {
          method,
          agent,
          headers: {
            "x-vault-request": "true",
            ...(token === undefined ? {} : { "x-vault-token": token }),
            ...(options.namespace === undefined ? {} : { "x-vault-namespace": options.namespace }),
            ...(payload === undefined ? {} : { "content-type": "application/json", "content-length": payload.length }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          let size = 0;
          response.on("data", (chunk: Buffer) => {
            size += chunk.length;
            if (size > MAX_ANSWER) response.destroy(new Error("answer too large"));
            else chunks.push(chunk);
          });
          response.on("error", failed);
          response.on("end", () => resolve(parseAnswer(response.statusCode ?? 0, Buffer.concat(chunks))));
        },
      );
      request.setTimeout(options.timeout ?? 10_000, () => request.destroy(new Error("time-out")));
      request.on("error", failed);
      request.end(payload);
    });

  const authenticate = async (): Promise<Login> => {
    const { auth } = options;
    if (auth.kind === "token") return { token: auth.token, until: Number.POSITIVE_INFINITY };
    const mount = `auth/${auth.mount ?? auth.kind}/login`;
    const body =
      auth.kind === "approle"
        ? { role_id: auth.roleId, secret_id: await auth.secretId() }
        : auth.kind === "kubernetes"
          ? { role: auth.role, jwt: await auth.jwt() }
          : auth.name === undefined
            ? {}
            : { name: auth.name };
    const started = options.now();
    const answer = await send("POST", mount, undefined, body);
    const granted = (JSON.parse(answer.raw.toString() || "{}") as { auth?: { client_token?: unknown; lease_duration?: unknown } })
      .auth;
    if (answer.status !== 200 || typeof granted?.client_token !== "string") {
      throw vaultError("vault_unavailable", `the vault refused the ${auth.kind} login`, { status: answer.status });
    }
    const seconds = Number(granted.lease_duration ?? 0);
    return { token: granted.client_token, until: seconds > 0 ? started + seconds * 800 : Number.POSITIVE_INFINITY };
  };

  /** The current login; concurrent callers share one. A failed one is forgotten, so that the next call tries again. */
  const session = async (refused?: Login): Promise<Login> => {
    const current = login === undefined ? undefined : await login.catch(() => undefined);
    if (current !== undefined && current !== refused && options.now() < current.until) return current;
    const attempt = authenticate();
    login = attempt;
    return attempt;
  };

  const call: VaultConnection["call"] = async (method, path, body) => {
    const first = await session();
    const answer = await send(method, path, first.token, body);
    if (answer.status !== 403 || options.auth.kind === "token") return answer;
    return send(method, path, (await session(first)).token, body);
  };

  return {
    call,
    async list(path) {
      const answer = await call("GET", `${path}?list=true`);
      if (answer.status === 404) return [];
      demandSuccess(answer);
      return (answer.data["keys"] as readonly string[] | undefined) ?? [];
    },
    close: () => agent.destroy(),
  };
}

/** Throws `vault_unavailable` for an answer that is no success and that the caller has no better name for. */
export function demandSuccess(answer: VaultAnswer): VaultAnswer {
  if (answer.status >= 200 && answer.status < 300) return answer;
  const why = answer.status === 403 ? "the vault denies the call" : "the vault did not do it";
  throw vaultError("vault_unavailable", why, { status: answer.status });
}

function parseAnswer(status: number, raw: Buffer): VaultAnswer {
  let parsed: { data?: unknown; errors?: unknown } = {};
  try {
    const value: unknown = raw.length === 0 ? {} : JSON.parse(raw.toString());
    if (typeof value === "object" && value !== null) parsed = value;
  } catch {
    // DER, PEM: the caller reads `raw`.
  }
  return {
    status,
    raw,
    data: (parsed.data ?? {}) as Readonly<Record<string, unknown>>,
    errors: Array.isArray(parsed.errors) ? parsed.errors.map(String) : [],
  };
}
