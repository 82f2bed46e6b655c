import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gatewayContract } from "@seneschal/contract/gateway";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { federate, openSide, type Side } from "./federated.ts";
import type { Answer, Caller } from "./rig.ts";

interface AnyRoute {
  readonly method: string;
  readonly path: string;
  readonly entity?: string;
  readonly reply?: unknown;
}
const routes = Object.entries(gatewayContract as Readonly<Record<string, AnyRoute>>).filter(
  ([, route]) => route.entity !== undefined,
);
const reads = new Map(routes.filter(([, { method }]) => method === "GET").map(([, route]) => [route.entity, route]));
const changes = routes.filter(([, { method }]) => method !== "GET");

const bytes = (length: number): string => Buffer.alloc(length, 7).toString("base64");

describe("entity tags", () => {
  let acme: Side;
  let globex: Side;
  let call: Caller;
  let made = 0;
  const next = (): number => {
    made += 1;
    return made;
  };
  const backups = mkdtempSync(join(tmpdir(), "seneschal-tags-"));
  beforeAll(async () => {
    [acme, globex] = await Promise.all([openSide("acme", { backups }), openSide("globex")]);
    await federate(acme, globex);
    call = acme.rig.admin("acme");
  });
  afterAll(async () => {
    await Promise.all([acme.rig.close(), globex.rig.close()]);
    rmSync(backups, { recursive: true, force: true });
  });

  const create = async (path: string, body: object, by: Caller = call): Promise<string> => {
    const answer = await by("POST", `/api/v1/${path}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
    return answer.body.id;
  };
  const name = (): string => `entity ${next()}`;
  const role = () => create("identities/roles", { name: name(), permissions: [{ resource: "device", action: "read" }] });
  const user = () =>
    create("identities/users/sso", { provider: "idp_a", subject: name(), email: "u@acme.example", name: "U", groups: [] });
  const service = () => create("identities/services", { name: `service-${next()}`, auth_method: "role_credential" });
  const auditor = (): string => acme.rig.dev.organizations["acme"]?.admins.auditor.id ?? "";

  /** A fresh one of each kind: the parameters of its path. */
  const makers: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
    workspace: async () => ({ id: await create("workspaces", { name: name() }) }),
    admission: async () => {
      const id = await create("workspaces", { name: name() });
      const identity_id = await user();
      await create(`workspaces/${id}/admissions`, { identity_id, identity_type: "user" });
      return { id, identity_id };
    },
    policy: async () => {
      // For a workspace of its own: a policy of the organisation would have a say in all that comes after.
      const body = { name: name(), workspace: await create("workspaces", { name: name() }), rego: "package p\nallow := true" };
      const answer = await acme.call("POST", "/api/v1/policies", {
        ...body,
        crk_signature: await acme.key.sign("policy.create", "", body),
      });
      return { id: answer.body.id };
    },
    admin: async () => ({
      id: await create("identities/admins", { email: `${next()}@acme.example`, name: "A", role: "auditor" }),
    }),
    user: async () => ({ id: await user() }),
    service: async () => ({ id: await service() }),
    device: async () => {
      const issued = await call("POST", "/api/v1/certificates/issue", { common_name: name(), ttl: "24h" });
      const { serial_number: cert_serial, expiration: cert_expiry } = issued.body;
      return {
        id: await create("identities/devices", { device_name: "d", device_type: "iot", cert_serial, cert_expiry }),
      };
    },
    group: async () => {
      const id = await create("identities/groups", { name: name() });
      const identity_id = await user();
      expect((await call("POST", `/api/v1/identities/groups/${id}/members`, { identity_id, identity_type: "user" })).status).toBe(
        204,
      );
      return { id, identity_id };
    },
    role: async () => {
      const id = await role();
      const identity_id = await user();
      expect((await call("POST", `/api/v1/identities/roles/${id}/assign`, { identity_id, identity_type: "user" })).status).toBe(
        204,
      );
      return { id, identity_id };
    },
    certificate: async () => {
      const issued = await call("POST", "/api/v1/certificates/issue", { common_name: name() });
      return { serial: issued.body.serial_number };
    },
    backup: async () => ({ id: await create("backups", await backupBody()) }),
    federation: async () => ({ partner_id: "globex" }),
    edge: async () => ({
      id: await create("edges", { name: name(), vault_address: "http://127.0.0.1:1", vault_token: "t" }),
    }),
    "rotation-policy": async () => {
      const id = await create("workspaces", { name: name() });
      const body = { max_age: "24h", enabled: true };
      expect((await call("PUT", `/api/v1/workspaces/${id}/rotation-policy`, body)).status).toBe(200);
      return { id };
    },
    ceremony: async () => {
      const id = await create("crk/ceremony/start", { operation: "sign", threshold: 2, data: bytes(3) });
      return { id };
    },
    "generation-ceremony": async () => {
      const org = `org-${next()}`;
      call = acme.rig.bearer({ sub: "root", org, roles: ["super_admin"] });
      const id = await create("crk/generate-ceremony/start", { total_shares: 2, threshold: 2 });
      return { id };
    },
    "emergency-access": async () => {
      const requester = acme.rig.bearer({ sub: name(), org: "acme" });
      return { id: await create("emergency-access/request", { reason: name() }, requester) };
    },
    message: async () => ({
      id: await create("messages", { recipient_org_id: "acme", recipient_id: auditor(), subject: "s", body: bytes(3) }),
    }),
    recovery: async () => ({
      id: await create("account-recovery/initiate", {
        admin_id: await create("identities/admins", { email: `${next()}@acme.example`, name: "A", role: "auditor" }),
        recovery_type: "locked_account",
        reason: name(),
      }),
    }),
    "signing-session": async () => ({ id: await create("crk/signing-sessions", { data: bytes(3) }) }),
  };

  /** What a change is sent with; signed where it must be. */
  const bodies: Readonly<Record<string, (params: Record<string, string>) => object | Promise<object>>> = {
    updateWorkspace: () => ({ purpose: name() }),
    extendWorkspace: () => ({ expires_at: "2090-01-01T00:00:00Z" }),
    deleteWorkspace: () => ({ signatures: {} }),
    updatePolicy: async ({ id = "" }) => signedBody("policy.update", id, { rego: "package p\nallow := false" }),
    deletePolicy: async ({ id = "" }) => signedBody("policy.delete", id, {}),
    updateAdmin: () => ({ name: "B" }),
    addGroupMember: async () => ({ identity_id: await user(), identity_type: "user" }),
    updateGroup: () => ({ description: "changed" }),
    assignRole: async () => ({ identity_id: await user(), identity_type: "user" }),
    renewFederationCertificate: async () => signedBody("federation.renew-cert", "globex", {}),
    revokeFederation: async () => signedBody("federation.revoke", "globex", { notify_partner: false }),
    restoreBackup: async ({ id = "" }) => ({ crk_signature: await acme.key.sign("backup.restore", id, {}) }),
    setRotationPolicy: () => ({ max_age: "48h", enabled: false }),
    verifyEmergencyAccess: async ({ id = "" }) => signedBody("emergency.verify", id, {}),
    submitRecoveryShare: () => acme.key.shares[0] as object,
    submitCeremonyShare: () => ({ share: acme.key.shares[0] }),
    completeCeremony: () => ({ witness: auditor() }),
    seedGenerationCeremony: () => ({ index: 1, custodian_name: "c", derived_key: bytes(32), salt: bytes(16) }),
    commitToSigningSession: () => ({ index: 1, hiding: bytes(32), binding: bytes(32) }),
    signInSigningSession: () => ({ index: 1, share: bytes(32) }),
  };
  const backupBody = async () => ({ type: "full", crk_signature: await acme.key.sign("backup.create", "", { type: "full" }) });
  const signedBody = async (operation: string, resource: string, body: object): Promise<object> => ({
    ...body,
    signature: await acme.key.sign(operation, resource, body),
  });

  const fill = (path: string, params: Record<string, string>): string =>
    path.replace(/:([a-z_]+)/g, (_, key: string) => params[key] ?? "");
  let latest = 0;
  const head = async (): Promise<number> => {
    latest = (await acme.rig.store.changes(latest, 1_000_000)).at(-1)?.seq ?? latest;
    return latest;
  };
  const codeOf = (answer: Answer): string | undefined => answer.body?.error?.code;

  it("every entity is read by one route", () => {
    expect([...reads.keys()].sort()).toEqual(Object.keys(makers).sort());
  });

  // The federation ends with its revocation.
  const inOrder = [...changes].sort(([a], [b]) => Number(a === "revokeFederation") - Number(b === "revokeFederation"));
  it.each(inOrder)("%s: another tag changes nothing, the present tag lets it through to its own rules", async (id, route) => {
    call = acme.rig.admin("acme");
    const params = await (makers[route.entity ?? ""] as () => Promise<Record<string, string>>)();
    const read = reads.get(route.entity) as AnyRoute;
    const before = await call("GET", fill(read.path, params));
    const tag = before.headers.get("etag") ?? "";
    expect(tag, before.text).toMatch(/^"[A-Za-z0-9_-]{27}"$/);
    const same = await call("GET", fill(read.path, params), undefined, { "if-none-match": tag });
    expect([same.status, same.text]).toEqual([304, ""]);

    const body = await bodies[id]?.(params);
    const seen = await head();
    const stale = await call(route.method, fill(route.path, params), body, { "if-match": '"stale"' });
    expect([stale.status, codeOf(stale)], stale.text).toEqual([409, "REVISION_CONFLICT"]);
    expect(stale.body.error.details).toEqual({ etag: tag });
    expect(await head()).toBe(seen);
    expect((await call("GET", fill(read.path, params))).headers.get("etag")).toBe(tag);

    const passed = await call(route.method, fill(route.path, params), body, { "if-match": `"other", ${tag}` });
    expect(codeOf(passed), passed.text).not.toBe("REVISION_CONFLICT");
    const after = await call("GET", fill(read.path, params));
    if (passed.status < 300 && after.status === 200) expect(after.headers.get("etag"), id).not.toBe(tag);
    if (route.reply === read.reply && passed.status === 200) {
      expect(passed.headers.get("etag")).toBe(after.headers.get("etag"));
    }
  });

  it("a certificate's tag stays while it does, and changes with its revocation, the one change there is", async () => {
    call = acme.rig.admin("acme");
    const { serial = "" } = await (makers["certificate"] as () => Promise<Record<string, string>>)();
    const path = `/api/v1/certificates/${serial}`;
    const tag = (await call("GET", path)).headers.get("etag") ?? "";
    expect((await call("GET", path, undefined, { "if-none-match": tag })).status).toBe(304);
    for (const _ of ["revoked", "again"])
      expect((await call("POST", "/api/v1/certificates/revoke", { serial_number: serial })).status).toBe(204);
    const after = await call("GET", path, undefined, { "if-none-match": tag });
    expect([after.status, after.body.status]).toEqual([200, "revoked"]);
  });

  it("the answer that shows an emergency token once has no tag; the next one has, and ends the access", async () => {
    const requester = acme.rig.admin("acme", "operations_admin");
    const id = await create("emergency-access/request", { reason: name() }, requester);
    const path = `/api/v1/emergency-access/${id}`;
    const body = await signedBody("emergency.verify", id, {});
    expect((await acme.rig.admin("acme")("POST", `${path}/verify`, body)).status).toBe(204);
    const shown = await requester("GET", path, undefined, { "if-none-match": "*" });
    expect([shown.status, shown.headers.get("etag")]).toEqual([200, null]);
    expect(shown.body.token).toMatch(/^sene_/);
    const again = await requester("GET", path);
    expect(again.body.token).toBeUndefined();
    const ended = await requester("POST", `${path}/complete`, {}, { "if-match": again.headers.get("etag") ?? "" });
    expect([ended.status, ended.body.status]).toEqual([200, "completed"]);
  });

  it("of many who change what they all read, one wins", async () => {
    call = acme.rig.admin("acme");
    const id = await create("workspaces", { name: name() });
    const path = `/api/v1/workspaces/${id}`;
    const tag = (await call("GET", path)).headers.get("etag") ?? "";
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) => call("PUT", path, { purpose: `writer ${i}` }, { "if-match": tag })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const lost = answers.filter(({ status }) => status === 409);
    expect(new Set(lost.map(codeOf))).toEqual(new Set(["REVISION_CONFLICT"]));
    expect((await call("GET", path)).body.revision).toBe(2);
  });
});
