import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

/** The client that every provider here knows. */
export const CLIENT = "urn:seneschal:gateway";
const REDIRECT = "https://console.example/callback";

export interface OpenidProvider {
  readonly issuer: string;
  close(): void;
}

/** An OpenID provider with a login page; whoever logs in works for the organisation behind the @. */
export async function startProvider(roles: readonly string[] = ["auditor"]): Promise<OpenidProvider> {
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
      roles,
    }),
  });
  server.on("request", provider.callback());
  return {
    issuer,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Logs somebody in as a browser does: authorization code with PKCE, login page, consent page, token. Answers the access token. */
export async function logIn(issuer: string, login: string, scope: string): Promise<string> {
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
