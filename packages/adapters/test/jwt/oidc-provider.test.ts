import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { settableClock } from "@seneschal/adapters/memory";
import Provider from "oidc-provider";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oidcKeys, type TokenVerifier, tokenVerifier } from "../../src/jwt/index.ts";

let server: Server;
let issuer: string;

/** A real provider that gives out JWT access tokens for the client-credentials grant. */
beforeAll(async () => {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients: [
      { client_id: "app", client_secret: "s3cret", grant_types: ["client_credentials"], redirect_uris: [], response_types: [] },
    ],
    scopes: ["profile", "admin"],
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => "urn:gateway",
        getResourceServerInfo: () => ({ scope: "profile admin", accessTokenFormat: "jwt", jwt: { sign: { alg: "RS256" } } }),
      },
    },
    extraTokenClaims: () => ({ org: "org-a", roles: ["auditor"], sub: "robot" }),
  });
  server.on("request", provider.callback());
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

async function token(scope: string): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from("app:s3cret").toString("base64")}` },
    body: new URLSearchParams({ grant_type: "client_credentials", scope }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

const keysOf = (issuerUrl: string, now = Date.now) =>
  oidcKeys({ issuerUrl, clientId: "app", jwksRefreshMs: 86_400_000, allowHttp: true }, now);
const verifierOf = (issuerUrl: string, audiences = ["urn:gateway"]): TokenVerifier =>
  tokenVerifier({ keys: keysOf(issuerUrl).keys, issuer: issuerUrl, audiences, clockSkewMs: 30_000, now: Date.now });

describe("a real OpenID provider", () => {
  test("its tokens are accepted by keys found through discovery", async () => {
    const claims = await verifierOf(issuer).verify(await token("profile"));
    expect(claims).toMatchObject({ issuer, organization: "org-a", roles: ["auditor"], scopes: ["profile"] });
    expect(claims.audiences).toEqual(["urn:gateway"]);
  });

  test("discovery tells where to log in", async () => {
    expect(await keysOf(issuer).provider()).toMatchObject({
      issuer,
      tokenEndpoint: `${issuer}/token`,
      authorizationEndpoint: `${issuer}/auth`,
    });
  });

  test("its token for another audience is refused", async () => {
    await expect(verifierOf(issuer, ["urn:other"]).verify(await token("profile"))).rejects.toMatchObject({
      code: "invalid_token",
    });
  });

  test("a token that it did not sign is refused", async () => {
    const [header, payload] = (await token("profile")).split(".");
    const forged = `${header}.${payload}.${Buffer.alloc(256).toString("base64url")}`;
    await expect(verifierOf(issuer).verify(forged)).rejects.toMatchObject({
      code: "invalid_token",
      details: { reason: "signature" },
    });
  });
});

describe("a provider that is not there", () => {
  test("is unavailable, and not asked again for every request", async () => {
    const clock = settableClock(Date.now());
    const gone = "http://127.0.0.1:9";
    const keys = keysOf(gone, () => clock.now());
    const unavailable = { code: "service_unavailable", details: { retry_after: 5 } };
    await expect(keys.provider()).rejects.toMatchObject(unavailable);
    const again = await keys.provider().catch((error: Error) => error);
    expect(again).toMatchObject(unavailable);
    expect((again as Error).cause).toBeUndefined();
    clock.advance(5001);
    expect(((await keys.provider().catch((error: Error) => error)) as Error).cause).toBeDefined();
  });

  test("an issuer that speaks of another is not believed", async () => {
    const other = issuer.replace("127.0.0.1", "localhost");
    await expect(keysOf(other).provider()).rejects.toMatchObject({ code: "service_unavailable" });
  });
});
