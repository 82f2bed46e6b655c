import type { TokenClaims } from "@seneschal/adapters/jwt";
import { type CertificateIdentity, untrusted } from "@seneschal/adapters/tls";
import type { Principal } from "@seneschal/contract";
import { refusal } from "@seneschal/core/keys";
import { CodedError } from "@seneschal/kernel";
import { keyText } from "../../platform/index.ts";
import { type CertificateRecord, certificates, type GatewayConfig, type Reader } from "../ground/index.ts";
import { federations } from "../partners/index.ts";
import { admins, identityKinds, subjectKey, type User, users } from "../people/index.ts";

/** Whom certificates and tokens can stand for: identities, and partners on other instances by their federation. */
const callerKinds: typeof identityKinds = {
  ...identityKinds,
  partner: {
    async find(read, id) {
      const federation = await read.get(federations, id);
      if (federation === undefined) return undefined;
      return { id, org: federation.partner_org_id, roles: [], isActive: () => federation.status === "active" };
    },
  },
};

/** The record of a presented certificate: the very one that was issued, not one of the same serial. */
async function recordOf(read: Reader, identity: CertificateIdentity): Promise<CertificateRecord | undefined> {
  const record = await read.get(certificates, identity.serial);
  return record?.fingerprint === identity.fingerprint ? record : undefined;
}

/**
 * Whom a certificate stands for. Asked on every request, so that a revocation works on the next one, also on an open
 * connection. Throws `certificate_untrusted` for one that is revoked or has no record, `FORBIDDEN` for somebody disabled.
 */
export async function principalOfCertificate(read: Reader, identity: CertificateIdentity, now: number): Promise<Principal> {
  const record = await recordOf(read, identity);
  if (record === undefined) throw untrusted("unknown certificate");
  if (record.status === "revoked") throw untrusted("revoked");
  const known = await callerKinds[record.subject_type]?.find(read, record.subject_id);
  // A partner's certificate is ours, but speaks for the partner's organisation: the subject decides.
  if (known === undefined || known.org !== identity.organization) throw untrusted("unknown identity");
  if (!known.isActive(now)) throw refusal("FORBIDDEN", "the identity is disabled");
  return {
    id: known.id,
    type: record.subject_type,
    org: known.org,
    roles: known.roles,
    scopes: [],
    method: "mtls",
    certSerial: identity.serial,
  };
}

/** Who issues tokens, and which of them a provider of users is. */
export interface TokenIssuers {
  /** Whether tokens of more than one issuer are taken: a subject alone is nobody then. */
  readonly several: boolean;
  /** The issuer of a provider's users; undefined for one that is not configured. */
  ofProvider(provider: string): string | undefined;
}

/** The issuers of a configuration. A provider that names none is the OpenID Connect issuer, or the only one that there is. */
export function tokenIssuers({ auth, sso }: Pick<GatewayConfig, "auth" | "sso">): TokenIssuers {
  const jwt = auth.jwt.enabled ? auth.jwt.issuer : undefined;
  const oidc = auth.oidc.enabled ? auth.oidc.issuer_url : undefined;
  const providers = new Map(sso.providers.map(({ id, issuer }) => [id, issuer ?? oidc ?? jwt]));
  return {
    several: jwt !== undefined && oidc !== undefined && jwt !== oidc,
    ofProvider: (provider) => providers.get(provider),
  };
}

/**
 * Whom a token stands for: the issuer's word, unless a local record of that person is disabled. A person is known by issuer and
 * subject (OpenID Connect Core, section 5.7): a record belongs to the issuer of its provider, and where several issuers are
 * trusted a subject without a record is named with its issuer, `<issuer>#<subject>`.
 */
export async function principalOfToken(
  read: Reader,
  claims: TokenClaims,
  method: "jwt" | "oidc",
  now: number,
  issuers: TokenIssuers,
): Promise<Principal> {
  const { subject, issuer, organization: org, roles, scopes, email, claimedEmail } = claims;
  const invalid = (): CodedError => new CodedError("invalid_token", "invalid token", { reason: "claim sub" });
  if (Buffer.byteLength(subject) > 256) throw invalid();
  for (const kind of Object.values(callerKinds)) {
    const known = await kind?.find(read, subject);
    if (known !== undefined && known.org === org && !known.isActive(now)) throw refusal("FORBIDDEN", "the identity is disabled");
  }
  const records = await read.list(users, "by_subject", subjectKey(org, subject));
  const mine = ({ sso_provider }: User): boolean => !issuers.several || issuers.ofProvider(sso_provider) === issuer;
  const user = records.find(mine);
  // One provider may know a subject under several names, and a name may have left the configuration: removed at one is removed.
  const removed = records.some(
    (record) => !record.active && (mine(record) || issuers.ofProvider(record.sso_provider) === undefined),
  );
  const disabled = removed || (await isDisabledAdmin(read, org, claimedEmail ?? user?.email ?? ""));
  if (disabled) throw refusal("FORBIDDEN", "the identity is disabled");
  const id = user?.id ?? (issuers.several ? `${issuer}#${subject}` : subject);
  if (Buffer.byteLength(id) > 256) throw invalid();
  return { id, type: "user", org, roles, scopes, method, ...(email === undefined ? {} : { email }) };
}

/** Whether the address is that of an admin who was disabled: the same person has no other way in. */
async function isDisabledAdmin(read: Reader, org: string, email: string): Promise<boolean> {
  if (email === "") return false;
  const [admin] = await read.list(admins, "by_email", [org, keyText(email.toLowerCase())], { limit: 1 });
  return admin?.enrollment_status === "disabled";
}
