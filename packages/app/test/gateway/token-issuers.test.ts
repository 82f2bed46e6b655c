import { openMemoryStore } from "@seneschal/adapters/memory";
import { describe, expect, it } from "vitest";
import { principalOfToken, tokenIssuers } from "../../src/gateway/access/principals.ts";
import { reader } from "../../src/gateway/ground/store/reader.ts";
import { gatewaySchema, gatewaySettings } from "../../src/gateway/index.ts";

const JWT = "https://jwt.example";
const OIDC = "https://oidc.example";
const settings = (auth: object) =>
  gatewaySettings.parse({
    server: { instance_id: "seneschal" },
    auth,
    sso: { providers: [{ id: "okta" }, { id: "house", issuer: JWT }] },
  });
const jwt = { enabled: true, issuer: JWT, public_key: "unread.pem", audiences: ["gateway"] };
const oidc = { enabled: true, issuer_url: OIDC, client_id: "gateway" };

async function asked(auth: object) {
  const store = openMemoryStore(gatewaySchema);
  const issuers = tokenIssuers(settings(auth));
  return {
    known: (id: string, sso_provider: string, sso_subject: string, active = true) =>
      store.commit({
        commitId: id,
        puts: [{ coll: "users", id, doc: { id, org_id: "acme", email: "", sso_provider, sso_subject, active, created_at: "" } }],
      }),
    who: async (issuer: string, subject: string) => {
      const claims = { subject, issuer, audiences: [], organization: "acme", roles: [], scopes: [], expiresAt: 1 };
      return (await principalOfToken(reader(store), claims, issuer === JWT ? "jwt" : "oidc", 0, issuers)).id;
    },
  };
}

describe("a person is known by issuer and subject", () => {
  it("one subject of two issuers is two identities, registered or not", async () => {
    const { known, who } = await asked({ jwt, oidc });
    expect(await who(JWT, "ada")).not.toBe(await who(OIDC, "ada"));
    await known("user-1", "okta", "ada");
    expect([await who(OIDC, "ada"), await who(JWT, "ada")]).toEqual(["user-1", `${JWT}#ada`]);
    await known("user-2", "house", "ada");
    expect([await who(OIDC, "ada"), await who(JWT, "ada")]).toEqual(["user-1", "user-2"]);
  });

  it("who was removed is refused at their issuer, and everywhere once nobody can tell which that was", async () => {
    const { known, who } = await asked({ jwt, oidc });
    await known("user-1", "okta", "ada", false);
    await expect(who(OIDC, "ada")).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await who(JWT, "ada")).toBe(`${JWT}#ada`);
    await known("user-2", "gone", "bob", false);
    for (const issuer of [JWT, OIDC]) await expect(who(issuer, "bob")).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  it("where there is one issuer, a subject is its identity, and a record of any provider is the person's", async () => {
    for (const [auth, issuer] of [
      [{ jwt }, JWT],
      [{ oidc }, OIDC],
    ] as const) {
      const { known, who } = await asked(auth);
      expect(await who(issuer, "ada")).toBe("ada");
      await known("user-1", "okta", "ada");
      expect(await who(issuer, "ada")).toBe("user-1");
    }
  });
});
