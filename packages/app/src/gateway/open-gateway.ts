import type { BackupTarget } from "@seneschal/adapters/backups";
import { targetGuard } from "@seneschal/adapters/http";
import type { TokenVerifier } from "@seneschal/adapters/jwt";
import type { Logger } from "@seneschal/adapters/logging";
import type { Metrics } from "@seneschal/adapters/metrics";
import { openThresholdThreads, type ThresholdThreads } from "@seneschal/adapters/threshold-threads";
import type { Revocations } from "@seneschal/adapters/tls";
import type { PortableKeys } from "@seneschal/adapters/vault";
import { endpoints, type Hooks, type Principal } from "@seneschal/contract";
import { gatewayContract, gatewayErrors } from "@seneschal/contract/gateway";
import { timestamp, uuid } from "@seneschal/core/keys";
import { CodedError, checkOptions } from "@seneschal/kernel";
import type { Clock, CryptoProvider, DocumentStore, PolicyEngine, Random, Vault, WorkerPoolState } from "@seneschal/kernel/ports";
import { settled } from "@seneschal/kernel/store";
import { type Admissions, admissions } from "../platform/admission.ts";
import { AuditTampered, archiveRounds } from "../platform/audit-log/index.ts";
import { authenticator } from "../platform/auth/authenticator.ts";
import { type Authorisation, openAuthorisation } from "../platform/authz/authorisation.ts";
import type { Background } from "../platform/background.ts";
import { forgetDecisions } from "../platform/decision-log/documents.ts";
import { forgetChanges } from "../platform/forget-changes.ts";
import { databaseCheck, type Health, type HealthCheck } from "../platform/health.ts";
import { storeIdempotency, vaultSealer } from "../platform/idempotency.ts";
import { pooledRandom } from "../platform/pooled-random.ts";
import type { RateLimits } from "../platform/rate-limit/rate-limiter.ts";
import { type RecordedReads, recordedReads } from "../platform/recorded-reads.ts";
import type { Stoppable } from "../platform/repeat.ts";
import type { BuiltService } from "../platform/service.ts";
import { measureWorkers, workersCheck } from "../platform/workers.ts";
import { auditedHandlers } from "./access/audited-handlers.ts";
import { authoriseCall } from "./access/authorise-call.ts";
import { ownTokens } from "./access/own-tokens.ts";
import { principalOfCertificate, principalOfToken, tokenIssuers } from "./access/principals.ts";
import { requireTarget } from "./access/require-target.ts";
import { coveredState } from "./covered-state.ts";
import {
  type AuditEvent,
  type AuditFacts,
  archiveDueEvents,
  auditLog,
  type Call,
  cachedReader,
  type DecisionLog,
  ensureOrganization,
  type GatewayConfig,
  type GatewayUnit,
  gatewayMetrics,
  handlersOfOneMoment,
  instanceOfStore,
  instanceStream,
  openDecisionLog,
  organizationKeys,
  pki,
  quietStore,
  reader,
  revocationAddresses,
  signatures,
  systemCall,
  taggedHandlers,
  transact,
  type Unit,
} from "./ground/index.ts";
import { measured } from "./measure.ts";
import { type RotationScheduler, rotationScheduler } from "./oversight/index.ts";
import {
  dispatchLanes,
  federationChannels,
  federations,
  hostOf,
  logWitnesses,
  messageLanes,
  partnerRefusals,
  partnerStates,
  watchPartners,
  witnessRounds,
  workspaceReplication,
} from "./partners/index.ts";
import { lastUse, openOrchestrator, rememberingUnit, writeLastUse } from "./people/index.ts";
import { entityReadings, gatewayHandlers } from "./resources.ts";
import type { GatewayServices } from "./services.ts";
import { sweep } from "./sweep.ts";
import { dekRing, dekUses, identityAdmissions, policyGate } from "./workspaces/index.ts";

/** What a gateway is made of. The store was opened with `gatewaySchema`. */
export interface GatewayOptions {
  readonly store: DocumentStore;
  readonly vault: Vault & Partial<PortableKeys>;
  readonly crypto: CryptoProvider;
  /** Decides every request, and runs the policies of workspaces. */
  readonly policy: PolicyEngine;
  /** Works with root keys and shares, and stays the caller's to close. Default: threads of this gateway's own, by `config.workers`. */
  readonly threshold?: ThresholdThreads;
  readonly clock: Clock;
  readonly random: Random;
  readonly config: GatewayConfig;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  readonly background: Background;
  readonly health: () => Promise<Health>;
  /** What the instance is called when its store is new and `server.instance_id` is not set; default: at random. */
  readonly preparedInstance?: string;
  /** Names under which the instance is reached, beside those of its settings: nobody gets a certificate for them. */
  readonly ownNames?: readonly string[];
  /** Revocation lists from elsewhere (`auth.mtls.crl_url`), beside the gateway's own records. Throws when it cannot know. */
  readonly revocations?: Pick<Revocations, "isRevoked" | "requireInForce">;
  /** Makes revocation lists and verifiers of tokens anew by a configuration; what comes back puts them in force. */
  readonly prepareReload?: (config: GatewayConfig) => Promise<() => void>;
  /** Verifiers of bearer tokens, in order of preference: those that are in the list when a request comes. */
  readonly tokens?: readonly (TokenVerifier & {
    readonly method: "jwt" | "oidc";
    readonly requiredScopes?: readonly string[];
  })[];
  /** The place of `config.audit.archive.to`. Without it no event leaves the store. */
  readonly archive?: BackupTarget;
  /** Milliseconds between seals of the audit log. */
  readonly sealEvery?: number;
  /** Until when every sink that tells decisions has heard all of them; without it decisions are not kept for any. */
  readonly decisionsTold?: () => number | undefined;
}

/** A gateway ready to be served, and its services for those who compose it or act as its operator. */
export interface Gateway extends BuiltService {
  readonly services: GatewayServices;
  readonly limits: RateLimits;
  /** Tries what is due to partners, messages and all else; `start` calls it every few seconds. `now` in milliseconds. */
  deliver(now: number): Promise<void>;
  /** Calls every partner to see whether it is there; `start` does it by the configured interval. `now` in milliseconds. */
  watchPartners(now: number): Promise<void>;
  /** Has every partner witness the audit log of the organisation that it is federated with. */
  askWitnesses(now: number): Promise<void>;
  /** Moves audit events into the archive that are due; `start` calls it by the configured interval. */
  archiveAudit(now: number): Promise<void>;
  /** Ends what time has ended; `start` calls it every minute. `now` in milliseconds. */
  sweep(now: number): Promise<void>;
  /** Rotates data keys that are due by their policies; `start` runs it by the configured interval. */
  readonly rotation: RotationScheduler;
}

const SWEEP_MS = 60_000;
const FORGET_MS = 3_600_000;
const COURIER_MS = 2_000;

/**
 * Puts a gateway together: services over the ports, hooks around the routes. Nothing listens yet; `start` begins the
 * background work, `stop` ends it and seals the audit log. The store and the vault stay the caller's to close.
 *
 * Throws `config_invalid` when the configured authorisation policy does not compile.
 */
export async function openGateway(given: GatewayOptions): Promise<Gateway> {
  checkOptions("given", given, {
    store: "object",
    vault: "object",
    crypto: "object",
    policy: "object",
    threshold: "object?",
    clock: "object",
    random: "function",
    config: "object",
    log: "object",
    metrics: "object",
    version: "string",
    background: "object",
    health: "function",
    preparedInstance: "string?",
    ownNames: "array?",
    revocations: "object?",
    prepareReload: "function?",
    tokens: "array?",
    sealEvery: "number?",
    archive: "object?",
    decisionsTold: "function?",
  });
  const options = { ...given, store: settled(given.store) };
  const { store, vault, clock, random, config, log, background } = options;
  const { threads, threshold_deadline: deadline } = config.workers;
  const threshold = given.threshold ?? openThresholdThreads({ random, threads, deadline });
  const pools = (): readonly WorkerPoolState[] => [threshold.state(), ...[options.policy.state?.() ?? []].flat()];
  measureWorkers(options.metrics, pools);
  const instance = await instanceOfStore(store, {
    configured: config.server.instance_id,
    prepared: options.preparedInstance,
    random,
    now: clock.now(),
    commitId: () => uuid(clock.now(), random),
  });
  let callers: Admissions | undefined;
  const decisions = await openDecisionLog({
    engine: options.policy,
    file: config.decision_log_policy,
    told: options.decisionsTold ?? (() => undefined),
    version: options.version,
    instance,
    log,
    newId: (at) => uuid(at, random),
  });
  const services = composeServices(
    options,
    instance,
    threshold,
    decisions,
    await openAuthorisation({ engine: options.policy, service: "gateway", source: config.authorization_policy }),
    (principal) => callers?.of(principal),
  );
  // The log's key must exist before the first event, so that its absence later means something.
  await services.audit.open();
  // A store of 0.1 has one root for clients and servers: from now on servers have their own.
  for (const of of ["clients", "servers"] as const) {
    await services.transact(systemCall("system:pki", instance, clock.now()), (unit) => services.pki.trustAnchor(unit, of));
  }
  for (const { id, crk_public_key = null } of config.organizations) {
    await services.transact(systemCall("system:configuration", id, clock.now()), async (unit) => {
      await ensureOrganization(unit, id, "configuration", crk_public_key);
    });
  }

  const now = (): number => clock.now();
  let issuers = tokenIssuers(config);
  let orchestrator = await openOrchestrator(config, now);
  const authenticate = ({ store: own }: RecordedReads, again: boolean) => {
    const read = reader(own);
    return auditedAuthentication(
      services,
      ownTokens(
        { services: Object.assign({}, services, { read }), orchestrator, now, again },
        authenticator({
          now,
          mtls: {
            required: config.auth.mtls.required,
            // By the configured lists; that our own record says so is judged where it names the bearer, in one read.
            isRevoked: (identity) => options.revocations?.isRevoked(identity) ?? false,
            principalOf: (identity) => principalOfCertificate(read, identity, now()),
          },
          tokens: {
            verifiers: options.tokens ?? [],
            principalOf: (claims, method) => principalOfToken(read, claims, method, now(), issuers),
          },
        }),
      ),
      now,
    );
  };
  const letIn = admissions(
    (again) => ({
      quiet: services.quiet(),
      reads: recordedReads(again ? services.store : services.remembered, { again: services.store }),
    }),
    authenticate,
    ({ store: own }) => authoriseCall(Object.assign({}, services, { read: reader(own) })),
  );
  callers = letIn;
  const hooks: BuiltService["hooks"] = {
    errors: gatewayErrors,
    authenticate: letIn.authenticate,
    authorise: letIn.authorise,
    requireTarget: requireTarget(services, gatewayContract, gatewayHandlers, entityReadings),
    idempotency: storeIdempotency({
      store,
      random,
      onLost: (error) => log.error({ error }, "an idempotent answer was not kept"),
      sealer: vaultSealer(vault, "gateway-idempotency"),
    }),
  };

  const checks: HealthCheck[] = [
    databaseCheck(store),
    {
      name: "vault",
      check: async () => {
        const { sealed, initialized } = await vault.health();
        if (sealed || !initialized) throw new Error("the vault is sealed");
      },
    },
    workersCheck(pools),
    {
      name: "policy_engine",
      required: false,
      check: async () => {
        const problems = await options.policy?.check([{ name: "probe.rego", source: "package probe\nallow := true\n" }]);
        if (problems === undefined || problems.length > 0) throw new Error("the policy engine does not answer");
      },
    },
  ];

  const { revocations } = options;
  if (revocations !== undefined) {
    // Without lists every certificate is refused; whoever has a token may still work, where one is enough.
    checks.push({
      name: "revocation_lists",
      required: config.auth.mtls.required,
      check: async () => revocations.requireInForce(),
    });
  }
  checks.push({
    name: "audit_log",
    required: false,
    check: async () => {
      const [finding] = services.audit.damaged();
      if (finding !== undefined) throw new AuditTampered(finding);
    },
  });
  const limitsOf = ({ rate_limit }: GatewayConfig): RateLimits => ({
    ...rate_limit,
    ofType: { partner: rate_limit.partner, service: rate_limit.service },
    batch: { routes: ["encryptBatch", "decryptBatch"], rate: rate_limit.batch },
    onRefused: (principal) => {
      noteRate(services, principal).catch((error: unknown) => log.error({ error }, "a refusal of a partner was not noted"));
    },
    guarded: {
      routes: ["bootstrapAdmin", "enrollmentSetup", "enrollAdmin", "verifyMfa", "submitRecoveryShare"],
      rate: rate_limit.guarded,
    },
  });
  checks.push({
    name: "audit_witnesses",
    required: false,
    check: async () => {
      for (const growth of ["put_back", "forked"])
        if ((await store.count(logWitnesses.name, "troubled", [growth])) > 0)
          throw new Error(`a partner has witnessed another audit log than this one: ${growth}`);
    },
  });
  const rotation = rotationScheduler(services);
  const askWitnesses = witnessRounds();
  const [deliverMessages, deliverDispatches] = [messageLanes(), dispatchLanes()];
  const deliverAll = async (at: number): Promise<void> => {
    await Promise.all([
      background.step("messages", () => deliverMessages(services, at)),
      background.step("replication", () => deliverDispatches(services, at)),
    ]);
  };
  const { archive } = config.audit;
  const archiving = archiveRounds(store, () => services.newId(now()));
  const archiveAudit = async (at: number): Promise<void> => {
    const { archive: target } = options;
    if (archive === undefined || target === undefined) return;
    await archiving.run(at, async () => {
      if (services.audit.damaged().some(({ flaw }) => flaw === "hash_differs")) await services.audit.mend(target);
      await archiveDueEvents(services, target, { olderThan: archive.after, now: at });
    });
  };
  const running: Stoppable[] = [];
  return {
    services,
    hooks,
    limits: limitsOf(config),
    async reload(next: GatewayConfig) {
      const authorisation = await services.authorisation.prepare(next.authorization_policy);
      const mask = await decisions.prepare(next.decision_log_policy);
      const rest = await options.prepareReload?.(next);
      const nextOrchestrator = await openOrchestrator(next, now);
      const { jwt, oidc } = next.auth;
      const { audit_sinks } = next;
      return {
        limits: limitsOf(next),
        apply() {
          authorisation();
          mask();
          rest?.();
          issuers = tokenIssuers(next);
          orchestrator = nextOrchestrator;
          Object.assign(services, { config: { ...services.config, audit_sinks, auth: { ...services.config.auth, jwt, oidc } } });
        },
      };
    },
    checks,
    clientAnchors: async () => [
      await services.transact(systemCall("system:pki", instance, clock.now()), (unit) =>
        services.pki.trustAnchor(unit, "clients"),
      ),
    ],
    sweep: (at) => sweep(services, background, at),
    deliver: deliverAll,
    watchPartners: (at) => watchPartners(services, at),
    askWitnesses: (at) => askWitnesses(services, at),
    archiveAudit: (at) => archiveAudit(at),
    rotation,
    endpoints: (full: Hooks) =>
      endpoints(
        gatewayContract,
        auditedHandlers(handlersOfOneMoment(taggedHandlers(gatewayContract, gatewayHandlers, entityReadings))),
        services,
        full,
      ),
    async start() {
      services.audit.start(background, options.sealEvery);
      const again = (name: string, ms: number, work: (now: number) => Promise<unknown>): void => {
        running.push(background.every(name, ms, () => work(clock.now())));
      };
      const atOnce = (name: string, ms: number, work: (now: number) => Promise<unknown>): void => {
        void background.step(name, () => work(clock.now()));
        again(name, ms, work);
      };
      again("messages", COURIER_MS, (now) => deliverMessages(services, now));
      again("replication", COURIER_MS, (now) => deliverDispatches(services, now));
      again("old changes", FORGET_MS, () => forgetChanges(store));
      again("told decisions", FORGET_MS, async () => {
        const until = options.decisionsTold?.();
        if (until !== undefined) await forgetDecisions(store, until, () => services.newId(now()));
      });
      again("sweep", SWEEP_MS, (now) => sweep(services, background, now));
      atOnce("key rotation", config.rotation.scan_interval, (now) => rotation.run(now));
      if (archive !== undefined) atOnce("audit archive", archive.interval, archiveAudit);
      const { health_interval } = config.federation;
      if (health_interval > 0) {
        atOnce("partners", health_interval, (now) => watchPartners(services, now));
        again("audit witnesses", health_interval, (now) => askWitnesses(services, now));
      }
    },
    async stop() {
      const ended = Promise.all(running.map((step) => step.stop()));
      await rotation.release();
      await writeLastUse(services, clock.now());
      await archiving.release();
      await services.channels.close();
      await ended;
      if (given.threshold === undefined) await threshold.close();
      await services.audit.stop();
    },
  };
}

/** A partner that asks more often than it may. */
async function noteRate(services: GatewayServices, { id, type }: Principal): Promise<void> {
  const federation = type === "partner" ? await services.read.get(federations, id) : undefined;
  if (federation !== undefined) await services.refusals.note(services, federation, "rate", "RATE_LIMITED");
}

function composeServices(
  options: GatewayOptions,
  instance: string,
  threshold: ThresholdThreads,
  decisions: DecisionLog,
  authorisation: Authorisation,
  admissionOf: GatewayServices["admissionOf"],
): GatewayServices {
  const { crypto, clock, random, config, log, version, health } = options;
  const measure = measured(options.metrics);
  const { store, quiet } = quietStore(measure.store(options.store));
  const vault = measure.vault(options.vault);
  const partners = partnerStates();
  measure.watch(
    options.store,
    partners,
    () => clock.now(),
    () => audit.damaged().length,
  );
  const pooled = pooledRandom(random);
  // In order of time: a store that sorts its keys keeps the newest ones together.
  const commitId = (): string => uuid(clock.now(), pooled);
  const newId = (now: number): string => uuid(now, pooled);
  const metrics = gatewayMetrics(options.metrics);
  const read = cachedReader(store);
  const keys = organizationKeys(vault, crypto, random);
  const targets = {
    federation: targetGuard(config.federation.allowed_targets),
    edges: targetGuard(config.edges.allowed_targets),
  };
  const audit = auditLog({ store, vault, crypto, random, instance, log, commitId });
  return {
    config,
    instance,
    store,
    quiet,
    admissionOf,
    hostOf,
    read,
    remembered: read.store,
    vault,
    crypto,
    threshold,
    policyEngine: options.policy,
    authorisation,
    random,
    nonces: pooled,
    clock,
    log,
    metrics,
    lastUse: lastUse(),
    admissions: identityAdmissions,
    replication: workspaceReplication,
    partners,
    refusals: partnerRefusals(() => clock.now()),
    version,
    health,
    audit,
    decisions,
    organizationKeys: keys,
    signatures: signatures(crypto, instance, coveredState),
    dekUses: dekUses(store, commitId),
    deks: dekRing(vault, keys, random, { ...config.dek_cache, now: () => clock.now() }),
    policies: measure.policies(policyGate(options.policy, decisions, clock), metrics),
    pki: pki({ vault, crypto, random, instance, addresses: revocationAddresses(config.pki.public_url) }),
    namesOfInstance: {
      own: [
        config.server.host,
        ...(config.pki.public_url === undefined ? [] : [new URL(config.pki.public_url).hostname.replace(/^\[|\]$/g, "")]),
        ...(options.ownNames ?? []),
      ],
      given: config.pki.server_names,
    },
    targets,
    channels: federationChannels({
      vault,
      guard: targets.federation,
      timeout: config.federation.timeout,
      now: () => clock.now(),
      observe: metrics.partnerCalled,
    }),
    newId,
    transact(call, work, admission) {
      const run = async (unit: Unit) => {
        let told = false;
        const record = (facts: AuditFacts): AuditEvent => {
          const event = auditEvent(call, facts, newId(call.now));
          unit.audit({ stream: event.org_id, event: { ...event } });
          const decided = told ? undefined : decisions.take(call, event);
          if (decided !== undefined) {
            told = true;
            unit.along(decided.puts);
            unit.afterCommit(decided.taken);
          }
          unit.afterCommit(() => metrics.auditEvent(event.event_type));
          return event;
        };
        const whole: GatewayUnit = { call, record, ...rememberingUnit(unit, call) };
        return work(whole);
      };
      return transact(store, commitId, run, read.forget, admission);
    },
  };
}

function auditEvent({ principal, now, requestId }: Call, facts: AuditFacts, id: string): AuditEvent {
  return {
    id,
    org_id: facts.org ?? principal.org,
    timestamp: timestamp(now),
    workspace: facts.workspace ?? "",
    event_type: facts.type,
    actor: principal.id,
    actor_type: principal.type,
    purpose: facts.purpose ?? "",
    result: facts.result ?? "success",
    metadata: facts.metadata ?? {},
    request_id: requestId,
  };
}

/** Failed authentication is audited, in the instance's own stream: nobody's word about an organisation is believed. */
function auditedAuthentication(
  services: GatewayServices,
  authenticate: NonNullable<Hooks["authenticate"]>,
  now: () => number,
): NonNullable<Hooks["authenticate"]> {
  return async (wire, ref) => {
    try {
      return await authenticate(wire, ref);
    } catch (error) {
      const code = error instanceof CodedError ? error.code : "internal_error";
      // Nothing was presented: nothing was tried.
      if (code !== "certificate_required") {
        await services.transact(systemCall("system:authentication", instanceStream, now()), async (unit) => {
          unit.record({ type: "auth.failure", result: "denied", metadata: { route: ref.id, code, address: wire.remoteAddress } });
        });
      }
      throw error;
    }
  };
}
