import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CLIENT, logIn, type OpenidProvider, startProvider } from "../../../../tools/openid-provider.ts";
import { openRig, type Rig } from "./rig.ts";

describe("a login at an OpenID provider", () => {
  let own: OpenidProvider;
  let stranger: OpenidProvider;
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
    for (const provider of [own, stranger]) provider.close();
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
