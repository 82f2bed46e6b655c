import type { Random } from "@seneschal/kernel/ports";
import { HttpFault, type Reply, type Route } from "./route.ts";

/** Who may log in to the emulator. */
export interface EmulatorLogins {
  readonly approle?: { readonly roleId: string; readonly secretId: string };
  readonly kubernetes?: { readonly role: string; readonly jwt: string };
  /** Common names of client certificates. */
  readonly cert?: readonly string[];
}

/** Seconds that a login's token lives. */
const LEASE_SECONDS = 3600;

/** The tokens of the emulator and the login paths that give them out. */
export function authRoutes(options: {
  readonly rootToken: string;
  readonly logins: EmulatorLogins;
  readonly random: Random;
  readonly now: () => number;
}) {
  const { rootToken, logins, random, now } = options;
  const tokens = new Map<string, number>([[rootToken, Number.POSITIVE_INFINITY]]);

  const grant = (): Reply => {
    const token = `s.${Buffer.from(random(18)).toString("base64url")}`;
    tokens.set(token, now() + LEASE_SECONDS * 1000);
    return {
      auth: {
        client_token: token,
        accessor: "",
        policies: ["default"],
        metadata: {},
        lease_duration: LEASE_SECONDS,
        renewable: true,
      },
    };
  };
  const refuse = (): never => {
    throw new HttpFault(400, ["invalid credentials"]);
  };

  const routes: readonly Route[] = [
    {
      method: "POST",
      path: "auth/approle/login",
      open: true,
      run: ({ body }) => {
        const { approle } = logins;
        const fits = approle !== undefined && body["role_id"] === approle.roleId && body["secret_id"] === approle.secretId;
        return fits ? grant() : refuse();
      },
    },
    {
      method: "POST",
      path: "auth/kubernetes/login",
      open: true,
      run: ({ body }) => {
        const { kubernetes } = logins;
        const fits = kubernetes !== undefined && body["role"] === kubernetes.role && body["jwt"] === kubernetes.jwt;
        return fits ? grant() : refuse();
      },
    },
    {
      method: "POST",
      path: "auth/cert/login",
      open: true,
      run: ({ clientName }) => (clientName !== undefined && logins.cert?.includes(clientName) === true ? grant() : refuse()),
    },
    {
      method: "POST",
      path: "auth/token/revoke-self",
      run: ({ token }) => {
        tokens.delete(token);
        return { status: 204 };
      },
    },
    {
      method: "GET",
      path: "auth/token/lookup-self",
      run: ({ token }) => {
        const until = tokens.get(token) ?? 0;
        return { data: { ttl: Number.isFinite(until) ? Math.floor((until - now()) / 1000) : 0, policies: ["default"] } };
      },
    },
  ];
  return { routes, accepts: (token: string): boolean => (tokens.get(token) ?? 0) > now() };
}
