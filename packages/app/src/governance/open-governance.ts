import { createHash, randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { BackupTarget } from "@seneschal/adapters/backups";
import { openFileThreads } from "@seneschal/adapters/file-threads";
import { readText } from "@seneschal/adapters/files";
import type { Logger } from "@seneschal/adapters/logging";
import type { Metrics } from "@seneschal/adapters/metrics";
import { docsContract, endpoints } from "@seneschal/contract";
import { fileContract, governanceContract, governanceErrors, modelContract } from "@seneschal/contract/governance";
import { DEFAULT_TIER_POLICY, type SqlParser, type TierPolicy, unknownInRule } from "@seneschal/governance";
import { CodedError, checkArgument, checkOptions } from "@seneschal/kernel";
import type {
  Clock,
  CompiledPolicy,
  DocumentStore,
  EntityRecogniser,
  PolicyEngine,
  PolicySource,
  Random,
  WorkerPoolState,
} from "@seneschal/kernel/ports";
import { settled } from "@seneschal/kernel/store";
import { Gauge } from "prom-client";
import { type ArchivedSegment, archiveDue, archiveRounds, commitGuarded } from "../platform/audit-log/index.ts";
import {
  admissions,
  type Background,
  type BuiltService,
  databaseCheck,
  docsHandlers,
  forgetChanges,
  forgetDecisions,
  type Health,
  measureWorkers,
  openAuthorisation,
  type RateLimits,
  recordedReads,
  refuseLogFunctions,
  type Stoppable,
  storeIdempotency,
  workersCheck,
} from "../platform/index.ts";
import { AuditLog, type CheckpointSigner } from "./audit/audit-log.ts";
import { auditOf } from "./audit/event.ts";
import { Persons, withoutNames } from "./audit/persons.ts";
import { authenticator, authoriser, openActions } from "./authenticate.ts";
import { Catalogues } from "./catalogues.ts";
import { approvalHandlers } from "./handlers/approvals.ts";
import { auditHandlers } from "./handlers/audit.ts";
import { decisionHandlers } from "./handlers/decisions.ts";
import { enforcementHandlers } from "./handlers/enforcement.ts";
import { fileHandlers } from "./handlers/files.ts";
import { filterHandlers } from "./handlers/filters.ts";
import { healthHandlers } from "./handlers/health.ts";
import { keyHandlers } from "./handlers/keys.ts";
import { lineageHandlers } from "./handlers/lineage.ts";
import { modelHandlers } from "./handlers/models.ts";
import { redactionHandlers } from "./handlers/redaction.ts";
import { resourceHandlers } from "./handlers/resources.ts";
import { sourceHandlers } from "./handlers/sources.ts";
import { openModels } from "./models/open-models.ts";
import { handlersOfOneMoment } from "./of-one-moment.ts";
import { openClassifier } from "./open-classifier.ts";
import { configuredEntities, measuredRecogniser, openRecogniser, recogniserCheck } from "./recogniser.ts";
import { redactionKeyOf } from "./redaction-key.ts";
import { answerSealer } from "./seal-answers.ts";
import type { GovernanceServices } from "./services.ts";
import type { GovernanceConfig } from "./settings.ts";
import { openSource } from "./sources/open-source.ts";
import { openScans, type ScansOptions } from "./sources/scans.ts";

/** The policy that ships. */
const SHIPPED_POLICY = fileURLToPath(new URL("../../policies/governance.rego", import.meta.url));

/** So long after a commit the records of other processes are counted: a minute's at once would keep requests waiting. */
const FOLLOW_MS = 1000;
const FORGET_MS = 3_600_000;
/** After counting that failed. */
const RETRY_MS = 10_000;

/** MiB of heap for a thread that reads files, and how many of them may wait, each held whole. */
const FILES = { heap: 1024, waitingPerOwner: 4, waiting: 16 } as const;

export interface GovernanceOptions {
  /** Opened with `governanceSchema`. Not closed here. */
  readonly store: DocumentStore;
  readonly policy: PolicyEngine;
  /** Without one, SQL is read as text. */
  readonly sql?: SqlParser;
  readonly signer: CheckpointSigner;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  readonly background: Background;
  readonly health: () => Promise<Health>;
  readonly config: GovernanceConfig;
  /** Until when every sink that tells decisions has heard all of them; without it decisions are not kept for any. */
  readonly decisionsTold?: () => number | undefined;
  /** Where the records go that `config.audit.archive` lets go. */
  readonly archive?: BackupTarget | undefined;
  /** How a source of the configuration is reached; by default over the network. */
  readonly source?: ScansOptions["open"] | undefined;
  /** A model of one's own that is asked about every text, in place of the configured one. */
  readonly recogniser?: EntityRecogniser;
}

/** A running service of data governance. */
export interface Governance extends BuiltService {
  /** Archives what is due of the audit log; `start` does it by the configured interval. `few`: whether few records wait for more. */
  archiveAudit(given: { readonly now: number; readonly few?: boolean }): Promise<readonly ArchivedSegment[]>;
  /** Makes the hashes of archived records anew from the archive, where they are damaged; `start` does it by the same interval when a log was found not to be whole. */
  mendAudit(): Promise<readonly string[]>;
}

/** Puts the data-governance service together. Throws `config_invalid` for a policy that does not compile or a tier that is not in the scale. */
export async function openGovernance(given: GovernanceOptions): Promise<Governance> {
  checkOptions("given", given, {
    store: "object",
    policy: "object",
    sql: "object?",
    signer: "object",
    clock: "object",
    random: "function",
    log: "object",
    metrics: "object",
    version: "string",
    background: "object",
    health: "function",
    config: "object",
    decisionsTold: "function?",
    archive: "object?",
    source: "function?",
    recogniser: "object?",
  });
  const options = { ...given, store: settled(given.store) };
  const { clock, random, log, metrics, version, background, health, config, sql } = options;
  const persons = new Persons(options.store, random, () => clock.now());
  const audit = new AuditLog(options.store, options.signer);
  const store = withoutNames(options.store, persons, audit);
  const tiers = tierPolicyOf(config);
  const prepared = await preparePolicy(options.policy, config.policy_files);
  const authorisation = await openAuthorisation({
    engine: options.policy,
    service: "governance",
    source: config.authorization_policy,
    settings: { anonymous: openActions(config) },
  });
  const catalogues = new Catalogues({
    store,
    tiers,
    ...(sql === undefined ? {} : { sql }),
    propagation: config.propagation,
    destinations: config.destinations,
    purposes: config.purposes,
  });
  await catalogues.open();
  const sealer = await answerSealer(options.signer.sign, random);
  const models = await openModels(config, tiers);
  const modelRoutes = models === undefined ? undefined : modelContract(config.models?.path_prefix);
  // Last, as threads that nobody closes would stay.
  const { recogniser: model } = config.classification;
  const recogniser = measuredRecogniser(
    options.recogniser ?? (model === undefined ? undefined : await openRecogniser(model)),
    metrics,
  );
  const classifier = openClassifier(config.classification, tiers, sql, recogniser);
  const { max_bytes, threads, deadline } = config.files;
  const files = openFileThreads(
    { threads, deadline, ...FILES },
    { policy: tiers, recognisers: config.classification.recognisers, sql: false },
    recogniser,
  );
  const contract = { ...governanceContract, ...fileContract(max_bytes) };
  const pools = (): readonly WorkerPoolState[] =>
    [classifier.state?.() ?? [], files.state(), options.policy.state?.() ?? [], recogniser?.state?.() ?? []].flat();
  measureWorkers(metrics, pools);
  const scans = openScans({
    sources: Object.entries(config.sources).map(([name, settings]) => ({
      name,
      org: settings.organization ?? config.organization,
      settings,
    })),
    open: options.source ?? openSource,
    store,
    classifier,
    tiers,
    clock,
    random,
    log,
    metrics,
    background,
  });
  const services: GovernanceServices = {
    scans,
    files,
    config,
    store,
    catalogues,
    classifier,
    tiers,
    ...prepared,
    clock,
    random,
    log,
    metrics,
    version,
    health,
    audit,
    persons,
    decisionsTold: options.decisionsTold ?? (() => undefined),
    redactionKey: redactionKeyOf(options.signer.sign),
  };
  const modelServices = models && { ...services, models };
  const authenticate = authenticator(config, store, () => clock.now());
  const authorise = authoriser(authorisation);
  const callers = admissions(
    () => ({ reads: recordedReads(store) }),
    (reads) => authenticate(reads.store),
    () => authorise,
  );
  const handlers = handlersOfOneMoment(callers, {
    ...decisionHandlers,
    ...enforcementHandlers,
    ...filterHandlers,
    ...redactionHandlers,
    ...fileHandlers,
    ...approvalHandlers,
    ...lineageHandlers,
    ...resourceHandlers,
    ...sourceHandlers,
    ...auditHandlers,
    ...keyHandlers,
    ...healthHandlers,
  });
  const idempotency = storeIdempotency({
    store: options.store,
    random,
    sealer,
    onLost: (error) => log.error({ error }, "an idempotent answer was not kept"),
  });
  const { archive } = config.audit;
  const archiving = archiveRounds(options.store, randomUUID);
  const archivedEvents = new Gauge({
    name: "governance_audit_archived_events",
    help: "Audit events in the archive, by this process",
    registers: [metrics.registry],
  });
  const archiveAudit: Governance["archiveAudit"] = async ({ now, few }) => {
    const target = options.archive;
    if (archive === undefined || target === undefined) return [];
    const who = { org: config.organization, user: "system:audit-archive", now };
    return archiveDue(
      {
        store: options.store,
        sinks: Object.keys(config.audit_sinks),
        archive: (into, due) => audit.archive(into, due, now),
        keep: ({ first, last, id, sha256 }, keep) =>
          commitGuarded(store, keep, (kept) =>
            kept
              ? [
                  auditOf(who, {
                    operation: "AUDIT_ARCHIVE",
                    resource: id,
                    reasoning: `events ${first} to ${last} of all organisations are in the archive, manifest ${sha256}`,
                  }),
                ]
              : [],
          ),
        archivedThrough: (last) => archivedEvents.set(last),
      },
      target,
      { olderThan: archive.after, now, ...(few === undefined ? {} : { few }) },
    );
  };
  const mendAudit = async () => (options.archive === undefined ? [] : audit.mend(options.archive));
  const running: Stoppable[] = [];
  let unsubscribe = (): void => undefined;
  const checkpointAll = () => services.audit.checkpointAll(clock.now());
  return {
    hooks: {
      errors: governanceErrors,
      authenticate: callers.authenticate,
      authorise: callers.authorise,
      badParams: "validation_failed",
      idempotency,
    },
    limits: limitsOf(config),
    archiveAudit,
    mendAudit,
    async reload(next: GovernanceConfig) {
      const allowed = await authorisation.prepare(next.authorization_policy);
      const decisions = await preparePolicy(options.policy, next.policy_files);
      return {
        limits: limitsOf(next),
        apply() {
          allowed();
          for (const held of [services, modelServices]) Object.assign(held ?? {}, decisions);
        },
      };
    },
    contract: { ...contract, ...modelRoutes },
    endpoints: (hooks) => [
      ...endpoints(contract, handlers, services, hooks),
      ...(modelServices === undefined || modelRoutes === undefined
        ? []
        : endpoints(modelRoutes, modelHandlers, modelServices, hooks)),
      ...endpoints(docsContract, docsHandlers(), undefined, hooks),
    ],
    checks: [
      databaseCheck(store),
      { name: "cache", check: () => catalogues.at(config.organization) },
      workersCheck(pools),
      scans.check,
      recogniserCheck(recogniser),
      { name: "policy_engine", check: () => alive(services.policy, clock.now()) },
    ],
    async start() {
      scans.start();
      const following = background.soon("audit follow", RETRY_MS, () => services.audit.follow());
      running.push(following, background.every("audit checkpoint", config.checkpoint_interval, checkpointAll));
      running.push(background.every("old changes", FORGET_MS, () => forgetChanges(options.store)));
      const forgetTold = async (): Promise<void> => {
        const until = services.decisionsTold();
        if (until !== undefined) await forgetDecisions(options.store, until, randomUUID);
      };
      running.push(background.every("told decisions", FORGET_MS, forgetTold));
      if (archive !== undefined) {
        const round = () =>
          archiving.run(clock.now(), async () => {
            if (audit.doubted) await mendAudit();
            await archiveAudit({ now: clock.now() });
          });
        void background.step("audit archive", round);
        running.push(background.every("audit archive", archive.interval, round));
      }
      unsubscribe = store.subscribe(() => following.due(FOLLOW_MS));
    },
    async stop() {
      unsubscribe();
      await scans.stop();
      await Promise.all(running.map((step) => step.stop()));
      await archiving.release();
      await background.step("audit checkpoint", checkpointAll);
      catalogues.close();
      await models?.upstream.close();
      await Promise.all([classifier.close(), files.close()]);
      await recogniser?.close();
    },
  };
}

function limitsOf({ rate_limit }: GovernanceConfig): RateLimits {
  return rate_limit;
}

/** Tiers, what they are of, and what is done to values. Throws `config_invalid`, naming the setting, for what names a tier or an entity that is none. */
export function tierPolicyOf(given: Pick<GovernanceConfig, "classification" | "destinations" | "redaction">): TierPolicy {
  checkArgument("given", given, "object");
  const { classification, destinations, redaction } = given;
  const tiers = classification.tiers ?? DEFAULT_TIER_POLICY.tiers;
  const builtIn = Object.entries(DEFAULT_TIER_POLICY.entities).map(
    ([entity, policy]) => [entity, { ...policy, tier: classification.tier_names[policy.tier] ?? policy.tier }] as const,
  );
  const entities = { ...Object.fromEntries(builtIn), ...classification.entities };
  for (const [entity, { tier }] of Object.entries(entities)) {
    if (!tiers.includes(tier))
      throw new CodedError("config_invalid", `classification.entities.${entity}: ${tier} is not one of the tiers`);
  }
  for (const [i, { accepts_tier }] of destinations.entries()) {
    if (!tiers.includes(accepts_tier))
      throw new CodedError("config_invalid", `destinations.${i}.accepts_tier: ${accepts_tier} is not one of the tiers`);
  }
  for (const [i, rule] of redaction.rules.entries()) {
    const unknown = unknownInRule(rule, { tiers, entities }, configuredEntities(classification));
    if (unknown === "tier")
      throw new CodedError("config_invalid", `redaction.rules.${i}.tier: ${rule.tier} is not one of the tiers`);
    if (unknown === "entity")
      throw new CodedError("config_invalid", `redaction.rules.${i}.entity: no recogniser finds ${rule.entity}`);
  }
  const quasi = classification.tier_names[DEFAULT_TIER_POLICY.quasiTier] ?? DEFAULT_TIER_POLICY.quasiTier;
  const quasiTier = tiers.includes(quasi) ? quasi : (tiers[Math.min(2, tiers.length - 1)] ?? "");
  const regimes = { ...DEFAULT_TIER_POLICY.regimes, ...classification.regimes };
  return { ...DEFAULT_TIER_POLICY, tiers, entities, quasiTier, regimes };
}

/** The policy that decides, and the revision that its decisions name. Throws `config_invalid` for one that does not compile. */
async function preparePolicy(engine: PolicyEngine, files: readonly string[]) {
  const sources = await policySources(files);
  const policy = await compiled(engine, sources);
  refuseLogFunctions(sources, "policy_files");
  return { policy, policyRevision: createHash("sha256").update(JSON.stringify(sources)).digest("hex").slice(0, 12) };
}

async function policySources(files: readonly string[]): Promise<readonly PolicySource[]> {
  if (files.length === 0) return [{ name: "governance.rego", source: await readText(SHIPPED_POLICY) }];
  return Promise.all(files.map(async (name) => ({ name, source: await readText(name) })));
}

async function compiled(engine: PolicyEngine, sources: readonly PolicySource[]): Promise<CompiledPolicy> {
  const result = await engine.compile(sources);
  if (result.ok) return result.policy;
  const [problem] = result.problems;
  throw new CodedError("config_invalid", `policy_files: ${problem?.file}:${problem?.row}: ${problem?.message}`);
}

async function alive(policy: CompiledPolicy, now: number): Promise<void> {
  const answer = await policy.evaluate(["data", "governance", "decision"], {}, { now });
  if (answer.kind === "error") throw new Error(answer.code);
}
