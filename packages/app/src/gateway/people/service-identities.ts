import { timingSafeEqual } from "node:crypto";
import { readText } from "@seneschal/adapters/files";
import { claimedIssuer, type ServiceAccountVerifier, serviceAccountVerifier, staticKeys } from "@seneschal/adapters/jwt";
import type { Handlers, Principal } from "@seneschal/contract";
import type { GatewayContract } from "@seneschal/contract/gateway";
import {
  acceptsServiceAccount,
  invalidField,
  isPast,
  isUuid,
  type retireCredentials,
  rotateCredentials,
  type ServiceCredential,
  type ServiceIdentity,
  timestamp,
} from "@seneschal/core/keys";
import { findOwn, type GatewayConfig, type GatewayUnit, listed, type Reader, utf8 } from "../ground/index.ts";
import { revokeCertificate, revokeCertificatesOf } from "./certificates.ts";
import { serviceIdentities } from "./collections.ts";
import { forgetIdentity, invalidToken } from "./identities.ts";
import type { PeopleServices } from "./services.ts";

/** How bearer tokens of services begin: `sens_<role_id>.<secret_id>`. */
export const serviceTokenPrefix = "sens_";

const hash = ({ crypto }: PeopleServices, secret: string): string =>
  Buffer.from(crypto.hash("sha256", utf8(`seneschal/service-secret/v1\0${secret}`))).toString("hex");

/** What the owner of a service is shown, once. */
interface ShownCredentials {
  readonly role_id?: string;
  readonly secret_id?: string;
  readonly audience?: string;
  readonly service_account?: string;
  readonly common_name?: string;
  readonly certificate?: string;
  readonly private_key?: string;
  readonly ca_chain?: string[];
  readonly serial_number?: string;
  readonly expires_at: string | null;
}

/**
 * Makes the credential of a service's method. Throws `VALIDATION_ERROR` when the orchestrator is not configured for the
 * organisation.
 */
async function issueCredential(
  services: PeopleServices,
  unit: GatewayUnit,
  service: Pick<ServiceIdentity, "id" | "org_id" | "name" | "auth_method">,
): Promise<{ readonly kept: ServiceCredential; readonly shown: ShownCredentials }> {
  switch (service.auth_method) {
    case "role_credential": {
      const secret_id = Buffer.from(services.random(32)).toString("base64url");
      return {
        kept: { kind: "secret", hash: hash(services, secret_id), valid_until: null },
        shown: { role_id: service.id, secret_id, expires_at: null },
      };
    }
    case "cert": {
      const common_name = `${service.name}.internal.local`;
      const issued = await services.pki.issueWithKey(unit, {
        org: service.org_id,
        commonName: common_name,
        subject: { type: "service", id: service.id },
        ttl: services.config.services.cert_ttl,
      });
      unit.record({ type: "certificate.issue", metadata: { serial_number: issued.serial_number, common_name } });
      const { certificate, private_key, ca_chain, serial_number, expiration } = issued;
      return {
        kept: { kind: "certificate", serial_number, valid_until: null },
        shown: { common_name, certificate, private_key, ca_chain: [...ca_chain], serial_number, expires_at: expiration },
      };
    }
    case "orchestrator": {
      const { orchestrator } = services.config.services;
      const [namespace] = Object.entries(orchestrator?.namespaces ?? {}).find(([, org]) => org === service.org_id) ?? [];
      if (orchestrator === undefined || namespace === undefined) {
        throw invalidField("auth_method", "no orchestrator is configured for the organisation");
      }
      return {
        kept: { kind: "service_account", issued_from: timestamp(unit.call.now), valid_until: null },
        shown: { audience: orchestrator.audience, service_account: `${namespace}/${service.name}`, expires_at: null },
      };
    }
    default:
      return service.auth_method satisfies never;
  }
}

/** Writes a service whose credentials changed; the certificates that went with them are revoked. */
export async function saveService(unit: GatewayUnit, { service, revoked }: ReturnType<typeof retireCredentials>): Promise<void> {
  for (const serial of revoked) await revokeCertificate(unit, serial);
  unit.put(serviceIdentities, service.id, service);
}

function principal(service: ServiceIdentity, method: string): Principal {
  return { id: service.id, type: "service", org: service.org_id, roles: [], scopes: [], method };
}

/** Whom `sens_<role_id>.<secret_id>` stands for. Throws `invalid_token`, without saying what was wrong. */
export async function principalOfSecret(services: PeopleServices, token: string, now: number): Promise<Principal> {
  const [roleId = "", secret = ""] = token.slice(serviceTokenPrefix.length).split(".");
  const service = isUuid(roleId) ? await services.read.get(serviceIdentities, roleId) : undefined;
  const given = Buffer.from(hash(services, secret));
  const fits = service?.credentials.some(
    (known) => known.kind === "secret" && !isPast(known.valid_until, now) && timingSafeEqual(Buffer.from(known.hash), given),
  );
  if (service?.active !== true || fits !== true) throw invalidToken("service credential");
  return principal(service, "token");
}

/** Whom a verified token of the orchestrator stands for: the service of that account, if its token is not from before a rotation. */
export async function principalOfServiceAccount(
  services: PeopleServices,
  account: { readonly namespace: string; readonly name: string; readonly issuedAt: number },
  now: number,
): Promise<Principal> {
  const namespaces = services.config.services.orchestrator?.namespaces ?? {};
  const org = Object.hasOwn(namespaces, account.namespace) ? namespaces[account.namespace] : undefined;
  const [service] =
    org === undefined ? [] : await services.read.list(serviceIdentities, "by_name", [org, account.name], { limit: 1 });
  if (service === undefined || !acceptsServiceAccount(service, account.issuedAt, now)) throw invalidToken("service account");
  return principal(service, "jwt");
}

/** Removes a service of the organisation with its certificates and all that it was let into; one that is gone stays gone. */
export async function removeService(services: PeopleServices, unit: GatewayUnit, org: string, id: string): Promise<void> {
  const service = await unit.get(serviceIdentities, id);
  if (service?.org_id !== org) return;
  await revokeCertificatesOf(unit, org, { subject_type: "service", subject_id: id });
  await forgetIdentity(services, unit, org, id);
  unit.delete(serviceIdentities, id);
  unit.record({ type: "service.delete", metadata: { service_id: id } });
}

type Routes = Pick<GatewayContract, "createService" | "listServices" | "getService" | "deleteService" | "rotateService">;

const findService = (read: Reader, id: string, org: string) => findOwn(read, serviceIdentities, id, org, "service");

export const serviceHandlers: Handlers<Routes, PeopleServices> = {
  async createService(services, { principal, body, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const at = timestamp(now);
      const facts = { id: services.newId(now), org_id: principal.org, ...body };
      const { kept, shown } = await issueCredential(services, unit, facts);
      const service: ServiceIdentity = {
        ...facts,
        active: true,
        last_auth_at: null,
        credentials: [kept],
        created_at: at,
        updated_at: at,
      };
      unit.insert(serviceIdentities, service.id, service);
      unit.record({ type: "service.create", metadata: { service_id: service.id, auth_method: service.auth_method } });
      return { ...service, credentials: { ...shown, previous_valid_until: null } };
    });
  },

  listServices: async ({ read }, { principal, query }) =>
    listed("services", await read.page(serviceIdentities, "by_org", [principal.org], query)),

  getService: ({ read }, { principal, params }) => findService(read, params.id, principal.org),

  async deleteService(services, { principal, params, now, requestId }) {
    await services.transact({ principal, now, requestId }, async (unit) => {
      const service = await findService(unit, params.id, principal.org);
      await removeService(services, unit, principal.org, service.id);
    });
  },

  async rotateService(services, { principal, params, now, requestId }) {
    return services.transact({ principal, now, requestId }, async (unit) => {
      const service = await findService(unit, params.id, principal.org);
      const { kept, shown } = await issueCredential(services, unit, service);
      const rotated = rotateCredentials(service, kept, services.config.services.overlap, now);
      await saveService(unit, rotated);
      const { previous_valid_until } = rotated;
      unit.record({ type: "service.rotate", metadata: { service_id: service.id, previous_valid_until } });
      return { ...rotated.service, credentials: { ...shown, previous_valid_until } };
    });
  },
};

/** Tells the orchestrator's tokens from others, and verifies them. */
export interface Orchestrator extends ServiceAccountVerifier {
  /** By the issuer that the token claims: nothing is trusted yet. */
  issued(token: string): boolean;
}

/**
 * The orchestrator that the configuration names, `undefined` without one. Throws `config_invalid` for an unusable key, and
 * what reading its file throws.
 */
export async function openOrchestrator({ services, auth }: GatewayConfig, now: () => number): Promise<Orchestrator | undefined> {
  const { orchestrator } = services;
  if (orchestrator === undefined) return undefined;
  const { issuer, audience, public_key } = orchestrator;
  const keys = staticKeys(await readText(public_key));
  return {
    ...serviceAccountVerifier({ keys, issuer, audience, clockSkewMs: auth.jwt.clock_skew, now }),
    issued: (token) => claimedIssuer(token) === issuer,
  };
}
