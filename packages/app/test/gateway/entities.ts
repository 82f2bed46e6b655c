import type { Contract } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { expect } from "vitest";
import type { Side } from "./federated.ts";
import type { Caller } from "./rig.ts";

type Params = Readonly<Record<string, string>>;

/** What a test can make of each kind of entity, and change it with. */
export interface Entities {
  /** Makes a fresh one of a kind: the parameters of its path. */
  readonly makers: Readonly<Record<string, () => Promise<Params>>>;
  /** What a change is sent with, by operation; signed where it must be. */
  readonly bodies: Readonly<Record<string, (params: Params) => object | Promise<object>>>;
  /** Makes something by a `POST` below `/api/v1/`, and answers its id. */
  create(path: string, body: object, by?: Caller): Promise<string>;
  /** A name that nothing has yet. */
  name(): string;
  /** The body, signed with the root key. */
  signedBody(operation: string, resource: string, body: object): Promise<object>;
  /** Who made the last one, and may read and change it: the super admin of `acme`, or of an organisation without a root key. */
  caller(): Caller;
  /** From here on the super admin of `acme` makes them. */
  begin(): void;
}

const kinds = Object.values(gatewayContract as Contract).flatMap(({ method, entity, path }) =>
  method === "GET" && entity !== undefined ? [[entity, path] as const] : [],
);

/** The kind of entity that a path is below: whose own path is the longest beginning of it. */
export function entityOf(path: string): string | undefined {
  return kinds
    .filter(([, own]) => path === own || path.startsWith(`${own}/`))
    .sort(([, a], [, b]) => b.length - a.length)[0]?.[0];
}

const bytes = (length: number): string => Buffer.alloc(length, 7).toString("base64");

/** Entities of `acme`, which is federated with `globex` and has somewhere to put backups. */
export function entitiesOf(acme: Side): Entities {
  let call: Caller = acme.rig.admin("acme");
  let made = 0;
  const next = (): number => {
    made += 1;
    return made;
  };

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

  const makers: Entities["makers"] = {
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

  const bodies: Entities["bodies"] = {
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

  return {
    makers,
    bodies,
    create,
    name,
    signedBody,
    caller: () => call,
    begin() {
      call = acme.rig.admin("acme");
    },
  };
}
