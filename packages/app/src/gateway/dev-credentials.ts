import { type AdminRole, adminRoles, createAdmin, stepAdmin } from "@seneschal/core/keys";
import { CodedError, checkArgument } from "@seneschal/kernel";
import { keyText } from "../platform/index.ts";
import type { DevIssuer } from "./dev-issuer.ts";
import { ensureOrganization, hostName, systemCall } from "./ground/index.ts";
import { admins } from "./people/index.ts";
import type { GatewayServices } from "./services.ts";

/** One admin with everything that a client needs to be it. All PEM; the certificate has its chain behind it. */
export interface DevAdmin {
  readonly id: string;
  readonly role: AdminRole;
  readonly email: string;
  readonly certificate: string;
  readonly private_key: string;
  readonly serial_number: string;
  readonly token: string;
}

export interface DevOrganization {
  readonly id: string;
  readonly admins: Readonly<Record<AdminRole, DevAdmin>>;
  /** A token of somebody without any role. */
  readonly user: { readonly id: string; readonly token: string };
}

export interface DevCredentials {
  /** What clients verify servers against. */
  readonly ca: string;
  /** What servers verify clients against. */
  readonly clientCa: string;
  readonly organizations: Readonly<Record<string, DevOrganization>>;
}

/**
 * Makes organisations with an enrolled admin of every role, for `seneschal dev`, the tour and tests, straight through the
 * library: no bootstrap, no signature. Calling it again issues new certificates and tokens for the same admins.
 * `tokenTtl` in seconds.
 */
export async function devCredentials(
  services: GatewayServices,
  given: {
    readonly organizations: readonly string[];
    readonly issuer: DevIssuer;
    readonly now: number;
    readonly tokenTtl?: number;
  },
): Promise<DevCredentials> {
  checkArgument("services", services, "object");
  checkArgument("given", given, "object");
  const { organizations, issuer, now, tokenTtl = 30 * 86_400 } = given;
  const made: Record<string, DevOrganization> = {};
  for (const org of organizations) {
    await services.organizationKeys.ensureKek(org);
    const entries: [AdminRole, DevAdmin][] = [];
    for (const role of adminRoles) entries.push([role, await devAdmin(services, issuer, org, role, now, tokenTtl)]);
    const user = `user@${org}`;
    made[org] = {
      id: org,
      admins: Object.fromEntries(entries) as Record<AdminRole, DevAdmin>,
      user: { id: user, token: issuer.token({ sub: user, org, ttl: tokenTtl }, now) },
    };
  }
  const anchor = (of: "servers" | "clients") =>
    services.transact(systemCall("system:dev", "", now), (unit) => services.pki.trustAnchor(unit, of));
  return { ca: await anchor("servers"), clientCa: await anchor("clients"), organizations: made };
}

async function devAdmin(
  services: GatewayServices,
  issuer: DevIssuer,
  org: string,
  role: AdminRole,
  now: number,
  tokenTtl: number,
): Promise<DevAdmin> {
  const email = `${role.replace("_", "-")}@${encodeURIComponent(org)}.example`;
  return services.transact(systemCall("system:dev", org, now), async (unit) => {
    await ensureOrganization(unit, org, "configuration");
    const [known] = await unit.list(admins, "by_email", [org, keyText(email.toLowerCase())], { limit: 1 });
    const admin =
      known ??
      createAdmin({ id: services.newId(now), org, email, name: `${role} of ${org}`, role, by: null, bootstrap: false }, now)
        .state;
    const issued = await services.pki.issueWithKey(unit, {
      org,
      commonName: email,
      subject: { type: "admin", id: admin.id },
      ttl: services.config.admin.cert_ttl,
    });
    if (admin.enrollment_status !== "active") {
      const enrolment = { serial: issued.serial_number, cn: email, expiry: issued.expiration };
      const { state } = stepAdmin(admin, { kind: "enroll", ...enrolment }, 0, now);
      unit.put(admins, admin.id, state);
      unit.record({ type: "admin.create", metadata: { admin_id: admin.id, role } });
    }
    return {
      id: admin.id,
      role,
      email,
      certificate: issued.certificate + issued.issuing_ca,
      private_key: issued.private_key,
      serial_number: issued.serial_number,
      token: issuer.token({ sub: admin.id, org, roles: [role], ttl: tokenTtl }, now),
    };
  });
}

/**
 * A certificate for the instance's own TLS ports, from its server CA. Names are DNS names or addresses. `chain` is presented behind it, `ca` is what clients pin
 * for it, `clientCa` what the port verifies clients against: neither accepts what the other one does.
 */
export async function serverCertificate(
  services: GatewayServices,
  given: { readonly names: readonly string[]; readonly now: number; readonly ttl?: number },
): Promise<{
  readonly cert: string;
  readonly chain: string;
  readonly key: string;
  readonly ca: string;
  readonly clientCa: string;
}> {
  checkArgument("services", services, "object");
  checkArgument("given", given, "object");
  const { names, now, ttl = 365 * 86_400_000 } = given;
  const instance = services.instance;
  return services.transact(systemCall("system:server", instance, now), async (unit) => {
    const issued = await services.pki.issueServer(unit, {
      org: instance,
      commonName: names[0] ?? "localhost",
      subject: { type: "server", id: instance },
      ttl,
      altNames: names.map((name) => {
        const host = hostName(name);
        if (host === undefined) throw new CodedError("usage", `${name} is neither a DNS name nor an address`);
        return host;
      }),
    });
    return {
      cert: issued.certificate,
      chain: issued.ca_chain.join(""),
      key: issued.private_key,
      ca: issued.issuing_ca,
      clientCa: await services.pki.trustAnchor(unit, "clients"),
    };
  });
}
