import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const files = ["gateway", "governance"].map(
  (service) => new URL(`../../../../ops/prometheus/${service}-alerts.yaml`, import.meta.url).pathname,
);
const dashboard = new URL("../../../../ops/grafana/gateway.json", import.meta.url);
const promtool = process.env["PROMTOOL"] ?? "promtool";
const installed = spawnSync(promtool, ["--version"]).status === 0;

interface Rule {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}
const rules = files.flatMap((file) =>
  (parse(readFileSync(file, "utf8")) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules),
);

const requests = (status: number) => `gateway_http_requests_total{status="${status}"}`;
const bucket = (le: string) => `gateway_http_request_duration_seconds_bucket{le="${le}"}`;
const event = (type: string) => `gateway_audit_events_total{event_type="${type}"}`;
const expiry = (direction: string) => `gateway_federation_certificate_expiry_seconds{direction="${direction}"}`;
/** By alert: minutes until it is judged, series in which it fires, and series in which it must not. */
const cases: Readonly<Record<string, readonly [minutes: number, bad: Record<string, string>, good: Record<string, string>]>> = {
  GatewayVaultUnreachable: [10, { gateway_vault_connection_up: "0x10" }, { gateway_vault_connection_up: "1x8 0 1" }],
  GatewayServerErrors: [
    15,
    { [requests(500)]: "0+3x15", [requests(200)]: "0+100x15" },
    { [requests(500)]: "0x15", [requests(200)]: "0+100x15" },
  ],
  GatewayAuthenticationFailures: [
    25,
    { 'gateway_auth_attempts_total{result="failure"}': "0+90x25" },
    { 'gateway_auth_attempts_total{result="failure"}': "0+10x25", 'gateway_auth_attempts_total{result="success"}': "0+900x25" },
  ],
  GatewayEmergencyAccessUsed: [5, { [event("emergency.access")]: "0 0 0 1 1 1" }, { [event("emergency.access")]: "0x5" }],
  GatewayBackupMissing: [
    38 * 60,
    { [event("backup.create")]: "0x2400" },
    { [event("backup.create")]: "0x600 1x1800", [`${event("backup.create").slice(0, -1)},instance="b"}`]: "0x2400" },
  ],
  GatewayDataKeyOld: [
    90,
    { gateway_keys_rotation_age_seconds: `${367 * 86_400}x90` },
    { gateway_keys_rotation_age_seconds: `${90 * 86_400}x90` },
  ],
  GatewaySlow: [
    20,
    { [bucket("1")]: "0+90x20", [bucket("5")]: "0+100x20", [bucket("+Inf")]: "0+100x20" },
    { [bucket("1")]: "0+100x20", [bucket("5")]: "0+100x20", [bucket("+Inf")]: "0+100x20" },
  ],
  GatewayBackgroundFails: [
    10,
    { 'gateway_background_failing{step="audit seal"}': "1x10" },
    { 'gateway_background_failing{step="audit seal"}': "1x3 0x7" },
  ],
  GatewayAuditLogDamaged: [5, { gateway_audit_log_damaged: "1x5" }, { gateway_audit_log_damaged: "0x5" }],
  GatewayPartnerUnreachable: [
    40,
    { 'gateway_federation_connections_active{status="unhealthy"}': "1x40" },
    { 'gateway_federation_connections_active{status="unhealthy"}': "1x20 0x20" },
  ],
  GatewayFederationOutboxStuck: [
    30,
    { gateway_federation_outbox_oldest_seconds: "4000+60x30" },
    { gateway_federation_outbox_oldest_seconds: "0+60x30" },
  ],
  GatewayPartnerCertificateEnds: [
    90,
    { [expiry("inbound")]: `${29 * 86_400}x90` },
    { [expiry("inbound")]: `${31 * 86_400}x90`, [expiry("outbound")]: `${29 * 86_400}x90` },
  ],
  GatewayOwnCertificateAtPartnerEnds: [
    90,
    { [expiry("outbound")]: `${29 * 86_400}x90` },
    { [expiry("outbound")]: `${31 * 86_400}x90`, [expiry("inbound")]: `${29 * 86_400}x90` },
  ],
  GatewayPartnerDoesNotConfirm: [
    80,
    { gateway_federation_unconfirmed: "1x80" },
    { gateway_federation_unconfirmed: "1x30 0 1x49" },
  ],
  GatewayDeliveryToPartnerFails: [10, { [event("federation.delivery")]: "0x5 1x5" }, { [event("federation.delivery")]: "3x10" }],
  GatewayPartnerRefused: [
    20,
    { 'gateway_federation_refusals_total{of="workspace",reason="CONFLICT"}': "0+5x20" },
    { 'gateway_federation_refusals_total{of="workspace",reason="CONFLICT"}': "0+1x20" },
  ],
  GatewayCertificateEnds: [
    90,
    { 'gateway_certificate_expiry_timestamp_seconds{setting="gateway.server.tls_cert"}': `${13 * 86_400}x90` },
    { 'gateway_certificate_expiry_timestamp_seconds{setting="gateway.server.tls_cert"}': `${15 * 86_400}x90` },
  ],
  GatewayDiskFills: [45, { gateway_disk_free_bytes: "1000000000x45" }, { gateway_disk_free_bytes: "9000000000x45" }],
  GovernanceBackgroundFails: [
    10,
    { 'governance_background_failing{step="audit follow"}': "1x10" },
    { 'governance_background_failing{step="audit follow"}': "1x3 0x7" },
  ],
  GovernanceWorkersStuck: [
    5,
    { 'governance_workers_stuck{pool="classify"}': "1x5" },
    { 'governance_workers_stuck{pool="classify"}': "0x5" },
  ],
  GovernanceCertificateEnds: [
    90,
    { 'governance_certificate_expiry_timestamp_seconds{setting="governance.server.tls_cert"}': `${13 * 86_400}x90` },
    { 'governance_certificate_expiry_timestamp_seconds{setting="governance.server.tls_cert"}': `${15 * 86_400}x90` },
  ],
  GovernanceDiskFills: [45, { governance_disk_free_bytes: "1000000000x45" }, { governance_disk_free_bytes: "9000000000x45" }],
  GatewayPartnerOverBudget: [
    10,
    { 'gateway_federation_refusals_total{of="message",reason="RATE_LIMITED"}': "0+1x10" },
    { 'gateway_federation_refusals_total{of="message",reason="NOT_FOUND"}': "0+1x10" },
  ],
};

function judged(alert: string, minutes: number, series: Record<string, string>, fires: boolean) {
  const rule = rules.find((one) => one.alert === alert);
  // A rule without a sum keeps the labels of what it looks at.
  const labels: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    GatewayBackgroundFails: { step: "audit seal" },
    GovernanceBackgroundFails: { step: "audit follow" },
    GovernanceWorkersStuck: { pool: "classify" },
    GovernanceCertificateEnds: { setting: "governance.server.tls_cert" },
    GatewayCertificateEnds: { setting: "gateway.server.tls_cert" },
    GatewayPartnerUnreachable: { status: "unhealthy" },
    GatewayPartnerCertificateEnds: { direction: "inbound" },
    GatewayOwnCertificateAtPartnerEnds: { direction: "outbound" },
  };
  const kept = labels[alert] ?? {};
  const said = (text: string): string => text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => kept[name] ?? "");
  const annotations = Object.entries(rule?.annotations ?? {}).map(([name, text]) => [name, said(String(text))]);
  const expected = { exp_labels: { ...rule?.labels, ...kept }, exp_annotations: Object.fromEntries(annotations) };
  return {
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: `${minutes}m`, alertname: alert, exp_alerts: fires ? [expected] : [] }],
  };
}

test("every alert has a case in which it fires and one in which it does not", () => {
  expect(Object.keys(cases).sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

test.skipIf(!installed)("each alert fires when it should, and only then (promtool)", () => {
  const folder = mkdtempSync(join(tmpdir(), "alerts-"));
  const tests = Object.entries(cases).flatMap(([alert, [minutes, bad, good]]) => [
    judged(alert, minutes, bad, true),
    judged(alert, minutes, good, false),
  ]);
  writeFileSync(join(folder, "test.json"), JSON.stringify({ rule_files: files, evaluation_interval: "1m", tests }));
  const { status, stdout, stderr } = spawnSync(promtool, ["test", "rules", join(folder, "test.json")], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  expect(status, stdout + stderr).toBe(0);
});

test.skipIf(!installed)("every query of the dashboard is PromQL (promtool)", () => {
  const { panels } = JSON.parse(readFileSync(dashboard, "utf8")) as { panels: { targets?: { expr: string }[] }[] };
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  expect(queries.length).toBeGreaterThan(15);
  const folder = mkdtempSync(join(tmpdir(), "queries-"));
  const recorded = queries.map((expr, at) => ({ record: `panel:${at}`, expr }));
  writeFileSync(join(folder, "rules.json"), JSON.stringify({ groups: [{ name: "dashboard", rules: recorded }] }));
  const { status, stdout, stderr } = spawnSync(promtool, ["check", "rules", join(folder, "rules.json")], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  expect(status, stdout + stderr).toBe(0);
});
