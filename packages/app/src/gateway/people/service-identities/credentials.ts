import { timingSafeEqual } from "node:crypto";
import type { Principal } from "@seneschal/contract";
import { invalidField, isPast, isUuid, timestamp } from "@seneschal/core/keys";
import { type GatewayUnit, utf8 } from "../../ground/index.ts";
import { revokeCertificate } from "../certificates/revoke.ts";
import { invalidToken } from "../identities/invalid-token.ts";
import type { PeopleServices } from "../services.ts";
import { type ServiceCredential, type StoredService, serviceIdentities } from "./collections.ts";

/** How bearer tokens of services begin: `sens_<role_id>.<secret_id>`. */
export const serviceTokenPrefix = "sens_";

const hash = ({ crypto }: PeopleServices, secret: string): string =>
  Buffer.from(crypto.hash("sha256", utf8(`seneschal/service-secret/v1\0${secret}`))).toString("hex");

/** What the owner of a service is shown, once. */
export interface ShownCredentials {
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
export async function issueCredential(
  services: PeopleServices,
  unit: GatewayUnit,
  service: Pick<StoredService, "id" | "org_id" | "name" | "auth_method">,
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

/** Drops the credentials that are over by now; their certificates are revoked. */
export async function retireCredentials(unit: GatewayUnit, service: StoredService): Promise<StoredService> {
  const { now } = unit.call;
  const over = ({ valid_until }: ServiceCredential): boolean => isPast(valid_until, now);
  for (const credential of service.credentials.filter(over)) {
    if (credential.kind === "certificate") await revokeCertificate(unit, credential.serial_number);
  }
  return { ...service, credentials: service.credentials.filter((credential) => !over(credential)) };
}

function principal(service: StoredService, method: string): Principal {
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
  // Issue times are whole seconds.
  const fits = service?.credentials.some(
    (known) =>
      known.kind === "service_account" &&
      !isPast(known.valid_until, now) &&
      account.issuedAt >= Math.floor(Date.parse(known.issued_from) / 1000) * 1000,
  );
  if (service?.active !== true || fits !== true) throw invalidToken("service account");
  return principal(service, "jwt");
}
