import { generateKeyPairSync } from "node:crypto";
import { staticKeys, tokenVerifier } from "@seneschal/adapters/jwt";
import { expect, it } from "vitest";
import type { ConfiguredVerifier } from "../../src/platform/index.ts";
import { authenticator } from "../../src/scheduler/auth/authenticate.ts";
import { signJwt } from "./sign-jwt.ts";

const now = Date.parse("2026-01-01T12:00:00Z");

function issuer(name: string, requiredScopes: readonly string[] = []) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const keys = staticKeys(publicKey.export({ type: "spki", format: "pem" }) as string);
  const verifier: ConfiguredVerifier = {
    ...tokenVerifier({ keys, issuer: name, audiences: ["scheduler"], clockSkewMs: 0, now: () => now }),
    method: "oidc",
    requiredScopes,
  };
  const claims = { iss: name, aud: "scheduler", exp: now / 1000 + 60, org: "physics", roles: ["user"] };
  return { verifier, token: (more: object) => signJwt({ ...claims, ...more }, privateKey) };
}

it("one subject of two issuers is two users, and a token of one of them is never the other's", async () => {
  const [one, two] = [issuer("https://one.example"), issuer("https://two.example")];
  const authenticate = authenticator([], [one.verifier, two.verifier]);
  const who = async (token: string) => (await authenticate({ headers: { authorization: `Bearer ${token}` } }))?.id;
  expect(await who(one.token({ sub: "ada" }))).toBe("https://one.example#ada");
  expect(await who(two.token({ sub: "ada" }))).toBe("https://two.example#ada");
  await expect(who(two.token({ sub: "ada", iss: "https://one.example" }))).rejects.toMatchObject({ code: "invalid_token" });
  await expect(who(one.token({ sub: "a".repeat(250) }))).rejects.toMatchObject({ code: "unauthenticated" });
  const alone = authenticator([], [one.verifier]);
  expect((await alone({ headers: { authorization: `Bearer ${one.token({ sub: "ada" })}` } }))?.id).toBe("ada");
});

it("a token without a scope that its issuer's setting requires is refused", async () => {
  const { verifier, token } = issuer("https://one.example", ["openid", "jobs"]);
  const authenticate = authenticator([], [verifier]);
  const ask = (scope: string) => authenticate({ headers: { authorization: `Bearer ${token({ sub: "ada", scope })}` } });
  expect((await ask("jobs openid"))?.id).toBe("ada");
  for (const scope of ["", "openid", "jobsopenid"]) await expect(ask(scope)).rejects.toMatchObject({ code: "forbidden" });
});
