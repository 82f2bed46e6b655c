import { tuningTable } from "@seneschal/core/storage";
import { type Html, html } from "./html.ts";

const tabs = [
  ["overview", "Overview"],
  ["performance", "Performance"],
  ["devices", "Devices and pools"],
  ["shards", "Shards"],
  ["jobs", "Jobs"],
  ["events", "Events"],
  ["operations", "Operations"],
] as const;

/** The dashboard's shell; everything in it arrives by polling. `asset` gives the path of a served file. */
export function dashboardPage(asset: (name: string) => string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Storage cluster</title>
<link rel="icon" href="${asset("icon.svg")}">
<link rel="stylesheet" href="${asset("uplot.css")}">
<link rel="stylesheet" href="${asset("dashboard.css")}">
<script src="${asset("uplot.js")}" defer></script>
<script src="${asset("dashboard.js")}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<h1>Storage cluster</h1>
<p id="freshness" role="status" aria-live="polite">Loading</p>
<p id="who"></p>
</header>
<nav aria-label="Views"><div role="tablist" aria-label="Views">${tabs.map(
    ([id, name], i) =>
      html`<button role="tab" id="tab-${id}" aria-controls="view-${id}" aria-selected="${i === 0 ? "true" : "false"}" tabindex="${i === 0 ? 0 : -1}">${name}</button>`,
  )}</div></nav>
<main id="main">
<section role="tabpanel" id="view-overview" aria-labelledby="tab-overview" tabindex="0">
<h2>Overview</h2>
<div class="cards" data-fragment="cluster-cards"></div>
<h3>Active alerts</h3>
<div data-fragment="alerts"></div>
<h3>Nodes</h3>
<div class="scroll" tabindex="0"><table><caption>Nodes; press a node for its details</caption><thead><tr><th scope="col">Node</th><th scope="col">Status</th><th scope="col">Devices</th><th scope="col">Shards</th><th scope="col">Raft</th><th scope="col">Requests</th><th scope="col">Written</th><th scope="col">Read</th><th scope="col">Conns</th></tr></thead><tbody data-fragment="node-table"></tbody></table></div>
</section>
<section role="tabpanel" id="view-performance" aria-labelledby="tab-performance" tabindex="0" hidden>
<h2>Performance</h2>
<h3>Bytes per second</h3><div id="chart-io" class="chart" role="img" aria-label="Line chart of bytes written and read per second; the table below has the numbers"></div>
<h3>Requests per second</h3><div id="chart-requests" class="chart" role="img" aria-label="Line chart of gateway requests per second; the table below has the numbers"></div>
<h3>Written by node</h3><div id="node-bars"></div>
<div class="scroll" tabindex="0" data-fragment="chart-data"></div>
</section>
<section role="tabpanel" id="view-devices" aria-labelledby="tab-devices" tabindex="0" hidden><h2>Devices and pools</h2><div data-fragment="devices"></div></section>
<section role="tabpanel" id="view-shards" aria-labelledby="tab-shards" tabindex="0" hidden><h2>Shards</h2><div data-fragment="shards"></div></section>
<section role="tabpanel" id="view-jobs" aria-labelledby="tab-jobs" tabindex="0" hidden><h2>Jobs</h2><div data-fragment="jobs"></div></section>
<section role="tabpanel" id="view-events" aria-labelledby="tab-events" tabindex="0" hidden>
<h2>Events</h2>
<form id="event-filter" class="row">
<label>Severity <select name="severity"><option value="">all</option>${["info", "warning", "error", "critical"].map((s) => html`<option>${s}</option>`)}</select></label>
<label>Category <select name="category"><option value="">all</option>${["node", "shard", "device", "tenant", "security", "admin", "raft", "gateway"].map((s) => html`<option>${s}</option>`)}</select></label>
<label>Hours <input name="hours" type="number" min="0.1" max="24" step="0.1" value="3"></label>
</form>
<div class="scroll" tabindex="0"><table><caption>Events, newest first</caption><thead><tr><th scope="col">Time (UTC)</th><th scope="col">Severity</th><th scope="col">Category</th><th scope="col">Message</th><th scope="col">Details</th></tr></thead><tbody id="event-rows"></tbody></table></div>
</section>
<section role="tabpanel" id="view-operations" aria-labelledby="tab-operations" tabindex="0" hidden>
<h2>Operations</h2>
<p id="op-result" role="status" aria-live="assertive"></p>
<form id="sign-in" class="panel"><h3>Sign in</h3><p>Operations need a cluster admin's token.</p><label>Admin token <input name="token" type="password" autocomplete="off" required></label><button>Sign in</button></form>
<div id="operations" hidden>
<form class="panel" data-op="maintenance" data-confirm="Make writes wait? Reads go on."><h3>Maintenance</h3><label>Shard <select name="shard_id" data-options="shards"><option value="">whole cluster</option></select></label><label>Mode <select name="enabled"><option value="true">on: read-only</option><option value="false">off: writable</option></select></label><button>Set</button></form>
<form class="panel" data-op="scrub" data-confirm="Read and verify every fragment in scope?"><h3>Scrub</h3><label>Scope <select name="target" data-options="targets"><option value="">whole cluster</option></select></label><button>Start</button></form>
<form class="panel" data-op="backup" data-confirm="Start a backup?"><h3>Backup</h3><label>Contents <select name="include_data"><option value="false">metadata</option><option value="true">metadata and data</option></select></label><button>Start</button></form>
<form class="panel" data-op="restore" data-confirm="Restore this backup? The cluster must be empty, and takes no writes meanwhile."><h3>Restore</h3><label>Backup <select name="snapshot_id" data-options="backups" required><option value="">choose a backup</option></select></label><button>Restore</button></form>
<form class="panel" data-op="evacuate" data-confirm="Move everything off this device?"><h3>Evacuate a device</h3><label>Device <select name="device" data-options="devices" required><option value="">choose a device</option></select></label><button>Evacuate</button></form>
<form class="panel" data-op="cancel-evacuation" data-confirm="Cancel the evacuation? What was moved stays moved."><h3>Cancel an evacuation</h3><label>Device <select name="device" data-options="evacuating" required><option value="">choose a device</option></select></label><button>Cancel evacuation</button></form>
<form class="panel" data-op="tuning" data-confirm="Change this parameter on every node?"><h3>Tuning</h3><label>Parameter <select name="name">${Object.entries(
    tuningTable,
  ).map(
    ([name, { min, max }]) => html`<option value="${name}">${name} (${min} to ${max})</option>`,
  )}</select></label><label>Value <input name="value" type="number" required></label><button>Change</button></form>
<form class="panel" data-op="sign-out"><h3>Session</h3><button>Sign out</button></form>
</div>
</section>
</main>
<dialog id="node-detail" aria-labelledby="node-detail-title"><h2 id="node-detail-title">Node</h2><dl id="node-facts"></dl><form method="dialog"><button>Close</button></form></dialog>
<dialog id="confirm" aria-labelledby="confirm-title"><h2 id="confirm-title">Please confirm</h2><p id="confirm-text"></p><form method="dialog" class="row"><button value="no">No</button><button value="yes" class="danger">Yes</button></form></dialog>
</body>
</html>
`;
}
