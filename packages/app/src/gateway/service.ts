import { join } from "node:path";
import { readText } from "@seneschal/adapters/files";
import { nodeCrypto } from "@seneschal/adapters/node-crypto";
import type { Revocations } from "@seneschal/adapters/tls";
import { vaultCollections } from "@seneschal/adapters/vault";
import { gatewayContract, gatewayInfo } from "@seneschal/contract/gateway";
import { parseCertificates } from "@seneschal/crypto/x509";
import { CodedError } from "@seneschal/kernel";
import type { AuditEntry, PolicyEngine } from "@seneschal/kernel/ports";
import { openDatabase } from "../compose/open-database.ts";
import { openVault } from "../compose/open-vault.ts";
import { preparedInstance } from "../compose/prepare-data.ts";
import { rewriteFile } from "../compose/private-files.ts";
import { revocationLists } from "../compose/revocation-lists.ts";
import { type GatewayServiceConfig, gatewayServiceSettings } from "../compose/service-settings.ts";
import {
  type AuthSettings,
  type BuiltService,
  decisionsOf,
  defineService,
  liveVerifiers,
  openArchive,
  openAuditSinks,
  openPolicyEngine,
  type Platform,
  type Stoppable,
} from "../platform/index.ts";
import { type AuditEvent, auditGatewaySeal } from "./ground/index.ts";
import { type Gateway, openGateway } from "./open-gateway.ts";
import { renewServerCertificate } from "./renew-server-certificate.ts";
import { gatewaySchema } from "./schema.ts";

/** The gateway service with its parts below `dataDir`, for `buildService` or `startService`. */
export function gatewayService(dataDir: string, renewal?: CertificateRenewal) {
  return defineService({
    name: "gateway",
    contract: gatewayContract,
    settings: gatewayServiceSettings,
    info: gatewayInfo,
    build: (config, platform): Promise<BuiltService> => buildGateway(config, platform, dataDir, renewal),
  });
}

/** The gateway's store, with the embedded vault in it. */
export function openGatewayStore(database: GatewayServiceConfig["database"], dataDir: string, log?: Platform["log"]) {
  const schema = { ...gatewaySchema, collections: { ...gatewaySchema.collections, ...vaultCollections } };
  return openDatabase(database, schema, join(dataDir, "gateway"), log);
}

/** Certificates of ports that the gateway renews before they end, as far as they are its own. */
export interface CertificateRenewal {
  /** Files in PEM, each of the port that the setting names. */
  readonly files: () => readonly string[];
  /** Takes in what was renewed. */
  readonly renewed: () => Promise<void>;
}

const RENEWAL_MS = 3_600_000;

/** Opens store, vault and gateway; what was opened is closed again by `stop`, and when something fails on the way. */
export async function buildGateway(
  config: GatewayServiceConfig,
  platform: Platform,
  dataDir: string,
  renewal?: CertificateRenewal,
): Promise<Gateway> {
  const { database, vault: vaultConfig, ...rest } = config;
  const own = { ...rest, backup: { location: rest.backup.location ?? join(dataDir, "gateway-backups") } };
  const { clock, random, log, metrics, version, background, health, operators } = platform;
  const store = await openGatewayStore(database, dataDir, log);
  let closeVault: (() => void) | undefined;
  let policy: PolicyEngine | undefined;
  let lists: Awaited<ReturnType<typeof revocationLists>>;
  let sinks: Awaited<ReturnType<typeof openAuditSinks>> | undefined;
  try {
    const needs = { store, crypto: nodeCrypto, clock, random, operators, audit: auditGatewaySeal };
    const { vault, seal, close } = await openVault(vaultConfig, join(dataDir, "unseal.key"), needs);
    closeVault = close;
    const { threads, policy_deadline: deadline } = own.workers;
    policy = await openPolicyEngine(own.policy_engine, { threads, deadline });
    const engine = policy;
    const tokens = await liveVerifiers(own.auth, () => clock.now());
    const prepared = await preparedInstance(dataDir);
    let trusted = await trustOf(own.auth);
    lists = await revocationLists(own.auth, platform);
    const revocations = lists && {
      isRevoked: (identity: Parameters<Revocations["isRevoked"]>[0]) => lists?.isRevoked(identity) ?? false,
      requireInForce: () => lists?.requireInForce(),
    };
    const archive = own.audit.archive && (await openArchive(own.audit.archive.to));
    const gateway = await openGateway({
      store,
      vault,
      crypto: nodeCrypto,
      policy: engine,
      clock,
      random,
      config: own,
      log,
      metrics,
      version,
      background,
      health,
      tokens: tokens.list,
      ...(archive === undefined ? {} : { archive }),
      ...(revocations === undefined ? {} : { revocations }),
      async prepareReload({ auth }) {
        const { crl_url } = auth.mtls;
        if ((crl_url === undefined) !== (lists === undefined))
          throw new CodedError("config_invalid", "auth.mtls.crl_url is not set or removed while the gateway runs");
        const issuers = await tokens.prepare(auth);
        const trust = await trustOf(auth);
        // The lists in force stay the floor for those that come: an older one is refused.
        if (trust === trusted) {
          await lists?.refresh();
          return issuers;
        }
        const next = await revocationLists(auth, platform);
        return () => {
          issuers();
          lists?.close();
          lists = next;
          trusted = trust;
        };
      },
      ...(prepared === undefined ? {} : { preparedInstance: prepared }),
      ownNames: await certifiedNames(own.server.tls_cert),
      decisionsTold: () => sinks?.decisionsTold(),
    });
    const { instance } = gateway.services;
    sinks = await openAuditSinks({
      settings: own.audit_sinks,
      store: async () => store,
      platform,
      service: "gateway",
      instance,
      describe: describeEvent,
      decisions: (entries) =>
        decisionsOf(
          store,
          entries.map(({ event }) => `${event["id"]}`),
        ),
    }).catch(async (error: unknown) => {
      await gateway.stop?.();
      throw error;
    });
    let renewing: Stoppable | undefined;
    const renew = (): Promise<void> => renewCertificates(gateway, renewal, clock.now());
    return sinks.around({
      ...gateway,
      ...(seal === undefined ? {} : { seal }),
      async start() {
        await gateway.start?.();
        if (renewal === undefined) return;
        void background.step("server certificates", renew);
        renewing = background.every("server certificates", RENEWAL_MS, renew);
      },
      async stop() {
        await renewing?.stop();
        lists?.close();
        await gateway.stop?.();
        await engine.close();
        close();
        await store.close();
      },
    });
  } catch (error) {
    lists?.close();
    await policy?.close();
    closeVault?.();
    await store.close();
    throw error;
  }
}

/** Renews what is due; each file is replaced whole, and its key stays as it is. Rejects for one that cannot be written. */
async function renewCertificates({ services }: Gateway, renewal: CertificateRenewal | undefined, now: number): Promise<void> {
  const renewOne = async (path: string): Promise<boolean> => {
    const renewed = await renewServerCertificate(services, await readText(path), now);
    if (renewed === undefined) return false;
    await rewriteFile(path, renewed);
    services.log.info({ path }, "a certificate of an own port was renewed");
    return true;
  };
  const made = await Promise.allSettled([...new Set(renewal?.files())].map(renewOne));
  if (made.some((one) => one.status === "fulfilled" && one.value)) await renewal?.renewed();
  for (const one of made) if (one.status === "rejected") throw one.reason;
}

/** What an event of the gateway says, in the words of all services. */
function describeEvent({ event }: AuditEntry) {
  const { id, timestamp: time, event_type: type, actor, result } = event as unknown as AuditEvent;
  return { id, time, type, actor, outcome: result === "error" ? ("failure" as const) : result };
}

/** Where lists come from, and whose they may be. */
async function trustOf({ mtls }: AuthSettings): Promise<string> {
  const { crl_url, trusted_ca } = mtls;
  return crl_url === undefined || trusted_ca === undefined ? "" : `${crl_url}\n${await readText(trusted_ca)}`;
}

/** The names in the certificate of the gateway's own port. */
async function certifiedNames(path: string | undefined): Promise<readonly string[]> {
  if (path === undefined) return [];
  const [certificate] = parseCertificates(await readText(path));
  return (certificate?.extensions.subjectAltNames ?? []).map(({ value }) => value);
}
