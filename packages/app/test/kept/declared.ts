/** By what a collection, or a log, is kept from growing for ever. */
export type Bound =
  /** Time: what is older than this goes by itself. */
  | "age"
  /** A number: what is more than the newest so many goes by itself. */
  | "count"
  /** What it belongs to: a document goes with that. */
  | "life"
  /** Somebody: who made it, or may, takes it away. */
  | "act"
  /** Nothing, and why that must be, or does no harm. */
  | "forever";

/** How long what is kept. */
export interface Kept {
  readonly names: readonly string[];
  readonly by: Bound;
  /** Until when, or why for ever: what docs/stores-and-logs.md says. */
  readonly text: string;
  /** The test that shows it, `file: title` below `packages`; a bound that is none needs none. */
  readonly proof?: string;
}

const DECISIONS: Kept = {
  names: ["decisions"],
  by: "age",
  text: "until every sink that tells decisions has heard it",
  proof: "app/test/governance/decision-log.test.ts: decisions that every sink has heard are deleted, and none that one has not",
};
const AUDIT_TREE: Kept = {
  names: ["audit_archives", "audit_tiles", "audit_trees"],
  by: "forever",
  text: "two hashes of each event, and one place for each log: by them what is archived is proven",
};
const EVERYWHERE: readonly Kept[] = [
  {
    names: ["idempotency"],
    by: "age",
    text: "a day; some of what is older goes with each new key",
    proof: "app/test/platform/idempotency.test.ts: after a day a key is free again, and old records are removed",
  },
  { names: ["leases"], by: "forever", text: "one for each step of background work that one process does" },
  { names: ["audit_sinks"], by: "forever", text: "one for each name that a sink ever had" },
  {
    names: ["changes of documents"],
    by: "count",
    text: "the newest 1,000,000",
    proof:
      "app/test/platform/forget-changes.test.ts: changes are forgotten but for the newest ones that are kept, and never from where somebody still follows",
  },
  {
    names: ["ids of commits"],
    by: "count",
    text: "the newest 100,000",
    proof: "adapters/test/level/upgrade-layout.test.ts: of 100,500 commits the newest 100,000 are recognised, exactly",
  },
];
const VAULT: Kept = {
  names: ["vault_seal", "vault_keys"],
  by: "forever",
  text: "one for the vault, and one for each key: what was sealed under a version of it opens by nothing else",
};
const JOBS = "app/test/platform/jobs.test.ts: jobs that ended before a time are forgotten, a hundred of them at once";
const LOG =
  "adapters/test/log/open-replicated.test.ts: a log of large entries is snapshot and truncated by its bytes, however few and young the entries are";
const RESOURCES =
  "app/test/governance/lineage-diff.test.ts: what was declared, came, changed and went between two moments is told, as it was known then";
const TENANTS = "quota/test/state/kept.test.ts: a tenant that is deleted leaves nothing of its own";
const STORED = "app/test/golden/storage.test.ts: keeps nothing longer than what it belongs to, and nothing that is over";
const OWNERS = "app/test/golden/gateway.test.ts: keeps nothing longer than what it belongs to, and nothing that is over";

/** Everything that each service keeps, once. */
export const kept = {
  gateway: [
    {
      names: ["audit log"],
      by: "age",
      text: "`audit.archive.after`; without it for ever",
      proof:
        "app/test/gateway/audit-archive.test.ts: takes what is due out of the store, but for the newest of each stream, and each log goes on and verifies",
    },
    AUDIT_TREE,
    {
      names: [
        "audit_checkpoints",
        "audit_log_keys",
        "authorities",
        "instances",
        "bootstrap",
        "organizations",
        "organization_keys",
      ],
      by: "forever",
      text: "one for the instance, or a few for each organisation",
    },
    { names: ["audit_gaps"], by: "forever", text: "the operator's signed word, without which the log is not whole" },
    ...EVERYWHERE,
    DECISIONS,
    VAULT,
    {
      names: ["messages", "message_receipts", "signing_requests"],
      by: "age",
      text: "72 hours after its end",
      proof: OWNERS,
    },
    { names: ["spent_nonces"], by: "age", text: "until its signature can be replayed no more", proof: OWNERS },
    {
      names: ["certificates"],
      by: "act",
      text: "what ended goes with `POST /api/v1/certificates/tidy`; lists of revoked ones and answers about one are made of them",
      proof: OWNERS,
    },
    {
      names: ["dek_uses", "rotation_policies", "workspace_seats", "deletion_consents"],
      by: "life",
      text: "its workspace",
      proof: OWNERS,
    },
    {
      names: ["group_members", "role_assignments"],
      by: "life",
      text: "its user, service or device, unless somebody takes it out before",
      proof: OWNERS,
    },
    { names: ["enrollment_tokens", "admin_mfa"], by: "life", text: "its admin, who has one", proof: OWNERS },
    { names: ["edge_syncs"], by: "life", text: "its edge", proof: OWNERS },
    {
      names: ["ceremony_shares", "recovery_shares", "generation_keys"],
      by: "life",
      text: "its ceremony or recovery, while that is open",
      proof: OWNERS,
    },
    {
      names: ["log_witnesses", "witnessed_logs", "workspace_shares", "workspace_replicas", "dispatches"],
      by: "life",
      text: "its federation, until that is revoked",
      proof: OWNERS,
    },
    {
      names: ["workspaces", "policies", "services", "edges", "admins"],
      by: "act",
      text: "who administers it deletes it",
      proof: OWNERS,
    },
    {
      names: ["users", "devices", "groups", "roles"],
      by: "forever",
      text: "they are disabled or emptied, not deleted: what events say of them stays readable",
    },
    {
      names: ["workspace_admissions", "workspace_invitations", "join_requests", "emergency_access", "emergency_acts"],
      by: "forever",
      text: "an act of people each: who was let in, and by whom, is answered after it ended",
    },
    {
      names: ["crks", "ceremonies", "generation_ceremonies", "recoveries", "custodians", "custody_ceremonies", "custody_parts"],
      by: "forever",
      text: "an act of custodians each: who made, held and moved a root key is answered as long as its signatures count",
    },
    {
      names: ["custody_entries", "dealt_transcripts", "dealt_entries", "signing_sessions"],
      by: "forever",
      text: "the signed transcript of such an act",
    },
    {
      names: ["encrypted_shares"],
      by: "forever",
      text: "one for each share that only its custodian's password opens: nobody has another",
    },
    {
      names: ["federations", "federation_identities"],
      by: "forever",
      text: "one for each partner, and for each organisation that has some",
    },
    {
      names: ["seen_cards"],
      by: "forever",
      text: "one for each person of a partner whose card was asked for: two cards of one person are seen by it",
    },
    { names: ["backups"], by: "forever", text: "one for each backup file, which may be restored at any time" },
    { names: ["report_seals"], by: "forever", text: "one for each report that was sealed: a copy is verified by it" },
  ],
  governance: [
    {
      names: ["audit log"],
      by: "age",
      text: "`audit.archive.after`; without it for ever",
      proof:
        "app/test/golden/governance.test.ts: is archived, and its log goes on from there and is whole under every checkpoint of then",
    },
    AUDIT_TREE,
    {
      names: ["audit_checkpoints"],
      by: "count",
      text: "the newest 1,000 of each log",
      proof: "app/test/governance/audit-log.test.ts: the newest checkpoints of each log are kept, and vouch for all of it",
    },
    {
      names: ["audit_persons"],
      by: "act",
      text: "a person is erased",
      proof:
        "app/test/governance/http.test.ts: a person can be erased from the log: no record names them any more, every proof still holds",
    },
    ...EVERYWHERE,
    { names: ["jobs"], by: "age", text: "90 days after a scan ended", proof: JOBS },
    DECISIONS,
    { names: ["resources"], by: "act", text: "who may write the catalogue deletes it", proof: RESOURCES },
    {
      names: ["catalogue_versions", "lineage_events"],
      by: "forever",
      text: "the catalogue as it was at any moment is made of them: a decision of then is judged again by that",
    },
    {
      names: ["scanned_assets", "lineage_blocks"],
      by: "forever",
      text: "one for each table or object that was seen, and for each pair of them that is blocked",
    },
    {
      names: ["approvals", "api_keys"],
      by: "forever",
      text: "an act of people each: who gave leave, and to which key, is answered after it ended",
    },
  ],
  storage: [
    {
      names: ["audit log"],
      by: "forever",
      text: "acts on the cluster, not on objects: those are in the access logs of buckets, which are objects",
    },
    ...EVERYWHERE,
    VAULT,
    { names: ["jobs"], by: "age", text: "`job_retention`, 30 days, after it ended", proof: JOBS },
    {
      names: ["storage_staged", "storage_trash", "storage_chunks"],
      by: "age",
      text: "a collection of garbage after nothing names it, what was staged after a day",
      proof: STORED,
    },
    { names: ["storage_orphans"], by: "age", text: "24 hours after it was first seen, or as soon as it is none", proof: STORED },
    {
      names: ["storage_notices"],
      by: "count",
      text: "`notifications.max_waiting` for each webhook; an hour where that is not configured",
      proof:
        "app/test/storage/notifications.test.ts: of more than may wait for a webhook the oldest are dropped, counted and told, and what is left is heard in its order",
    },
    {
      names: ["storage_replications"],
      by: "life",
      text: "until it was copied; once its version or its rules are gone, until its destination is asked the next time",
      proof:
        "app/test/storage/replication.test.ts: every version and delete marker of a key is there under its name and in its order; a version that is removed by name is removed here alone",
    },
    {
      names: ["storage_parts", "storage_usage", "storage_replication_scans"],
      by: "life",
      text: "its upload or bucket",
      proof: STORED,
    },
    {
      names: ["storage_objects", "storage_versions", "storage_uploads", "storage_buckets"],
      by: "act",
      text: "a client deletes it, or the bucket's lifecycle",
      proof: STORED,
    },
    { names: ["storage_simulated_smart"], by: "act", text: "who administers it takes it back", proof: STORED },
    {
      names: ["storage_tenants", "storage_credentials"],
      by: "act",
      text: "who administers it shreds the tenant, whose name stays",
      proof: "app/test/storage/admin-http.test.ts: tenants and access keys: the secret is shown once and nowhere else",
    },
    {
      names: ["storage_files"],
      by: "forever",
      text: "one for each key that the network file system has seen: it goes with the file there; an object that S3 alone deletes leaves it",
    },
    {
      names: ["storage_cluster", "storage_masters", "storage_webhooks", "storage_counters"],
      by: "forever",
      text: "one for the cluster, for each epoch of its key, for each name that a webhook ever had, and for each counter of a node",
    },
    { names: ["cluster log"], by: "count", text: "as the scheduler's log", proof: LOG },
  ],
  scheduler: [
    { names: ["log"], by: "count", text: "the newest 10,000 entries, the last ten minutes, and three snapshots", proof: LOG },
    {
      names: ["receipts"],
      by: "age",
      text: "two generations, each of a day or of 500,000 answers",
      proof:
        "quota/test/apply/receipts.test.ts: what was asked before the oldest answers that are kept is refused, as it may have been answered",
    },
    {
      names: ["events"],
      by: "count",
      text: "the newest 10,000",
      proof: "quota/test/state/kept.test.ts: of more than 10,000 events the newest are kept",
    },
    {
      names: ["audit"],
      by: "age",
      text: "until it is archived",
      proof:
        "app/test/scheduler/audit.test.ts: the audit chain stays whole, verifiable and pageable while all but its newest entries move to the archive",
    },
    {
      names: ["allocations"],
      by: "age",
      text: "`scheduling.keep_ended` after its end",
      proof:
        "quota/test/state/kept.test.ts: records of work that ended go by age, whatever was before, until none of them is older",
    },
    { names: ["tenants"], by: "act", text: "who administers it deletes it", proof: TENANTS },
    { names: ["nodes"], by: "forever", text: "one for each name that a node ever had" },
    {
      names: ["tenantUsage", "userUsage", "budgetMarks", "external"],
      by: "life",
      text: "its tenant; of usage a step for each change of what it holds",
      proof: TENANTS,
    },
    { names: ["restoring"], by: "forever", text: "one: what another backup, or its last part, takes the place of" },
  ],
} as const satisfies Record<string, readonly Kept[]>;
