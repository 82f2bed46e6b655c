import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authSettings, tokenVerifiers } from "../../src/platform/index.ts";
import { testCa } from "./test-pki.ts";

describe("a provider with a certificate of a private CA", () => {
  let dir = "";
  let server: Server;
  let issuer = "";
  let ca_file = "";
  let token: (claims: Record<string, unknown>) => Promise<string>;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "seneschal-oidc-"));
    const ca = await testCa("Private");
    ca_file = join(dir, "ca.pem");
    await writeFile(ca_file, ca.pem);
    const { cert, key } = await ca.issue("CN=localhost", { usage: "server" });
    const pair = await generateKeyPair("ES256");
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: "k", alg: "ES256" };
    server = createServer({ cert, key }, ({ url }, response) => {
      const answer = url === "/jwks" ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/jwks` };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    issuer = `https://localhost:${(server.address() as AddressInfo).port}`;
    token = (claims) =>
      new SignJWT({ sub: "ada", ...claims })
        .setProtectedHeader({ alg: "ES256", kid: "k" })
        .setIssuer(issuer)
        .setAudience("seneschal")
        .setIssuedAt()
        .setExpirationTime("5m")
        .sign(pair.privateKey);
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(dir, { recursive: true, force: true });
  });

  const verify = async (settings: object, claims: Record<string, unknown>) => {
    const config = authSettings.parse({ oidc: { enabled: true, issuer_url: issuer, client_id: "seneschal", ...settings } });
    const [verifier] = await tokenVerifiers(config, Date.now);
    return verifier?.verify(await token(claims));
  };

  it("is reached by auth.oidc.ca_file, and by nothing else", async () => {
    expect(await verify({ ca_file }, { org: "acme", roles: ["auditor"] })).toMatchObject({
      organization: "acme",
      roles: ["auditor"],
    });
    await expect(verify({}, { org: "acme" })).rejects.toMatchObject({ code: "service_unavailable" });
    await expect(verify({ ca_file: join(dir, "none") }, { org: "acme" })).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("says who somebody is in its own claims and words, which are translated; a word that is not known is refused, or is no role", async () => {
    const claims = {
      organization: "https://id.example/tenant",
      roles: "realm_access.roles",
      email: "upn",
      organizations: { "tenant-7": "acme" },
      role_names: { "seneschal-admins": "super_admin" },
    };
    const said = {
      "https://id.example/tenant": "tenant-7",
      realm_access: { roles: ["seneschal-admins", "super_admin", "offline_access"] },
      upn: "ada@acme.example",
      email_verified: true,
    };
    expect(await verify({ ca_file, claims }, said)).toMatchObject({
      organization: "acme",
      roles: ["super_admin"],
      email: "ada@acme.example",
    });
    for (const strange of [
      { "https://id.example/tenant": "tenant-8" },
      { org: "acme" },
      { "https://id.example/tenant": "__proto__" },
    ])
      await expect(verify({ ca_file, claims }, strange)).rejects.toMatchObject({ code: "invalid_token" });
    const none = await verify({ ca_file, claims }, { "https://id.example/tenant": "tenant-7", roles: ["super_admin"] });
    expect(none?.roles).toEqual([]);
  });
});
