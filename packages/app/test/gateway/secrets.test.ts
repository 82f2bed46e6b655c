import { gatewayContract } from "@seneschal/contract/gateway";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { authenticatorApp } from "./authenticator-app.ts";
import { openRig, type Rig } from "./rig.ts";
import { rootKey } from "./root-key.ts";

const EDGE_TOKEN = "edge-token-that-nobody-reads-again";

describe("what is shown once", () => {
  let rig: Rig;
  /** By what it is; each was in one answer, or in one request. */
  const secrets: Record<string, string> = {};
  const ids: Record<string, string> = {};
  beforeAll(async () => {
    rig = await openRig({ settings: { edges: { allowed_targets: ["127.0.0.0/8"], probe_timeout: "1s" } } });
    const acme = rig.admin("acme");
    const make = async (path: string, body: object) => {
      const answer = await acme("POST", `/api/v1/${path}`, body);
      expect(answer.status, answer.text).toBeLessThan(300);
      return answer.body;
    };
    const [share] = (await rootKey(acme)).shares;
    secrets["a share of the root key"] = share?.data ?? "";
    const ceremony = await make("crk/ceremony/start", { operation: "reconstruct", threshold: 2 });
    await make(`crk/ceremony/${ceremony.id}/share`, { share });
    ids["ceremony"] = ceremony.id;

    const edge = { name: "edge", vault_address: "https://127.0.0.1:1", vault_token: EDGE_TOKEN };
    ids["edges"] = (await make("edges", edge)).id;
    secrets["an edge node's token"] = EDGE_TOKEN;

    const admin = await make("identities/admins", { email: "new@acme.example", name: "New", role: "auditor" });
    secrets["an enrolment token"] = admin.enrollment_token;
    ids["admins"] = admin.id;
    const service = await make("identities/services", { name: "mailer", auth_method: "role_credential" });
    secrets["a service's secret"] = service.credentials.secret_id;
    ids["services"] = service.id;
    const certificate = await make("certificates/issue", { common_name: "sensor" });
    secrets["a private key"] = certificate.private_key;
    ids["certificates"] = certificate.serial_number;

    const me = `identities/admins/${rig.dev.organizations["acme"]?.admins.super_admin.id}/mfa`;
    const { provisioning_url } = await make(`${me}/enable`, {});
    secrets["a second factor's secret"] = new URL(provisioning_url).searchParams.get("secret") ?? "";
    const code = authenticatorApp(provisioning_url, () => rig.clock.now());
    const { recovery_codes } = await make(`${me}/verify`, { totp_code: code() });
    secrets["a recovery code"] = recovery_codes[0];

    const needy = rig.bearer({ sub: "in need", org: "acme" });
    const { body: asked } = await needy("POST", "/api/v1/emergency-access/request", { reason: "fire" });
    for (const role of ["super_admin", "security_admin"] as const)
      await rig.admin("acme", role)("POST", `/api/v1/emergency-access/${asked.id}/approve`);
    secrets["an emergency token"] = (await needy("GET", `/api/v1/emergency-access/${asked.id}`)).body.token;
    ids["emergency-access"] = asked.id;
  });
  afterAll(() => rig.close());

  const expectNone = (text: string, where: string): void => {
    for (const [what, secret] of Object.entries(secrets)) {
      expect(secret.length, what).toBeGreaterThan(8);
      expect(text.includes(secret) || text.includes(JSON.stringify(secret).slice(1, -1)), `${what} in ${where}`).toBe(false);
    }
  };

  it("is in no later answer of any route that reads", async () => {
    const acme = rig.admin("acme");
    const read = new Set<string>();
    for (const [id, { method, path }] of Object.entries(gatewayContract)) {
      if (method !== "GET") continue;
      const folder = path.split("/").find((part) => ids[part] !== undefined) ?? "";
      const answer = await acme("GET", path.replace(/:[a-z_]+/g, encodeURIComponent(ids[folder] ?? "acme")));
      if (answer.status === 200) read.add(folder);
      expectNone(answer.text, id);
    }
    for (const folder of Object.keys(ids)) expect(read, `${folder} was read`).toContain(folder);
    const reports = ["summary", "access-review"].map((type) => ["compliance/reports/export", { type, format: "csv" }] as const);
    const exports = ["json", "csv"].map((format) => ["audit/export", { format }] as const);
    for (const [path, body] of [...reports, ...exports, ["activity/export", {}] as const]) {
      const answer = await acme("POST", `/api/v1/${path}`, body);
      expect(answer.status, answer.text).toBe(200);
      expectNone(answer.text, path);
    }
  });

  it("lies nowhere in the store: it is sealed or hashed", async () => {
    const changes = await rig.store.changes(0, 1_000_000);
    expect(changes.length).toBeGreaterThan(20);
    for (const { coll, id } of changes) expectNone(JSON.stringify((await rig.store.get(coll, id))?.doc ?? null), `${coll} ${id}`);
  });
});
