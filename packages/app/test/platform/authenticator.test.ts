import { generateKeyPairSync } from "node:crypto";
import { staticKeys, tokenVerifier } from "@seneschal/adapters/jwt";
import type { Principal, Route, WireRequest } from "@seneschal/contract";
import { SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { authenticator } from "../../src/platform/index.ts";

const NOW = 1_700_000_000_000;
const [ours, theirs] = [generateKeyPairSync("ec", { namedCurve: "P-256" }), generateKeyPairSync("ec", { namedCurve: "P-256" })];
const verifier = (issuer: string, { publicKey }: typeof ours) =>
  tokenVerifier({
    issuer,
    keys: staticKeys(publicKey.export({ type: "spki", format: "pem" }).toString()),
    audiences: ["gateway"],
    clockSkewMs: 0,
    now: () => NOW,
  });
const token = (claims: object = {}, { privateKey } = ours) =>
  new SignJWT({ sub: "ada", iss: "https://jwt.test", aud: "gateway", exp: NOW / 1000 + 60, org: "o", ...claims })
    .setProtectedHeader({ alg: "ES256" })
    .sign(privateKey);

const tokens = {
  verifiers: [
    { ...verifier("https://jwt.test", ours), method: "jwt" as const },
    { ...verifier("https://oidc.test", theirs), method: "oidc" as const, requiredScopes: ["openid", "profile"] },
  ],
  principalOf: ({ subject, organization }: { subject: string; organization: string }, method: string): Principal => ({
    id: subject,
    type: "user",
    org: organization,
    roles: [],
    scopes: [],
    method,
  }),
};
const mtls = { required: false, isRevoked: () => false, principalOf: () => ({}) as Principal };

const ask = (options: object, authorization?: string, auth: Route["auth"] = "principal") =>
  authenticator({ now: () => NOW, ...options })(
    { headers: authorization === undefined ? {} : { authorization } } as unknown as WireRequest,
    { id: "r", route: { auth } as Route },
  );

describe("authentication by token", () => {
  test("a token is verified by the keys of its issuer", async () => {
    expect(await ask({ tokens }, `Bearer ${await token()}`)).toMatchObject({ id: "ada", org: "o", method: "jwt" });
    const other = await token({ iss: "https://oidc.test", scope: "openid profile" }, theirs);
    expect(await ask({ tokens }, `bearer ${other}`)).toMatchObject({ method: "oidc" });
  });

  test("an issuer's name with another issuer's key is refused", async () => {
    const forged = await token({ iss: "https://oidc.test", scope: "openid profile" }, ours);
    await expect(ask({ tokens }, `Bearer ${forged}`)).rejects.toMatchObject({ code: "invalid_token" });
  });

  test("an issuer that nobody knows is an invalid issuer", async () => {
    await expect(ask({ tokens }, `Bearer ${await token({ iss: "https://x.test" })}`)).rejects.toMatchObject({
      code: "invalid_issuer",
    });
  });

  test("a missing scope is forbidden, and named", async () => {
    const narrow = await token({ iss: "https://oidc.test", scope: "openid" }, theirs);
    await expect(ask({ tokens }, `Bearer ${narrow}`)).rejects.toMatchObject({
      code: "forbidden",
      details: { missing: ["profile"] },
    });
  });

  test.each(["Basic YWRhOng=", "Bearer", "Bearer a b", "Bearer ä", ""])("%j is no bearer token", async (header) => {
    await expect(ask({ tokens }, header)).rejects.toMatchObject({ code: "invalid_token", message: "invalid token" });
  });

  test("where tokens are not accepted they do not help", async () => {
    await expect(ask({ mtls }, `Bearer ${await token()}`)).rejects.toMatchObject({ code: "certificate_required" });
    const none = { tokens: { ...tokens, verifiers: [] } };
    await expect(ask(none, `Bearer ${await token()}`)).rejects.toMatchObject({ code: "invalid_token" });
  });
});

describe("without a credential", () => {
  test("a guarded route asks for a certificate, or for any credential where there are none", async () => {
    await expect(ask({ mtls, tokens })).rejects.toMatchObject({ code: "certificate_required", message: "certificate required" });
    await expect(ask({ tokens })).rejects.toMatchObject({ code: "unauthenticated" });
  });

  test("an optional route goes on without a principal", async () => {
    expect(await ask({ mtls, tokens }, undefined, "optional")).toBeUndefined();
    expect(await ask({ mtls: { ...mtls, required: true } }, undefined, "optional")).toBeUndefined();
  });

  test("a bad token is refused on an optional route too", async () => {
    await expect(ask({ tokens }, "Bearer x", "optional")).rejects.toMatchObject({ code: "invalid_token" });
  });

  test("where certificates are required a good token is not enough", async () => {
    const required = { mtls: { ...mtls, required: true }, tokens };
    await expect(ask(required, `Bearer ${await token()}`)).rejects.toMatchObject({ code: "certificate_required" });
  });
});
