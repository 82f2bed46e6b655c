import { X509Certificate } from "node:crypto";
import { pathToFileURL } from "node:url";
import { fileStamp } from "@seneschal/adapters/files";
import { type CertificateIdentity, openRevocations } from "@seneschal/adapters/tls";
import {
  type Caller,
  type CallerRefusal,
  callerOf,
  callerSubject,
  type GrpcPeer,
  handshakeRefusal,
  refusalText,
  storageError,
  tenantAsked,
  validityRefusal,
} from "@seneschal/core/storage";
import { isCoded } from "@seneschal/kernel";
import type { CryptoProvider } from "@seneschal/kernel/ports";
import type { Authorisation } from "../../platform/index.ts";
import type { StorageContext } from "../context.ts";
import type { TenantKeys } from "../keys/tenant-keys.ts";

/** What the authorisation policy is asked about a call that is no tenant's. */
type DataAction = "peers:use" | "keys:use" | "cluster:maintain" | "storage:admin";

/** What an accepted certificate says of its bearer. */
interface CertifiedPeer {
  readonly name: string;
  readonly units: readonly string[];
}

export interface CertificateCheck {
  /** Checks the certificate anew: trusted, within its time, not revoked. Throws `AuthenticationFailed`. */
  identify(peer: GrpcPeer): Promise<CertifiedPeer>;
  /** Logs and counts a refusal; returns the error to throw. */
  refuse(reason: CallerRefusal, peer: string): Error;
}

export interface PeerAuth extends CertificateCheck {
  /** The same on every call of the data path, by the one role in the organizational unit. */
  authenticate(peer: GrpcPeer): Promise<Caller>;
  /** The same, and the authorisation policy allows the action. Throws `AuthenticationFailed`: the unit is not one for it. */
  admit(peer: GrpcPeer, action: DataAction): Promise<Caller>;
  /**
   * The tenant whose data a call is about: a tenant's own, or the one that a node of the cluster names, if the authorisation
   * policy allows it. Throws `TenantAccessDenied`.
   */
  tenantOf(caller: Caller, action: "objects:read" | "objects:write", named: string): Promise<string>;
}

export interface CertificateCheckOptions {
  readonly context: StorageContext;
  /** Where callers come in, for metrics and events. */
  readonly surface: "grpc" | "admin";
  readonly revocations?: RevocationFile;
  readonly log: { warn(fields: object, message: string): void };
}

export interface PeerAuthOptions extends CertificateCheckOptions {
  readonly tenants: Pick<TenantKeys, "tenant">;
  readonly authorisation: Authorisation;
  /** Plaintext on loopback: nobody has a certificate. */
  readonly insecure: boolean;
}

const EVENT_MS = 10_000;

/** What a client certificate must be (interface document 3, Authentication, 1 and 2). What is not exactly right is refused. */
export function checkCertificates({ context, surface, revocations, log }: CertificateCheckOptions): CertificateCheck {
  const lastEvent = new Map<string, number>();
  const place = surface === "grpc" ? "data path" : "admin interface";

  const refuse: PeerAuth["refuse"] = (reason, peer) => {
    context.metrics.authFailures.inc({ surface, reason });
    const now = context.clock.now();
    // One event per reason and ten seconds: an attacker must not flush the event log. The log has them all.
    if (now - (lastEvent.get(reason) ?? Number.NEGATIVE_INFINITY) >= EVENT_MS) {
      lastEvent.set(reason, now);
      context.emit("warning", "security", `AuthenticationFailed on the ${place}`, { reason, peer });
    } else log.warn({ reason, peer }, `AuthenticationFailed on the ${place}`);
    return storageError("AuthenticationFailed", refusalText(reason), { reason });
  };

  const identify: PeerAuth["identify"] = async ({ address, certificate }) => {
    const no = (reason: CallerRefusal) => refuse(reason, address);
    const refusal = handshakeRefusal(certificate);
    if (refusal !== undefined || certificate === undefined) throw no(refusal ?? "certificate_missing");
    let identity: Identity;
    try {
      identity = identityOf(certificate.der);
    } catch {
      throw no("certificate_untrusted");
    }
    const late = validityRefusal(identity, context.clock.now());
    if (late !== undefined) throw no(late);
    if (revocations !== undefined) {
      let revoked: boolean;
      try {
        revoked = await revocations.isRevoked(identity);
      } catch (error) {
        log.warn({ error, peer: address }, "the revocation list cannot be used");
        throw no("revocation_unknown");
      }
      if (revoked) throw no("certificate_revoked");
    }
    return identity;
  };

  return { identify, refuse };
}

/** Callers of the data path: who they are by their certificates, what they may by the authorisation policy of the service. */
export function createPeerAuth({ tenants, authorisation, insecure, ...options }: PeerAuthOptions): PeerAuth {
  const { context } = options;
  const { identify, refuse } = checkCertificates(options);

  const decide = (caller: Caller, action: string, org: string) => {
    const subject = { ...callerSubject(caller), scopes: [], permissions: [] };
    const resource = { type: action.split(":", 1)[0] ?? "", id: "", org, workspace: "" };
    return authorisation.decide({ subject, action, resource, context: { method: "grpc", path: "" } }, context.clock.now());
  };

  const authenticate: PeerAuth["authenticate"] = async (peer) => {
    if (insecure) return { kind: "loopback", id: "insecure" };
    const identity = await identify(peer);
    const no = (reason: CallerRefusal) => refuse(reason, peer.address);
    const caller = callerOf(identity);
    if (caller === undefined) throw no("organizational_unit");
    if (caller.kind === "tenant")
      await tenants.tenant(caller.tenant).catch((error: unknown) => {
        throw isCoded(error, "NotFound") ? no("unknown_tenant") : error;
      });
    return caller;
  };

  return {
    identify,
    authenticate,
    refuse,
    async admit(peer, action) {
      const caller = await authenticate(peer);
      if ((await decide(caller, action, "cluster")).allowed) return caller;
      throw refuse(action === "storage:admin" ? "not_storage_admin" : "not_store_server", peer.address);
    },
    async tenantOf(caller, action, named) {
      const tenant = tenantAsked(caller, named);
      const decision = await decide(caller, action, tenant);
      if (!decision.allowed) throw storageError("TenantAccessDenied", decision.reason, { field: "tenant" });
      return tenant;
    },
  };
}

interface Identity {
  readonly name: string;
  readonly units: readonly string[];
  readonly der: Uint8Array;
  readonly notBefore: number;
  readonly notAfter: number;
}

const known = new WeakMap<Uint8Array, Identity>();

/** What a certificate says. Remembered for the life of its connection. */
function identityOf(der: Uint8Array): Identity {
  const before = known.get(der);
  if (before !== undefined) return before;
  const certificate = new X509Certificate(der);
  const subject = certificate.toLegacyObject().subject as unknown as Readonly<
    Record<string, string | readonly string[] | undefined>
  >;
  const identity: Identity = {
    name: [subject["CN"] ?? "certificate"].flat().join(","),
    units: [subject["OU"] ?? []].flat(),
    der,
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
  };
  known.set(der, identity);
  return identity;
}

/** The revocation list of a file, as it is at this moment. */
interface RevocationFile {
  /** Throws when it cannot be known: the file is away, unreadable, unsigned, or out of date. */
  isRevoked(identity: Pick<CertificateIdentity, "der">): Promise<boolean>;
}

/**
 * Watches the file by asking for its state on every check: a list that was replaced is in force for the next call, one that was
 * taken away or spoiled lets nobody in, whatever was read before.
 */
export function openRevocationFile(
  path: string,
  options: { readonly trustedCa: string; readonly now: () => number; readonly provider: CryptoProvider },
): RevocationFile {
  const lists = openRevocations({ ...options, url: pathToFileURL(path).href });
  let loaded: string | undefined;
  let loading: { readonly stamp: string; readonly done: Promise<void> } | undefined;

  const load = (stamp: string): Promise<void> => {
    if (loading?.stamp !== stamp) {
      const done = lists.refresh().then(() => {
        loaded = stamp;
      });
      const own = { stamp, done };
      loading = own;
      done
        .catch(() => undefined)
        .finally(() => {
          if (loading === own) loading = undefined;
        });
    }
    return loading?.done ?? Promise.resolve();
  };

  return {
    async isRevoked(identity) {
      const stamp = await fileStamp(path);
      if (loaded !== stamp) await load(stamp);
      return lists.isRevoked(identity);
    },
  };
}
