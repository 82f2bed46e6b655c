import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gatewayContract } from "@seneschal/contract/gateway";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { devIssuer, gatewaySettings } from "../../src/gateway/index.ts";
import type { RateLimits } from "../../src/platform/index.ts";
import { type Answer, type Caller, openRig, type Rig } from "./rig.ts";

const base = "/api/v1/identities/services";
const hour = 3_600_000;
const told = (answer: Answer): readonly [number, string] => [answer.status, answer.body?.error?.code];
const cluster = devIssuer(undefined, "https://cluster.example", "seneschal");

describe("services", () => {
  let rig: Rig;
  const folder = mkdtempSync(join(tmpdir(), "seneschal-orchestrator-"));
  beforeAll(async () => {
    const public_key = join(folder, "cluster.pem");
    writeFileSync(public_key, cluster.publicKey);
    const orchestrator = { issuer: cluster.issuer, public_key, namespaces: { prod: "acme" } };
    rig = await openRig({ settings: { services: { orchestrator, overlap: "1h" } } });
  });
  afterAll(async () => {
    await rig.close();
    rmSync(folder, { recursive: true });
  });

  const create = (name: string, auth_method: string): Promise<Answer> =>
    rig.admin("acme")("POST", base, { name, auth_method, description: "d" });
  const bearer =
    (token: string): Caller =>
    (method, path, body) =>
      rig.anonymous(method, path, body, { authorization: `Bearer ${token}` });
  const secret = ({ role_id, secret_id }: { role_id: string; secret_id: string }): Caller =>
    bearer(`sens_${role_id}.${secret_id}`);
  const account = (sub: string, at = rig.clock.now()): Caller => bearer(cluster.token({ sub, org: "ignored" }, at));
  const whoami = (caller: Caller): Promise<Answer> => caller("GET", "/api/v1/activity");

  it("a service, and everybody's batches, have limits of their own: what encrypts for others does not starve at what a person needs", () => {
    const { rate_limit } = gatewaySettings.parse({ server: {} });
    expect(rate_limit.service.limit).toBeGreaterThanOrEqual(100 * 60);
    expect(rate_limit.authenticated).toEqual({ limit: 1200, window: 60_000 });
    const routes = (rig.gateway.limits as RateLimits).batch?.routes ?? [];
    expect([...routes].sort()).toEqual(
      Object.keys(gatewayContract)
        .filter((id) => /batch/i.test(id))
        .sort(),
    );
    expect(Object.keys((rig.gateway.limits as RateLimits).ofType ?? {}).sort()).toEqual(["partner", "service"]);
  });

  // First: TLS itself goes by the real clock, which this test moves away from.
  it("a certificate `{name}.internal.local` authenticates until it was rotated out or the service is removed", async () => {
    const { body } = await create("mailer", "cert");
    expect(body.credentials.common_name).toBe("mailer.internal.local");
    const withCertificate = (credentials: { certificate: string; private_key: string; ca_chain: string[] }): Caller =>
      rig.with({ cert: credentials.certificate + credentials.ca_chain[0], key: credentials.private_key });
    const old = withCertificate(body.credentials);
    expect((await whoami(old)).body.actor).toBe(body.id);
    const { body: rotated } = await rig.admin("acme")("POST", `${base}/${body.id}/rotate`);
    const fresh = withCertificate(rotated.credentials);
    expect((await whoami(old)).status).toBe(200);
    rig.clock.set(rig.clock.now() + hour);
    await rig.gateway.sweep(rig.clock.now());
    expect((await whoami(old)).status).toBe(401);
    expect((await whoami(fresh)).status).toBe(200);
    expect((await rig.admin("acme")("DELETE", `${base}/${body.id}`)).status).toBe(204);
    expect((await whoami(fresh)).status).toBe(401);
  });

  it("a role credential is shown once, kept hashed, and stands for the service and no role", async () => {
    const created = await create("billing", "approle");
    expect(created.status, created.text).toBe(201);
    expect(created.body).toMatchObject({ auth_method: "role_credential", active: true, last_auth_at: null });
    const { credentials, id } = created.body;
    expect((await rig.admin("acme")("GET", `${base}/${id}`)).body).not.toHaveProperty("credentials");
    expect(JSON.stringify(await rig.store.get("services", id))).not.toContain(credentials.secret_id);
    const caller = secret(credentials);
    expect((await whoami(caller)).body.actor).toBe(id);
    expect(told(await caller("GET", "/api/v1/identities/groups"))).toEqual([403, "FORBIDDEN"]);
    for (const wrong of [`${credentials.secret_id}x`, "", `${credentials.secret_id}.x`]) {
      const refused = await whoami(secret({ ...credentials, secret_id: wrong }));
      expect(refused.status, wrong).toBe(wrong.endsWith(".x") ? 200 : 401);
    }
    expect((await create("billing", "cert")).status).toBe(409);
  });

  it("rights come from admissions and custom roles only", async () => {
    const { body } = await create("worker", "role_credential");
    const worker = secret(body.credentials);
    const acme = rig.admin("acme");
    const { body: workspace } = await acme("POST", "/api/v1/workspaces", { name: "for the worker" });
    const path = `/api/v1/workspaces/${workspace.id}`;
    expect(told(await worker("POST", `${path}/encrypt`, { plaintext: "AAAA" }))).toEqual([403, "NOT_ADMITTED"]);
    const grant = { identity_id: body.id, identity_type: "service" };
    expect((await acme("POST", `${path}/admissions`, grant)).status).toBe(201);
    expect((await worker("POST", `${path}/encrypt`, { plaintext: "AAAA" })).status).toBe(200);
    expect((await worker("GET", "/api/v1/certificates")).status).toBe(403);
    const permissions = [{ resource: "certificate", action: "read" }];
    const { body: role } = await acme("POST", "/api/v1/identities/roles", { name: "certificate reader", permissions });
    expect((await acme("POST", `/api/v1/identities/roles/${role.id}/assign`, grant)).status).toBe(204);
    expect((await worker("GET", "/api/v1/certificates")).status).toBe(200);
    expect((await acme("DELETE", `${base}/${body.id}`)).status).toBe(204);
    expect(told(await worker("POST", `${path}/encrypt`, { plaintext: "AAAA" }))).toEqual([401, "INVALID_TOKEN"]);
    expect((await acme("GET", `${path}/admissions/${body.id}`)).body.status).toBe("revoked");
  });

  it("rotated secrets overlap for the configured time and no longer", async () => {
    const start = rig.clock.now();
    const { body } = await create("rotating", "role_credential");
    const rotated = await rig.admin("acme")("POST", `${base}/${body.id}/rotate`);
    expect(rotated.status, rotated.text).toBe(200);
    expect(rotated.body.credentials.secret_id).not.toBe(body.credentials.secret_id);
    expect(Date.parse(rotated.body.credentials.previous_valid_until)).toBe(start + hour);
    expect((await whoami(secret(body.credentials))).status).toBe(200);
    expect((await whoami(secret(rotated.body.credentials))).status).toBe(200);
    rig.clock.set(start + hour);
    expect((await whoami(secret(body.credentials))).status).toBe(401);
    expect((await whoami(secret(rotated.body.credentials))).status).toBe(200);
    await rig.gateway.sweep(rig.clock.now());
    expect((await rig.store.get("services", body.id))?.doc["credentials"]).toHaveLength(1);
  });

  it("the orchestrator's token stands for the account of its namespace's organisation only", async () => {
    const { body } = await create("scraper", "kubernetes");
    expect(body).toMatchObject({ auth_method: "orchestrator" });
    expect(body.credentials).toMatchObject({ audience: "seneschal", service_account: "prod/scraper" });
    expect((await whoami(account("system:serviceaccount:prod:scraper"))).body.actor).toBe(body.id);
    for (const sub of ["system:serviceaccount:dev:scraper", "system:serviceaccount:prod:other", "scraper", "acme"]) {
      expect(told(await whoami(account(sub)))).toEqual([401, "INVALID_TOKEN"]);
    }
    const forged = devIssuer(undefined, cluster.issuer, cluster.audience);
    const sub = "system:serviceaccount:prod:scraper";
    expect(told(await whoami(bearer(forged.token({ sub, org: "acme" }, rig.clock.now()))))).toEqual([401, "INVALID_TOKEN"]);
    expect(told(await whoami(account(sub, rig.clock.now() - 2 * hour)))).toEqual([401, "TOKEN_EXPIRED"]);
    const foreign = await rig.admin("globex")("POST", base, { name: "scraper", auth_method: "orchestrator" });
    expect([foreign.status, foreign.body.error.details.field]).toEqual([400, "auth_method"]);
    const before = cluster.token({ sub, org: "x", ttl: 86_400 }, rig.clock.now());
    rig.clock.set(rig.clock.now() + 1000);
    await rig.admin("acme")("POST", `${base}/${body.id}/rotate`);
    expect((await whoami(bearer(before))).status).toBe(200);
    rig.clock.set(rig.clock.now() + hour);
    expect((await whoami(bearer(before))).status).toBe(401);
    expect((await whoami(account(sub))).status).toBe(200);
  });

  it("names are one DNS label; another organisation's services do not exist", async () => {
    for (const name of ["Upper", "a.b", "-x", "", "x".repeat(64)]) expect((await create(name, "cert")).status).toBe(400);
    const { body } = await create("hidden", "role_credential");
    for (const [method, path] of [
      ["GET", `${base}/${body.id}`],
      ["DELETE", `${base}/${body.id}`],
      ["POST", `${base}/${body.id}/rotate`],
    ] as const) {
      expect((await rig.admin("globex")(method, path)).status).toBe(404);
    }
    expect((await rig.admin("globex")("GET", base)).body).toMatchObject({ services: [], total: 0 });
  });

  it("the last use of admins, users, services and devices is told truthfully", async () => {
    const acme = rig.admin("acme");
    const { body: service } = await create("seen", "role_credential");
    const subject = { provider: "idp_a", subject: "seen-user", email: "s@acme.example", name: "S", groups: [] };
    const { body: user } = await acme("POST", "/api/v1/identities/users/sso", subject);
    await rig.gateway.sweep(rig.clock.now());
    expect((await acme("GET", `${base}/${service.id}`)).body.last_auth_at).toBeNull();
    rig.clock.set(rig.clock.now() + 5000);
    await whoami(secret(service.credentials));
    await whoami(rig.bearer({ sub: "seen-user", org: "acme" }));
    const at = new Date(rig.clock.now()).toISOString();
    await rig.gateway.sweep(rig.clock.now());
    expect((await acme("GET", `${base}/${service.id}`)).body.last_auth_at).toBe(at);
    expect((await acme("GET", `/api/v1/identities/users/${user.id}`)).body.last_login_at).toBe(at);
    const admin = rig.dev.organizations["acme"]?.admins.super_admin.id;
    expect((await acme("GET", `/api/v1/identities/admins/${admin}`)).body.last_login_at).not.toBeNull();
    const before = (await rig.store.changes(0, 1_000_000)).length;
    await rig.gateway.sweep(rig.clock.now());
    await rig.gateway.sweep(rig.clock.now());
    expect((await rig.store.changes(0, 1_000_000)).length - before).toBeLessThanOrEqual(1);
  });
});
