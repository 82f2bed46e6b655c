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
  /** By name; a role is good for the secret ids that were made for it. */
  const roles = new Map<string, { roleId: string; readonly secretIds: Set<string> }>();
  if (logins.approle !== undefined)
    roles.set("", { roleId: logins.approle.roleId, secretIds: new Set([logins.approle.secretId]) });
  const newId = (): string => Buffer.from(random(16)).toString("hex");
  const role = (name: string) => {
    const found = roles.get(name);
    if (found === undefined) throw new HttpFault(404, [`role ${name} does not exist`]);
    return found;
  };

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
        const found = [...roles.values()].find(({ roleId }) => roleId === body["role_id"]);
        return found?.secretIds.has(String(body["secret_id"])) === true ? grant() : refuse();
      },
    },
    // Every token may do everything: a policy is taken and not judged.
    { method: "POST", path: "sys/policies/acl/:name", run: () => ({ status: 204 }) },
    {
      method: "POST",
      path: "sys/auth/:name",
      run: ({ name, body }) => {
        if (name !== "approle" || body["type"] !== "approle")
          throw new HttpFault(400, ["the emulator enables approle, at approle, alone"]);
        return { status: 204 };
      },
    },
    {
      method: "POST",
      path: "auth/approle/role/:name",
      run: ({ name }) => {
        if (!roles.has(name)) roles.set(name, { roleId: newId(), secretIds: new Set() });
        return { status: 204 };
      },
    },
    {
      method: "GET",
      path: "auth/approle/role/:name/role-id",
      run: ({ name }) => ({ data: { role_id: role(name).roleId } }),
    },
    {
      method: "POST",
      path: "auth/approle/role/:name/role-id",
      run: ({ name, body }) => {
        role(name).roleId = String(body["role_id"]);
        return { status: 204 };
      },
    },
    {
      method: "POST",
      path: "auth/approle/role/:name/secret-id",
      run: ({ name }) => {
        const secretId = newId();
        role(name).secretIds.add(secretId);
        return { data: { secret_id: secretId, secret_id_accessor: "", secret_id_ttl: 0 } };
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
