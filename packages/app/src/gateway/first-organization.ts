import { type Admin, createAdmin, refusal, stepAdmin } from "@seneschal/core/keys";
import { checkArgument } from "@seneschal/kernel";
import { keyText } from "../platform/index.ts";
import { type Dealing, storeNewCrk } from "./custody/index.ts";
import { type Call, currentCrk, ensureOrganization, type StoredCrk, systemCall } from "./ground/index.ts";
import { admins, bootstrapMarks, type FirstAdmin, voidEnrollmentTokens } from "./people/index.ts";
import type { GatewayServices } from "./services.ts";
import { makeWorkspace, workspaces } from "./workspaces/index.ts";

/**
 * How whoever operates a new instance, and so holds its store and its vault, brings its first organisation into being without
 * the network. Each step may be done again after a crash and finds what the one before left.
 */

/** The certificate that an admin was given. PEM. */
interface EnrolledAdmin {
  readonly admin: Admin;
  readonly chain: readonly string[];
}

/**
 * The organisation and its first super admin, enrolled with the key of a PKCS#10 request. Done again, another certificate, until the
 * organisation has a root key: from then on only its admins make admins. Throws `BOOTSTRAP_CLOSED` when the instance has another admin.
 */
export async function enrolFirstAdmin(
  services: GatewayServices,
  given: FirstAdmin & { readonly org: string; readonly request: string },
): Promise<EnrolledAdmin> {
  checkArgument("services", services, "object");
  checkArgument("given", given, "object");
  const { org, request, ...person } = given;
  await services.organizationKeys.ensureKek(org);
  return services.transact(operator(services, org), async (unit) => {
    const { now } = unit.call;
    await ensureOrganization(unit, org, "configuration");
    const [known] = await unit.list(admins, "by_email", [org, keyText(person.email.toLowerCase())], { limit: 1 });
    const others = (await unit.count(admins, "by_org", [])) > 0;
    if (known === undefined ? others : !known.is_bootstrap || (await currentCrk(unit, org)) !== undefined)
      throw refusal("BOOTSTRAP_CLOSED", "the instance has an admin already: admins are made by admins from now on");
    const id = known?.id ?? services.newId(now);
    const input = { id, org, ...person, role: "super_admin", by: null, bootstrap: true } as const;
    const admin = known ?? createAdmin(input, now).state;
    const issued = await services.pki.issueFromRequest(unit, {
      request,
      org,
      commonName: person.email,
      subject: { type: "admin", id },
      ttl: services.config.admin.cert_ttl,
    });
    const { serial_number: serial, expiration: expiry } = issued;
    const enrolled =
      admin.enrollment_status === "active"
        ? { ...admin, cert_serial: serial, cert_expiry: expiry }
        : stepAdmin(admin, { kind: "enroll", serial, cn: issued.common_name, expiry }, 0, now).state;
    unit.put(admins, id, enrolled);
    if (known === undefined) {
      if ((await unit.get(bootstrapMarks, "done")) === undefined) unit.insert(bootstrapMarks, "done", { admin_id: id });
      unit.record({ type: "admin.bootstrap", metadata: { admin_id: id } });
    }
    await voidEnrollmentTokens(unit, id);
    unit.record({ type: "admin.enrollment.complete", metadata: { admin_id: id, serial_number: serial } });
    return { admin: enrolled, chain: [issued.certificate, ...issued.ca_chain] };
  });
}

/** The organisation's root key as it is, or that of `dealing`, whose shares must be safe before. */
export function storeFirstRootKey(
  services: GatewayServices,
  org: string,
  dealing: Dealing,
): Promise<{ readonly crk: StoredCrk; readonly made: boolean }> {
  checkArgument("services", services, "object");
  checkArgument("org", org, "string");
  checkArgument("dealing", dealing, "object");
  return services.transact(operator(services, org), async (unit) => {
    const known = await currentCrk(unit, org);
    if (known !== undefined) return { crk: known, made: false };
    const crk = await storeNewCrk(services, unit, org, dealing, []);
    const { id: crk_id, threshold, total_shares } = crk;
    unit.record({ type: "crk.generate", metadata: { crk_id, threshold, total_shares } });
    return { crk, made: true };
  });
}

/** The root key of an organisation, if it has one. */
export async function rootKeyOf(services: GatewayServices, org: string): Promise<StoredCrk | undefined> {
  checkArgument("services", services, "object");
  checkArgument("org", org, "string");
  return services.transact(operator(services, org), (unit) => currentCrk(unit, org));
}

/** A workspace of the id, in the name of an admin. `false`: it was there. */
export function makeFirstWorkspace(
  services: GatewayServices,
  admin: Admin,
  given: { readonly id: string; readonly name: string },
): Promise<boolean> {
  checkArgument("services", services, "object");
  checkArgument("admin", admin, "object");
  checkArgument("given", given, "object");
  const { id, name } = given;
  const principal = { id: admin.id, type: "admin", org: admin.org_id, roles: [admin.role], scopes: [], method: "none" };
  return services.transact({ principal, now: services.clock.now(), requestId: "" }, async (unit) => {
    if ((await unit.get(workspaces, id)) !== undefined) return false;
    const facts = { classification: "CONFIDENTIAL", mode: "standard", purpose: "", crk_protected: false } as const;
    await makeWorkspace(services, unit, id, { name, group_id: null, participants: [], ...facts });
    return true;
  });
}

/** The first admin of an organisation, by mail address. */
export async function adminOf(services: GatewayServices, org: string, email: string): Promise<Admin | undefined> {
  checkArgument("services", services, "object");
  checkArgument("org", org, "string");
  checkArgument("email", email, "string");
  const [known] = await services.read.list(admins, "by_email", [org, keyText(email.toLowerCase())], { limit: 1 });
  return known;
}

function operator(services: GatewayServices, org: string): Call {
  return systemCall("system:operator", org, services.clock.now());
}
