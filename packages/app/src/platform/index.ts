export { type Admission, type Admissions, admissions } from "./admission.ts";
export {
  type ArchivedSegment,
  type ArchiveSetting,
  openArchive,
  tryArchive,
  verifyArchiveFiles,
} from "./audit-log/index.ts";
export { openAuditSinks } from "./audit-sinks/open-audit-sinks.ts";
export { auditSinkCollections } from "./audit-sinks/places.ts";
export { auditSinksSetting, decisionSinksSetting } from "./audit-sinks/settings.ts";
export type { AuditSource } from "./audit-sinks/source.ts";
export { type AuthenticatorOptions, authenticator } from "./auth/authenticator.ts";
export { type ConfiguredVerifier, liveVerifiers, tokenVerifiers } from "./auth/token-verifiers.ts";
export {
  type Authorisation,
  type AuthorisationDecision,
  type AuthorisationOptions,
  type AuthorisationQuestion,
  openAuthorisation,
  questionOf,
} from "./authz/authorisation.ts";
export { type Background, type BackgroundWatch, type Due, openBackground } from "./background.ts";
export { inRanges, isCidr } from "./client-address.ts";
export { describeConfig } from "./config/describe-config.ts";
export { duration, parseDuration } from "./config/duration.ts";
export { type FileContent, file, type NamedFile, namedFiles } from "./config/file.ts";
export { leaves } from "./config/leaves.ts";
export { type ConfigSources, envName, loadConfig } from "./config/load-config.ts";
export { certificatesIn, keyProblem } from "./config/own-certificate.ts";
export { s3Bucket } from "./config/s3-bucket.ts";
export {
  type AuthSettings,
  authSettings,
  DEFAULT_INSTANCE,
  logSettings,
  ranges,
  rateSettings,
  serverSettings,
  telemetrySettings,
} from "./config/schema.ts";
export { capabilityUrl, secret } from "./config/secret.ts";
export { etcdOptions, etcdSettings } from "./consensus/etcd-settings.ts";
export { decisionCollections, decisionDocuments, decisionsOf, forgetDecisions } from "./decision-log/documents.ts";
export { compileLogPolicy, refuseLogFunctions } from "./decision-log/log-policy.ts";
export {
  type Decision,
  type DecisionLogParts,
  type Heard,
  LARGEST_DECISION,
  loggedDecision,
} from "./decision-log/logged-decision.ts";
export { docsHandlers } from "./docs/docs-handlers.ts";
export { everyDocument } from "./every-document.ts";
export { type Follower, type FollowerTurn, type Following, followStore, gatherMs } from "./follow-store.ts";
export { forgetChanges, newestChange } from "./forget-changes.ts";
export { checkHealth, databaseCheck, type Health, type HealthCheck } from "./health.ts";
export { type IdempotencyOptions, idempotencyCollections, type Sealer, storeIdempotency, vaultSealer } from "./idempotency.ts";
export { jobCollections } from "./jobs/collections.ts";
export { type JobContext, type JobRequest, type JobRunner, type Jobs, type JobsOptions, openJobs } from "./jobs/open-jobs.ts";
export { keyText } from "./key-text.ts";
export { type Attempt, asAdmitted, inOneMoment } from "./one-moment.ts";
export { openPolicyEngine, operatorPolicyEngineSetting, policyEngineSetting } from "./policy-engine.ts";
export { pooledRandom } from "./pooled-random.ts";
export { measureProcesses, processesCheck } from "./processes.ts";
export { type RateLimits, rateLimiter } from "./rate-limit/rate-limiter.ts";
export { type RecordedReads, type RecordedReadsOptions, recordedReads } from "./recorded-reads.ts";
export { type Repeat, repeatByTimer, type Stoppable } from "./repeat.ts";
export type { GivenKey, Seal, SealedVault } from "./sealed.ts";
export {
  type BuildOptions,
  type BuiltService,
  buildService,
  defineService,
  type Platform,
  type Reloaded,
  type RunningService,
  type Service,
  type ServiceDefinition,
  type ServiceHooks,
  type StartOptions,
  startService,
} from "./service.ts";
export type { Waiting } from "./wait-for-needs.ts";
export { measureWorkers, workersCheck } from "./workers.ts";
