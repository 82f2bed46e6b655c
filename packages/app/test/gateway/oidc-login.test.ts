import { createHash, randomBytes } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openRig, type Rig } from "./rig.ts";

const CLIENT = "urn:seneschal:gateway";
const REDIRECT = "https://console.example/callback";

/** An OpenID provider with a login page; whoever logs in works for the organisation behind the @. */
async function startProvider(): Promise<{ readonly issuer: string; readonly server: Server }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT, token_endpoint_auth_method: "none", redirect_uris: [REDIRECT] }],
    scopes: ["openid", "profile"],
    cookies: { keys: ["test"] },
    features: {
      resourceIndicators: {
        enabled: true,
        defaultResource: () => CLIENT,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "openid profile",
          audience: CLIENT,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    extraTokenClaims: (_: unknown, token: { readonly accountId: string }) => ({
      org: token.accountId.split("@")[1],
      roles: ["auditor"],
    }),
  });
  server.on("request", provider.callback());
  return { issuer, server };
}

/** Logs somebody in as a browser does: authorization code with PKCE, login page, consent page, token. Answers the access token. */
async function logIn(issuer: string, login: string, scope: string): Promise<string> {
  const discovery = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
  const { authorization_endpoint, token_endpoint } = discovery as Record<string, string>;
  const verifier = randomBytes(32).toString("base64url");
  const question = new URLSearchParams({
    client_id: CLIENT,
    response_type: "code",
    redirect_uri: REDIRECT,
    scope,
    state: "s",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const jar = new Map<string, string>();
  let at = `${authorization_endpoint}?${question}`;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 12 && !at.startsWith(REDIRECT); step++) {
    const response = await fetch(at, {
      redirect: "manual",
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: form }),
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [name = "", value = ""] = cookie.split(";")[0]?.split("=") ?? [];
      jar.set(name, value);
    }
    const location = response.headers.get("location");
    form = undefined;
    if (location !== null) at = new URL(location, at).href;
    else {
      const page = await response.text();
      at = new URL(/action="([^"]+)"/.exec(page)?.[1] ?? "", at).href;
      const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1] ?? "";
      form = new URLSearchParams(prompt === "login" ? { prompt, login, password: "x" } : { prompt });
    }
  }
  const code = new URL(at).searchParams.get("code") ?? "";
  const answer = await fetch(token_endpoint ?? "", {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: CLIENT,
      code,
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

describe("a login at an OpenID provider", () => {
  let own: { readonly issuer: string; readonly server: Server };
  let stranger: typeof own;
  let rig: Rig;
  beforeAll(async () => {
    [own, stranger] = await Promise.all([startProvider(), startProvider()]);
    const oidc = {
      enabled: true,
      issuer_url: own.issuer,
      client_id: CLIENT,
      required_scopes: ["profile"],
      allow_http: true,
      max_age: "15m",
    };
    rig = await openRig({ settings: { auth: { oidc } } });
  });
  afterAll(async () => {
    await rig.close();
    for (const { server } of [own, stranger]) {
      server.closeAllConnections();
      server.close();
    }
  });

  const asked = (token: string) => rig.anonymous("GET", "/api/v1/audit?limit=1", undefined, { authorization: `Bearer ${token}` });

  it("begins at what the gateway says about itself, and opens what the claimed role may do, in the claimed organisation", async () => {
    const { body: config } = await rig.anonymous("GET", "/api/v1/sso-config");
    expect(config).toEqual({ issuer_url: own.issuer, client_id: CLIENT });
    const token = await logIn(config.issuer_url, "ada@acme", "openid profile");
    expect((await asked(token)).status).toBe(200);
    const refused = await rig.anonymous(
      "POST",
      "/api/v1/crk/generate",
      { total_shares: 3, threshold: 2 },
      { authorization: `Bearer ${token}` },
    );
    expect([refused.status, refused.body.error.code]).toEqual([403, "FORBIDDEN"]);
    const { body } = await rig.admin("acme")("GET", "/api/v1/audit?actor=ada@acme");
    expect(body.events[0]).toMatchObject({ actor_type: "user", result: "denied" });
    expect((await rig.admin("globex")("GET", "/api/v1/audit?actor=ada@acme")).body.total).toBe(0);
  });

  it("without a scope that is demanded opens nothing", async () => {
    const refused = await asked(await logIn(own.issuer, "ada@acme", "openid"));
    expect([refused.status, refused.body.error.code]).toEqual([403, "FORBIDDEN"]);
  });

  it("somewhere else is an invalid issuer", async () => {
    const refused = await asked(await logIn(stranger.issuer, "ada@acme", "openid profile"));
    expect([refused.status, refused.body.error.code, refused.body.error.message]).toEqual([
      401,
      "INVALID_ISSUER",
      "invalid issuer",
    ]);
  });

  it("ends a quarter of an hour after its token's issue, as configured, though the provider gave it longer", async () => {
    const token = await logIn(own.issuer, "ada@acme", "openid profile");
    const { exp, iat } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    expect(exp - iat).toBeGreaterThan(900);
    rig.clock.advance(14 * 60_000);
    expect((await asked(token)).status).toBe(200);
    rig.clock.advance(2 * 60_000);
    const refused = await asked(token);
    expect([refused.status, refused.body.error.message]).toEqual([401, "token expired"]);
  });
});
