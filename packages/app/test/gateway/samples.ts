import type { Rig } from "./rig.ts";
import { type HeldCrk, makeCrk } from "./sign.ts";

/** Resources of the organisation `acme` that requests can aim at, by the folder of their path. */
export interface Targets {
  readonly crk: HeldCrk;
  readonly params: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** A body that the route accepts, by operation id. */
  readonly bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const b64 = (text: string): string => Buffer.from(text).toString("base64");

/** Makes one of everything for `acme`. */
export async function makeTargets(rig: Rig): Promise<Targets> {
  const acme = rig.admin("acme");
  const crk = await makeCrk(acme, 3, 2);
  const id = async (path: string, body: object): Promise<string> => (await acme("POST", path, body)).body.id;
  const workspace = await id("/api/v1/workspaces", { name: "target", participants: ["initech"] });
  const ceremony = await id("/api/v1/crk/ceremony/start", { operation: "reconstruct", threshold: 2 });
  const session = await id("/api/v1/crk/signing-sessions", { data: b64("x") });
  const request = await id("/api/v1/crk/signing-requests", { operation: "workspace.update", resource_id: workspace });
  const generation = await rig
    .bearer({ sub: "gen", org: "hooli", roles: ["super_admin"] })("POST", "/api/v1/crk/generate-ceremony/start", {
      total_shares: 3,
      threshold: 2,
    })
    .then((answer) => answer.body.id as string);
  const event = (await acme("GET", "/api/v1/audit?limit=1")).body.events[0].id as string;
  const { ciphertext } = (await acme("POST", `/api/v1/workspaces/${workspace}/encrypt`, { plaintext: b64("x") })).body;
  const bundle = (await acme("POST", `/api/v1/workspaces/${workspace}/export`, {})).body;
  const admin = rig.dev.organizations["acme"]?.admins.super_admin.id ?? "";
  const auditor = rig.dev.organizations["acme"]?.admins.auditor.id ?? "";
  const share = crk.shares[0];
  return {
    crk,
    params: {
      workspaces: { id: workspace, identity_id: admin },
      ceremony: { id: ceremony },
      "generate-ceremony": { id: generation },
      "signing-sessions": { id: session },
      "signing-requests": { id: request },
      shares: { crk_id: crk.id, index: "1" },
      organizations: { id: "acme" },
      audit: { id: event },
      admins: { id: admin },
    },
    bodies: {
      bootstrapAdmin: { email: "a@b.example", name: "A", crk_signature: b64("x".repeat(64)) },
      enrollAdmin: { enrollment_token: "senr_x", csr: "x" },
      generateCrk: { total_shares: 3, threshold: 2 },
      signWithCrk: { shares: crk.shares.slice(0, 2), public_key: crk.public_key, data: b64("x") },
      verifyWithCrk: { public_key: crk.public_key, data: b64("x"), signature: b64("x".repeat(64)) },
      rotateCrk: { threshold: 2 },
      startCeremony: { operation: "reconstruct", threshold: 2 },
      submitCeremonyShare: { share },
      completeCeremony: { witness: admin },
      startGenerationCeremony: { total_shares: 3, threshold: 2 },
      seedGenerationCeremony: { index: 1, derived_key: b64("k".repeat(32)), salt: b64("s".repeat(16)) },
      createSigningRequest: { operation: "workspace.update", resource_id: workspace, body: { purpose: "x" } },
      startSigningSession: { data: b64("x") },
      commitToSigningSession: { index: 1, hiding: b64("h".repeat(32)), binding: b64("b".repeat(32)) },
      signInSigningSession: { index: 1, share: b64("s".repeat(32)) },
      createWorkspace: { name: "another", purpose: "x" },
      updateWorkspace: { purpose: "changed" },
      deleteWorkspace: { signatures: {} },
      encrypt: { plaintext: b64("x"), context: { a: "b" } },
      decrypt: { ciphertext, context: {} },
      encryptBatch: { items: [{ plaintext: b64("x") }] },
      decryptBatch: { items: [{ ciphertext }] },
      rotateDek: {},
      extendWorkspace: { expires_at: "2090-01-01T00:00:00Z" },
      inviteOrganization: { org_id: "umbrella" },
      acceptInvitation: {},
      declineInvitation: {},
      requestAccess: { reason: "x" },
      archiveWorkspace: {},
      exportWorkspace: {},
      importWorkspace: bundle,
      grantAdmission: { identity_id: auditor, identity_type: "admin" },
      exportAudit: { format: "json" },
      verifyAudit: {},
      exportActivity: {},
      registerEdge: { name: "edge", vault_address: "https://127.0.0.1:1", vault_token: "t" },
      createSsoUser: { provider: "idp_a", subject: "sample", email: "sample@acme.example", name: "Sample", groups: [] },
      createService: { name: "sample", auth_method: "role_credential" },
      enrollDevice: { device_name: "sample", cert_serial: "0a:0b", cert_expiry: "2090-01-01T00:00:00Z" },
      requestEmergencyAccess: { reason: "x" },
      initFederation: {},
      establishFederation: { partner_org_id: "initech", partner_url: "https://127.0.0.1:1", partner_cert: b64("x") },
      sendMessage: { recipient_org_id: "acme", recipient_id: auditor, subject: "x", body: b64("x") },
    },
  };
}

/** A route's path with the parameters of its target. */
export function pathOf(template: string, targets: Targets): string {
  const folder = template
    .split("/")
    .findLast((part) => part !== "" && !part.startsWith(":") && targets.params[part] !== undefined);
  const values = folder === undefined ? {} : (targets.params[folder] ?? {});
  return template.replace(/:([a-z_]+)/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? "00000000-0000-7000-8000-000000000000"),
  );
}
