/** Series by name, as promtool writes them: `0+3x15` is 0, 3, 6 ... for a quarter of an hour. */
type Series = Readonly<Record<string, string>>;
/** Minutes until it is judged, series in which the alert fires, and series in which it must not. */
export type AlertCase = readonly [minutes: number, bad: Series, good: Series];

const day = 86_400;
const gib = 2 ** 30;
const event = (type: string) => `gateway_audit_events_total{event_type="${type}"}`;
const expiry = (direction: string) => `gateway_federation_certificate_expiry_seconds{direction="${direction}"}`;
const bucket = (name: string, le: string, more = "") => `${name}_bucket{le="${le}"${more}}`;
/** Of one request in ten the time is beyond `le`. */
const slow = (name: string, le: string, beyond: string, more = ""): Series => ({
  [bucket(name, le, more)]: "0+90x30",
  [bucket(name, beyond, more)]: "0+100x30",
  [bucket(name, "+Inf", more)]: "0+100x30",
});
const fast = (name: string, le: string, more = ""): Series => ({
  [bucket(name, le, more)]: "0+100x30",
  [bucket(name, "+Inf", more)]: "0+100x30",
});
const requests = (service: string, status: number) => `${service}_http_requests_total{status="${status}"}`;
const scrubbed = (node: string) => `store_scrub_last_success_timestamp_seconds{job="storage",instance="${node}"}`;
const replica = (name: string, state = "streaming") =>
  `pg_stat_replication_pg_wal_lsn_diff{application_name="${name}",state="${state}"}`;
const is = (series: string, bad: string, good: string): readonly [Series, Series] => [{ [series]: bad }, { [series]: good }];

export const alertCases: Readonly<Record<string, AlertCase>> = {
  ServiceDown: [
    10,
    { 'up{job="g",instance="a"}': "1x3 0x7", 'gateway_info{job="g",instance="a",version="1"}': "1x3 stale" },
    { 'up{job="node",instance="b"}': "0x10", 'up{job="g",instance="a"}': "1x10", 'gateway_info{job="g",instance="a"}': "1x10" },
  ],
  ServiceErrors: [
    15,
    { [requests("governance", 500)]: "0+3x15", [requests("governance", 200)]: "0+100x15" },
    { [requests("governance", 400)]: "0+30x15", [requests("governance", 200)]: "0+100x15" },
  ],
  ServiceSlow: [
    20,
    slow("scheduler_http_request_duration_seconds", "1", "5"),
    fast("scheduler_http_request_duration_seconds", "1"),
  ],
  ServiceBusy: [
    15,
    { nodejs_eventloop_lag_p99_seconds: "0.7x15", gateway_info: "1x15" },
    { nodejs_eventloop_lag_p99_seconds: "0.7x15", somebody_elses_info: "1x15" },
  ],
  ServiceRestarts: [
    30,
    { process_start_time_seconds: "0+100x30", gateway_info: "1x30" },
    { process_start_time_seconds: "0x10 600x10 1200x10", gateway_info: "1x30" },
  ],
  AuthenticationFailures: [
    25,
    { 'gateway_auth_attempts_total{result="failure"}': "0+90x25" },
    { 'gateway_auth_attempts_total{result="failure"}': "0+10x25", 'gateway_auth_attempts_total{result="success"}': "0+900x25" },
  ],
  RequestsRateLimited: [
    40,
    { [requests("gateway", 429)]: "0+20x40", [requests("gateway", 200)]: "0+100x40" },
    { [requests("gateway", 429)]: "0+5x40", [requests("gateway", 200)]: "0+100x40" },
  ],
  BackgroundWorkFails: [10, ...is('scheduler_background_failing{step="cycle"}', "1x10", "1x3 0x7")],
  WorkersStuck: [5, ...is('governance_workers_stuck{pool="classify"}', "1x5", "0x5")],
  WorkersFail: [5, ...is('gateway_workers_failing{pool="threshold"}', "1x5", "0x5")],
  CertificateEnds: [
    90,
    ...is('storage_certificate_expiry_timestamp_seconds{setting="storage.grpc.cert"}', `${13 * day}x90`, `${15 * day}x90`),
  ],
  CertificateEndsTomorrow: [
    5,
    ...is('gateway_certificate_expiry_timestamp_seconds{setting="gateway.server.tls_cert"}', `${day / 2}x5`, `${2 * day}x5`),
  ],
  // A backup that is written for half an hour is no line towards a full disk.
  DiskFills: [45, ...is("storage_disk_free_bytes", `${gib}x45`, `${90 * gib}-${gib}x30 ${60 * gib}x15`)],
  DiskFull: [5, ...is("scheduler_disk_free_bytes", "100000000x5", `${gib}x5`)],

  GatewayVaultUnreachable: [10, ...is("gateway_vault_connection_up", "0x10", "1x8 0 1")],
  GatewayEmergencyAccessUsed: [5, ...is(event("emergency.access"), "0 0 0 1 1 1", "0x5")],
  GatewayBackupMissing: [
    38 * 60,
    { [event("backup.create")]: "0x2400" },
    { [event("backup.create")]: "0x600 1x1800", [`${event("backup.create").slice(0, -1)},instance="b"}`]: "0x2400" },
  ],
  GatewayDataKeyOld: [90, ...is("gateway_keys_rotation_age_seconds", `${367 * day}x90`, `${90 * day}x90`)],
  GatewayAuditLogDamaged: [5, ...is("gateway_audit_log_damaged", "1x5", "0x5")],
  GatewayAuditLogPutBack: [
    5,
    { 'gateway_audit_witness_trouble{of="ours",growth="forked"}': "1x5" },
    { 'gateway_audit_witness_trouble{of="ours",growth="unproven"}': "1x5" },
  ],
  GatewayPartnerLogPutBack: [5, ...is('gateway_audit_witness_trouble{of="partners",growth="put_back"}', "1x5", "0x5")],
  GatewayAuditNotWitnessed: [90, ...is("gateway_audit_witness_oldest_seconds", `${2 * day}x90`, "3600x90")],
  GatewayPartnerUnreachable: [40, ...is('gateway_federation_connections_active{status="unhealthy"}', "1x40", "1x20 0x20")],
  GatewayFederationOutboxStuck: [30, ...is("gateway_federation_outbox_oldest_seconds", "4000+60x30", "0+60x30")],
  GatewayPartnerCertificateEnds: [
    90,
    { [expiry("inbound")]: `${29 * day}x90` },
    { [expiry("inbound")]: `${31 * day}x90`, [expiry("outbound")]: `${29 * day}x90` },
  ],
  GatewayOwnCertificateAtPartnerEnds: [
    90,
    { [expiry("outbound")]: `${29 * day}x90` },
    { [expiry("outbound")]: `${31 * day}x90`, [expiry("inbound")]: `${29 * day}x90` },
  ],
  GatewayAuthorityCertificateEnds: [
    90,
    ...is('gateway_authority_certificate_expiry_seconds{authority="servers"}', `${89 * day}x90`, `${91 * day}x90`),
  ],
  GatewayPartnerDoesNotConfirm: [80, ...is("gateway_federation_unconfirmed", "1x80", "1x30 0 1x49")],
  GatewayDeliveryToPartnerFails: [10, ...is(event("federation.delivery"), "0x5 1x5", "3x10")],
  GatewayPartnerRefused: [20, ...is('gateway_federation_refusals_total{of="workspace",reason="CONFLICT"}', "0+5x20", "0+1x20")],
  GatewayPartnerOverBudget: [
    10,
    { 'gateway_federation_refusals_total{of="message",reason="RATE_LIMITED"}': "0+1x10" },
    { 'gateway_federation_refusals_total{of="message",reason="NOT_FOUND"}': "0+1x10" },
  ],
  GatewayStoreSlow: [
    20,
    slow("gateway_db_query_duration_seconds", "0.5", "5", ',operation="commit"'),
    slow("gateway_db_query_duration_seconds", "0.5", "5", ',operation="list"'),
  ],

  GovernanceRecogniserFailing: [10, ...is("governance_recogniser_failing", "1x10", "1x3 0x7")],
  GovernanceSourceFailing: [10, ...is('governance_source_failing{source="shop"}', "1x10", "1x3 0x7")],
  GovernanceSourceNotScanned: [
    60 * 52,
    {
      'governance_source_scanned_at_seconds{source="shop",instance="a"}': "0x3120",
      'governance_source_schedule_seconds{source="shop",instance="a"}': `${day}x3120`,
    },
    {
      'governance_source_scanned_at_seconds{source="shop",instance="a"}': `${day}x3120`,
      'governance_source_scanned_at_seconds{source="shop",instance="b"}': "0x3120",
      'governance_source_schedule_seconds{source="shop",instance="a"}': `${day}x3120`,
    },
  ],

  SchedulerNoQuorum: [5, ...is("scheduler_log_available", "0x5", "1 0 1 1 1")],
  SchedulerInstanceIdShared: [5, ...is("scheduler_instance_id_shared", "1x5", "0x5")],
  SchedulerLogFilling: [
    10,
    { 'scheduler_log_bytes{kind="in_use"}': "70x10", 'scheduler_log_bytes{kind="limit"}': "100x10" },
    { 'scheduler_log_bytes{kind="in_use"}': "50x10", 'scheduler_log_bytes{kind="limit"}': "100x10" },
  ],
  SchedulerLogRefusesWork: [
    5,
    { 'scheduler_log_bytes{kind="in_use"}': "81x5", 'scheduler_log_bytes{kind="limit"}': "100x5" },
    { 'scheduler_log_bytes{kind="in_use"}': "79x5", 'scheduler_log_bytes{kind="limit"}': "100x5" },
  ],
  SchedulerCycleSlow: [30, slow("scheduler_cycle_seconds", "5", "10"), fast("scheduler_cycle_seconds", "5")],
  SchedulerUsageLost: [5, ...is("scheduler_accounting_events_dropped_total", "0 0 3x5", "3x5")],
  SchedulerWebhookFails: [60, ...is('scheduler_webhook_deliveries_total{result="failed"}', "0+1x60", "2x60")],

  StoragePoolFilling: [
    10,
    { store_pool_used_bytes: "86x10", store_pool_capacity_bytes: "100x10" },
    { store_pool_used_bytes: "80x10", store_pool_capacity_bytes: "100x10" },
  ],
  StoragePoolNearlyFull: [
    5,
    { store_pool_used_bytes: "93x5", store_pool_capacity_bytes: "100x5" },
    { store_pool_used_bytes: "90x5", store_pool_capacity_bytes: "100x5" },
  ],
  StoragePoolFullSoon: [45, ...is("store_pool_time_to_full_seconds", `${3 * day}x45`, `${30 * day}x45`)],
  StorageChunkLost: [
    5,
    { 'store_scrub_chunks_total{verdict="Lost"}': "0 0 1x5" },
    { 'store_scrub_chunks_total{verdict="Ok"}': "0 0 1x5" },
  ],
  StorageBackgroundFails: [5, ...is('store_background_failing{step="round"}', "1x5", "0x5")],
  StorageWebhookNotReached: [
    20,
    { 'store_notifications_total{webhook="w",outcome="failed"}': "0+1x20", 'store_notifications_waiting{webhook="w"}': "4x20" },
    { 'store_notifications_total{webhook="w",outcome="failed"}': "0+1x20", 'store_notifications_waiting{webhook="w"}': "0x20" },
  ],
  StorageNotificationsLost: [5, ...is('store_notifications_total{webhook="w",outcome="dropped"}', "0 0 1x5", "7x5")],
  StorageReplicationLags: [10, ...is('store_replication_lag_seconds{destination="d",bucket="b:c"}', "1000x10", "800x10")],
  StorageReplicationRefused: [5, ...is('store_replication_versions_total{destination="d",outcome="refused"}', "0 0 1x5", "7x5")],
  StorageRepairsFail: [60, ...is('store_repair_total{outcome="failed"}', "0+1x60", "1x60")],
  StorageDeviceNotHealthy: [10, ...is('store_device_state{device="d",state="Failed"}', "1x10", "0x10")],
  // The second node was started last and has not scrubbed: the first did, for both.
  StorageScrubOverdue: [
    11 * 1440,
    { [scrubbed("a")]: `0x${11 * 1440}`, [scrubbed("b")]: `${day}x${11 * 1440}` },
    { [scrubbed("a")]: `0x${11 * 1440}`, [scrubbed("b")]: `${8 * day}x${11 * 1440}` },
  ],
  StorageGatewaySlow: [
    30,
    slow("store_gateway_request_duration_seconds", "1", "5"),
    fast("store_gateway_request_duration_seconds", "0.1"),
  ],
  StorageConsensusSlow: [
    30,
    slow("store_raft_commit_latency_seconds", "0.1", "1"),
    fast("store_raft_commit_latency_seconds", "0.1"),
  ],
  StorageShardWithoutLeader: [5, ...is('store_raft_state{shard="0",state="leader"}', "0x5", "1x5")],
  StorageKeyManagerUnreachable: [5, ...is("store_key_manager_reachable", "0x5", "1x5")],
  StorageTenantKmsUnreachable: [10, ...is('store_tenant_kms_reachable{tenant="acme"}', "0x10", "1x10")],
  StorageMaintenanceLong: [300, ...is('store_maintenance_mode{shard="0"}', "1x300", "1x200 0x100")],
  StorageAuthenticationFailures: [25, ...is("store_auth_failures_total", "0+90x25", "0+10x25")],
  StorageClientErrors: [
    15,
    { 'store_gateway_requests_total{status="503"}': "0+3x15", 'store_gateway_requests_total{status="200"}': "0+100x15" },
    { 'store_gateway_requests_total{status="404"}': "0+30x15", 'store_gateway_requests_total{status="200"}': "0+100x15" },
  ],
  StorageMemoryRefused: [5, ...is("store_memory_budget_refused_total", "0 0 1x5", "9x5")],

  AuditSinkBehind: [15, ...is('governance_audit_sink_lag_seconds{sink="siem"}', "400x15", "2x15")],
  AuditSinkRefusesRequests: [5, ...is("gateway_audit_sink_refusing", "1x5", "0x5")],
  AuditSinkEventsMissing: [5, ...is('storage_audit_sink_missing_total{sink="siem"}', "0 0 1x5", "1x5")],

  PostgresDown: [5, ...is("pg_up", "0x5", "1x5")],
  PostgresConnectionsFew: [
    10,
    {
      'pg_stat_activity_count{state="idle"}': "60x10",
      'pg_stat_activity_count{state="active"}': "30x10",
      pg_settings_max_connections: "100x10",
    },
    { 'pg_stat_activity_count{state="idle"}': "60x10", pg_settings_max_connections: "100x10" },
  ],
  PostgresTransactionLong: [
    15,
    { 'pg_stat_activity_max_tx_duration{state="idle in transaction"}': "700x15" },
    { 'pg_stat_activity_max_tx_duration{state="active"}': "5x15" },
  ],
  PostgresDeadlocks: [15, ...is("pg_stat_database_deadlocks", "0+1x15", "40x15")],
  PostgresNotDurable: [5, { pg_settings_fsync: "0x5", pg_settings_full_page_writes: "1x5" }, { pg_settings_fsync: "1x5" }],
  PostgresChecksumFailures: [5, ...is("pg_stat_database_checksum_failures", "0 0 1x5", "0x5")],
  PostgresReplicaBehind: [
    10,
    { [replica("db_2")]: `${gib}x10` },
    { [replica("db_2")]: `0+${2 ** 20}x10`, [replica("pg_basebackup", "backup")]: `${gib}x10` },
  ],
  PostgresReplicaLost: [
    15,
    { pg_up: "1x15", [replica("db_2")]: "0x3 stale" },
    { pg_up: "1x15", [replica("db_2")]: "0x15", [replica("pg_basebackup", "backup")]: "0x3 stale" },
  ],

  EtcdNoLeader: [5, ...is("etcd_server_has_leader", "0x5", "1x5")],
  EtcdMemberDown: [
    10,
    { 'up{job="etcd",instance="a"}': "1x3 0x7", 'etcd_server_has_leader{job="etcd",instance="a"}': "1x3 stale" },
    { 'up{job="etcd",instance="a"}': "1x10", 'etcd_server_has_leader{job="etcd",instance="a"}': "1x10" },
  ],
  EtcdSpaceFills: [
    20,
    { etcd_mvcc_db_total_size_in_bytes: "70x20", etcd_server_quota_backend_bytes: "100x20" },
    { etcd_mvcc_db_total_size_in_bytes: "50x20", etcd_server_quota_backend_bytes: "100x20" },
  ],
  EtcdSpaceNearlyFull: [
    5,
    { etcd_mvcc_db_total_size_in_bytes: "81x5", etcd_server_quota_backend_bytes: "100x5" },
    { etcd_mvcc_db_total_size_in_bytes: "79x5", etcd_server_quota_backend_bytes: "100x5" },
  ],
  EtcdFragmented: [
    45,
    { etcd_mvcc_db_total_size_in_use_in_bytes: "50000000x45", etcd_mvcc_db_total_size_in_bytes: "200000000x45" },
    { etcd_mvcc_db_total_size_in_use_in_bytes: "5000x45", etcd_mvcc_db_total_size_in_bytes: "20000x45" },
  ],
  EtcdDiskSlow: [
    30,
    slow("etcd_disk_wal_fsync_duration_seconds", "0.1", "1"),
    fast("etcd_disk_wal_fsync_duration_seconds", "0.008"),
  ],
  EtcdLeaderChanges: [15, ...is("etcd_server_leader_changes_seen_total", "0+1x15", "1x15")],
  EtcdProposalsFail: [15, ...is("etcd_server_proposals_failed_total", "0+1x15", "3x15")],
};

/** What one case of an alert does not show. */
export const furtherCases: readonly (readonly [alert: string, ...AlertCase])[] = [
  // Two hours of the same loss are a line: what is left is gone within the day.
  // One of two, whose place another takes on; and a server that has never had one.
  [
    "PostgresReplicaLost",
    15,
    { pg_up: "1x15", [replica("db_2")]: "0x15", [replica("db_3")]: "0x3 stale" },
    { pg_up: "1x15", [replica("db_2")]: "0x2 stale", [replica("db_3")]: "_ _ _ 0x12" },
  ],
  ["PostgresReplicaLost", 15, { pg_up: "1x15", [replica("db_2", "catchup")]: "0x5 stale" }, { pg_up: "1x15" }],
  ["DiskFills", 240, ...is("storage_disk_free_bytes", `${90 * gib}-${gib / 8}x240`, `${90 * gib}-${gib / 64}x240`)],
];
