import type { Job } from "@seneschal/core/jobs";
import type { clusterView, deviceViews, nodeViews, poolViews, shardViews } from "../admin/views.ts";
import { jobView } from "../admin/views.ts";
import type { ClusterSample } from "../watch/monitor.ts";
import { type Html, html, size } from "./html.ts";

const number = (n: number) => n.toLocaleString("en");
/** A state as text with its colour class; colour is never alone. */
const badge = (state: string): Html => html`<span class="badge ${state.toLowerCase()}">${state.replace("_", " ")}</span>`;

function card(title: string, value: Html | string, note: string): Html {
  return html`<div class="card"><h3>${title}</h3><p class="value">${value}</p><p class="note">${note}</p></div>`;
}

export function clusterCards(view: ReturnType<typeof clusterView>): Html {
  const { aggregate: a } = view;
  const used = view.total_capacity_bytes === 0 ? 0 : (100 * view.used_capacity_bytes) / view.total_capacity_bytes;
  return html`${card("Health", badge(view.health), `${view.healthy_nodes} of ${view.total_nodes} nodes healthy${view.maintenance_mode ? ", maintenance is on" : ""}`)}${card(
    "Capacity",
    html`${used.toFixed(1)}%`,
    `${size(view.used_capacity_bytes)} of ${size(view.total_capacity_bytes)} used`,
  )}${card("Devices", html`${view.device_count}`, `${view.evacuating_devices} evacuating, ${view.active_repairs} repairs`)}${card(
    "Shards",
    html`${view.shard_count}`,
    `${number(a.shard_deltas)} changes, leader ${view.leader_node}`,
  )}${card("Requests", html`${number(a.gateway_requests)}`, "gateway requests since the start")}${card(
    "Written",
    html`${size(a.chunk_write_bytes)}`,
    "chunk bytes since the start",
  )}${card("Read", html`${size(a.chunk_read_bytes)}`, "chunk bytes since the start")}${card(
    "Connections",
    html`${number(a.transport_connections)}`,
    "open transport connections",
  )}`;
}

export function nodeTable(nodes: ReturnType<typeof nodeViews>): Html {
  return html`${nodes.map((n) => {
    const s = n.summary;
    return html`<tr data-node="${n.node_id}"><th scope="row"><button class="link" data-node="${n.node_id}">${n.node_id}</button></th><td>${badge(n.status)}</td><td>${n.device_count}</td><td>${n.shard_count}</td><td>${number(s.raft_entries)}</td><td>${number(s.gateway_requests)}</td><td>${size(s.chunk_write_bytes)}</td><td>${size(s.chunk_read_bytes)}</td><td>${s.transport_connections}</td></tr>`;
  })}`;
}

/** Rates per second between samples: what the charts draw. */
export interface ChartData {
  readonly labels: readonly string[];
  readonly writes: readonly number[];
  readonly reads: readonly number[];
  readonly requests: readonly number[];
}

export function chartData(points: readonly ClusterSample[], maxPoints = 360): ChartData {
  const step = Math.max(1, Math.ceil(points.length / maxPoints));
  const kept = points.filter((_, i) => i % step === 0);
  const rate = (pick: (s: ClusterSample) => number) =>
    kept.slice(1).map((point, i) => {
      const before = kept[i] as ClusterSample;
      const seconds = (point.timestamp_ms - before.timestamp_ms) / 1000;
      // A counter that fell was a restart: nothing is known about that step.
      return seconds <= 0 ? 0 : Math.max(0, (pick(point) - pick(before)) / seconds);
    });
  return {
    labels: kept.slice(1).map((p) => new Date(p.timestamp_ms).toISOString()),
    writes: rate((s) => s.summary.chunk_write_bytes),
    reads: rate((s) => s.summary.chunk_read_bytes),
    requests: rate((s) => s.summary.gateway_requests),
  };
}

/** The newest rates as a table: the charts' data for those who do not see them. */
export function chartFragment(data: ChartData): Html {
  const rows = data.labels
    .map((label, i) => ({ label, writes: data.writes[i] ?? 0, reads: data.reads[i] ?? 0, requests: data.requests[i] ?? 0 }))
    .slice(-12);
  return html`<table><caption>Rates of the last samples</caption><thead><tr><th scope="col">Time (UTC)</th><th scope="col">Written/s</th><th scope="col">Read/s</th><th scope="col">Requests/s</th></tr></thead><tbody>${rows.map(
    (r) =>
      html`<tr><th scope="row">${r.label.slice(11, 19)}</th><td>${size(Math.round(r.writes))}</td><td>${size(Math.round(r.reads))}</td><td>${r.requests.toFixed(1)}</td></tr>`,
  )}</tbody></table>`;
}

export function alertList(alerts: ReturnType<typeof clusterView>["active_alerts"]): Html {
  if (alerts.length === 0) return html`<p class="quiet">No active alerts.</p>`;
  return html`<ul class="alerts">${alerts.map((a) => html`<li class="${a.severity}"><strong>${a.severity}</strong> ${a.subject}: ${a.message}</li>`)}</ul>`;
}

export function deviceTables(pools: ReturnType<typeof poolViews>, devices: Awaited<ReturnType<typeof deviceViews>>): Html {
  return html`<div class="scroll" tabindex="0"><table><caption>Pools</caption><thead><tr><th scope="col">Pool</th><th scope="col">State</th><th scope="col">Class</th><th scope="col">Durability</th><th scope="col">Fill</th><th scope="col">Warning / critical / read-only / full</th></tr></thead><tbody>${pools.map(
    (p) => {
      const t = p.thresholds;
      return html`<tr><th scope="row">${p.pool_id}</th><td>${badge(p.state)}</td><td>${p.class}</td><td>${p.durability}</td><td><meter min="0" max="100" high="${t.warning}" value="${p.used_percent}" aria-label="fill of pool ${p.pool_id}"></meter> ${p.used_percent}% of ${size(p.capacity_bytes)}</td><td>${t.warning} / ${t.critical} / ${t.read_only} / ${t.full} %</td></tr>`;
    },
  )}</tbody></table></div><div class="scroll" tabindex="0"><table><caption>Devices</caption><thead><tr><th scope="col">Device</th><th scope="col">State</th><th scope="col">Pool</th><th scope="col">Fill</th><th scope="col">Wear</th><th scope="col">Bad sectors</th><th scope="col">Evacuation</th></tr></thead><tbody>${devices.map(
    (d) =>
      html`<tr><th scope="row">${d.device_id}</th><td>${badge(d.state)}${d.flags.map((f) => html` <span class="flag">${f.replaceAll("_", " ")}</span>`)}</td><td>${d.pool_id}</td><td><meter min="0" max="100" value="${d.used_percent}" aria-label="fill of device ${d.device_id}"></meter> ${d.used_percent}%</td><td>${d.wear_percent === null ? "-" : `${d.wear_percent}%`}</td><td>${d.bad_sectors ?? "-"}</td><td>${d.evacuation === null ? "-" : html`<progress max="${Math.max(1, d.evacuation.total)}" value="${d.evacuation.moved}" aria-label="evacuation of ${d.device_id}"></progress> ${d.evacuation.moved} of ${d.evacuation.total}`}</td></tr>`,
  )}</tbody></table></div>`;
}

export function shardTable(shards: ReturnType<typeof shardViews>): Html {
  return html`<div class="scroll" tabindex="0"><table><caption>Shards</caption><thead><tr><th scope="col">Shard</th><th scope="col">Leader</th><th scope="col">Mode</th><th scope="col">Objects</th><th scope="col">Bytes</th><th scope="col">Changes</th><th scope="col">Lag</th><th scope="col">Inline threshold</th></tr></thead><tbody>${shards.map(
    (s) =>
      html`<tr><th scope="row">${s.shard_id}</th><td>${s.leader}</td><td>${badge(s.maintenance ? "maintenance" : "writable")}</td><td>${number(s.object_count)}</td><td>${size(s.bytes)}</td><td>${number(s.delta_count)}</td><td>${s.lag_seconds} s</td><td>${s.inline_threshold_bytes} B</td></tr>`,
  )}</tbody></table></div>`;
}

export function jobTable(jobs: readonly Job[]): Html {
  if (jobs.length === 0) return html`<p class="quiet">No jobs yet.</p>`;
  return html`<div class="scroll" tabindex="0"><table><caption>Jobs, newest first</caption><thead><tr><th scope="col">Job</th><th scope="col">Kind</th><th scope="col">Scope</th><th scope="col">State</th><th scope="col">Progress</th><th scope="col">Result</th></tr></thead><tbody>${jobs
    .map(jobView)
    .map(
      (j) =>
        html`<tr><th scope="row"><code>${j.job_id.slice(0, 12)}</code></th><td>${j.kind}</td><td>${j.scope}</td><td>${badge(j.state)}</td><td><progress max="1" value="${j.progress.fraction}" aria-label="progress of ${j.kind}"></progress> ${Math.round(j.progress.fraction * 100)}%</td><td class="result">${j.error?.message ?? summary(j.result)}</td></tr>`,
    )}</tbody></table></div>`;
}

function summary(result: Readonly<Record<string, unknown>> | null): string {
  return Object.entries(result ?? {})
    .map(([name, value]) => `${name.replaceAll("_", " ")} ${String(value)}`)
    .join(", ");
}
