import type { Contract, Route } from "@seneschal/contract";
import { gatewayContract } from "@seneschal/contract/gateway";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { wholeSampleOf } from "../platform/sample-of.ts";
import { type Entities, entitiesOf, entityOf } from "./entities.ts";
import { openWatchedPair, type Side } from "./federated.ts";

type Body = Readonly<Record<string, unknown>>;

/** The members of a body or a reply. */
function membersOf(schema: unknown): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  if (schema instanceof z.ZodPipe) return membersOf(schema.in);
  const inner = (schema as { readonly def?: { readonly innerType?: unknown } } | undefined)?.def?.innerType;
  return inner === undefined ? [] : membersOf(inner);
}

const routes = Object.entries(gatewayContract as Contract);
const readOf = (entity: string | undefined): Route | undefined =>
  routes.find(([, { method, entity: of }]) => method === "GET" && entity !== undefined && of === entity)?.[1];

/** What proves the caller's right, and is no part of what is made. */
const PROOFS = new Set(["signature", "signature_params", "crk_signature"]);

/** Members that mean something else in the answer, and what. */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  // Those that are invited take part when they accept.
  createWorkspace: ["participants"],
  // Of the decision, not of the request that it decides: it stands in the audit event.
  approveEmergencyAccess: ["reason"],
  denyEmergencyAccess: ["reason"],
  completeEmergencyAccess: ["reason"],
  approveJoinRequest: ["reason"],
  denyJoinRequest: ["reason"],
  // As ciphertexts.
  encryptBatch: ["items"],
};

/** Operations of several people, of partners, or of an organisation that begins: their own suites follow what they are given. */
const ELSEWHERE = new Set([
  "bootstrapAdmin",
  "rotateCrk",
  "startCeremony",
  "completeCeremony",
  "enrollCustodian",
  "confirmCustodian",
  "shareCustodianCard",
  "exportWorkspace",
  "importWorkspace",
  "requestAccess",
  "requestJoin",
  "approveJoinRequest",
  "denyJoinRequest",
  "completeEmergencyAccess",
  "initFederation",
  "establishFederation",
  "revokeFederation",
]);

/** Whatever takes what its answer, or the `GET` of what it changes, has under the same name. */
const takes = routes.flatMap(([id, route]) => {
  const { method, body, entity, reply, safe, tag, action } = route;
  if (method === "GET" || body === undefined || safe === true || action === "federation:peer" || ELSEWHERE.has(id)) return [];
  const told = new Set([...membersOf(reply), ...membersOf(readOf(entity)?.reply)]);
  const members = membersOf(body).filter((name) => told.has(name) && !PROOFS.has(name) && !OTHERWISE[id]?.includes(name));
  return members.length === 0 || tag === "compliance" ? [] : [{ id, route, members }];
});

describe("what an operation of the gateway is given", () => {
  let pair: Awaited<ReturnType<typeof openWatchedPair>>;
  let acme: Side;
  let all: Entities;
  beforeAll(async () => {
    pair = await openWatchedPair();
    acme = pair.acme;
    all = entitiesOf(acme);
  });
  afterAll(() => pair.close());

  const signed = async (operation: string, body: object): Promise<Body> => ({
    ...body,
    crk_signature: await acme.key.sign(operation, "", body),
  });
  /** What refers to something that there is, or has a form that no schema says; the rest of a body is made by its schema. */
  const fitting: Readonly<Record<string, () => Promise<Body>>> = {
    createWorkspace: async () => ({ group_id: await all.create("identities/groups", { name: all.name() }), participants: [] }),
    inviteOrganization: async () => ({ org_id: "umbrella" }),
    grantAdmission: async () => ({ identity_id: (await all.makers["user"]?.())?.["id"], identity_type: "user" }),
    createPolicy: async () => {
      const workspace = (await all.makers["workspace"]?.())?.["id"];
      return signed("policy.create", { name: all.name(), workspace, rego: "package p\nallow := true" });
    },
    updatePolicy: async () => ({ rego: "package p\nallow := false" }),
    createAdmin: async () => ({ email: "made@acme.example" }),
    updateAdmin: async () => ({ email: "changed@acme.example", active: false }),
    createService: async () => ({ name: "kept", auth_method: "role_credential" }),
    createSsoUser: async () => ({ provider: "idp_a", groups: ["of elsewhere"] }),
    enrollDevice: async () => {
      const issued = (await all.caller()("POST", "/api/v1/certificates/issue", { common_name: all.name(), ttl: "24h" })).body;
      return { cert_serial: issued.serial_number, cert_expiry: issued.expiration };
    },
    createGroup: async () => ({ name: all.name(), vault_policies: ["read-only"] }),
    updateGroup: async () => ({ name: all.name(), vault_policies: ["read-only"] }),
    createRole: async () => ({ permissions: [{ resource: "device", action: "read" }] }),
    issueCertificate: async () => ({ ttl: "24h", usage: "client", alt_names: [] }),
    initiateRecovery: async () => ({ admin_id: (await all.makers["admin"]?.())?.["id"] }),
    setRotationPolicy: async () => ({ max_age: "48h" }),
    createBackup: () => signed("backup.create", { type: "full" }),
    sendMessage: async () => ({
      recipient_org_id: "acme",
      recipient_id: acme.rig.dev.organizations["acme"]?.admins.auditor.id,
      expires_at: new Date(acme.rig.clock.now() + 3_600_000).toISOString(),
    }),
    registerEdge: async () => ({ vault_address: "http://127.0.0.1:1" }),
  };

  const same = (value: unknown): unknown =>
    typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) ? new Date(value).toISOString() : value;

  it.each(takes)("$id: $members comes back, and stands in what is read afterwards", async ({ id, route, members }) => {
    all.begin();
    const kind = route.entity ?? entityOf(route.path);
    const params = kind === undefined ? {} : ((await all.makers[kind]?.()) ?? {});
    const at = (path: string) => path.replace(/:([a-z_]+)/g, (_, name: string) => params[name] ?? "none");
    const made = Object.entries(wholeSampleOf(route.body as z.ZodType) as Body).filter(([name]) => !PROOFS.has(name));
    const own = made.some(([name]) => name === "org_id") ? { org_id: "acme" } : {};
    const plain: Body = { ...Object.fromEntries(made), ...own, ...(await fitting[id]?.()) };
    const change = await all.bodies[id]?.(params);
    const body: Body = change !== undefined && "signature" in change ? { ...plain, ...change } : plain;
    const answer = await all.caller()(route.method, at(route.path), body);
    expect(answer.status, answer.text).toBeLessThan(300);

    const shown = membersOf(route.reply);
    for (const name of members.filter((member) => shown.includes(member)))
      expect([id, name, same(answer.body[name])]).toEqual([id, name, same(body[name])]);
    const read =
      readOf(route.entity) ?? routes.find(([, { method, path }]) => method === "GET" && path === `${route.path}/:id`)?.[1];
    if (read === undefined) return;
    const again = await all.caller()("GET", at(read.path).replace(/none$/, answer.body?.id));
    expect(again.status, again.text).toBe(200);
    const known = membersOf(read.reply);
    for (const name of members.filter((member) => known.includes(member)))
      expect([id, "read", name, same(again.body[name])]).toEqual([id, "read", name, same(body[name])]);
  });
});
