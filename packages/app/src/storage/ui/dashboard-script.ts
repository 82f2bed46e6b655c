/** The dashboard's behaviour, as the browser gets it: polling, tabs, charts, filters, sign-in, operations. No framework. */
export const dashboardScript = `"use strict";
const pollMs = 5000, staleMs = 15000;
// What stands in front of the node's own paths: this script is /ui/assets/NAME of it.
const base = new URL(document.currentScript.src).pathname.replace(/\\/ui\\/assets\\/[^/]*$/, "");
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
let lastGood = 0, csrf = null, charts = {};

async function ask(path, options = {}) {
  const reply = await fetch(base + path, { credentials: "same-origin", ...options });
  if (!reply.ok) {
    const body = await reply.json().catch(() => ({}));
    const error = new Error((body.error && body.error.message) || "the node answered " + reply.status);
    error.status = reply.status;
    const issues = body.error && body.error.details && body.error.details.issues;
    if (issues) error.message += ": " + issues.map((i) => i.path + " " + i.message).join("; ");
    throw error;
  }
  return reply;
}
const json = async (path) => (await ask(path, { headers: { accept: "application/json" } })).json();

async function refreshFragment(target) {
  const text = await (await ask("/ui/fragment/" + target.dataset.fragment)).text();
  if (target.dataset.last === text) return;
  // The reader's place must survive the update.
  const focused = document.activeElement && target.contains(document.activeElement) ? document.activeElement.dataset.node : null;
  target.innerHTML = text;
  target.dataset.last = text;
  if (focused) { const again = $('button[data-node="' + CSS.escape(focused) + '"]', target); if (again) again.focus(); }
}

function visible(element) { return !element.closest("[hidden]"); }

async function poll() {
  try {
    await Promise.all($$("[data-fragment]").filter(visible).map(refreshFragment));
    if (visible($("#view-performance"))) await drawCharts();
    if (visible($("#view-events"))) await showEvents();
    lastGood = Date.now();
  } catch (error) { if (error.status === 401) note("Sign in under Operations to see this cluster."); }
  freshness();
}

function note(text) { $("#freshness").textContent = text; }
function freshness() {
  const age = Date.now() - lastGood;
  const stale = age > staleMs;
  document.body.classList.toggle("stale", stale);
  note(lastGood === 0 ? "No data yet" : stale ? "Stale: no answer for " + Math.round(age / 1000) + " s" : "Live, " + new Date(lastGood).toLocaleTimeString());
}

function lines(id, series, data, format) {
  const box = $("#" + id), dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const ink = dark ? "#a9b4c6" : "#4d586b", grid = { stroke: dark ? "#364154" : "#d9dee6" };
  const width = Math.max(280, box.clientWidth);
  if (charts[id]) { charts[id].setSize({ width, height: 220 }); charts[id].setData(data); return; }
  const colors = dark ? ["#7db8ff", "#6fd08a"] : ["#0a5bb5", "#146c2e"];
  charts[id] = new uPlot({
    width, height: 220,
    series: [{}, ...series.map((label, i) => ({ label, stroke: colors[i], width: 2, dash: i ? [6, 4] : undefined, value: (_, v) => v == null ? "-" : format(v) }))],
    axes: [{ stroke: ink, grid }, { stroke: ink, grid, size: 80, values: (_, list) => list.map(format) }],
  }, data, box);
}
const bytes = (n) => { let u = 0; for (; n >= 1024 && u < 5; u++) n /= 1024; return (u ? n.toFixed(1) : Math.round(n)) + " " + ["B", "KiB", "MiB", "GiB", "TiB", "PiB"][u]; };

async function drawCharts() {
  const data = await json("/ui/fragment/chart-data");
  const x = data.labels.map((t) => Date.parse(t) / 1000);
  lines("chart-io", ["written", "read"], [x, data.writes, data.reads], bytes);
  lines("chart-requests", ["requests"], [x, data.requests], (v) => v.toFixed(1));
  const nodes = await json("/ui/api/nodes");
  const most = Math.max(1, ...nodes.map((n) => n.summary.chunk_write_bytes));
  $("#node-bars").replaceChildren(...nodes.slice(0, 50).map((n) => {
    const row = document.createElement("div"), name = document.createElement("span"), bar = document.createElement("meter"), value = document.createElement("span");
    row.className = "bar"; name.textContent = n.node_id; bar.max = most; bar.value = n.summary.chunk_write_bytes;
    bar.setAttribute("aria-label", "written by " + n.node_id); value.textContent = bytes(n.summary.chunk_write_bytes);
    row.append(name, bar, value); return row;
  }));
}

async function showEvents() {
  const form = new FormData($("#event-filter")), query = new URLSearchParams({ limit: "200" });
  for (const [name, value] of form) if (value) query.set(name, value);
  const events = await json("/ui/api/events?" + query);
  $("#event-rows").replaceChildren(...events.map((e) => {
    const row = document.createElement("tr");
    const cell = (text, tag = "td") => { const c = document.createElement(tag); c.textContent = text; row.append(c); return c; };
    cell(e.timestamp.replace("T", " ").slice(0, 19), "th").scope = "row";
    const badge = document.createElement("span"); badge.className = "badge " + e.severity; badge.textContent = e.severity;
    cell("").append(badge); cell(e.category); cell(e.message);
    cell(Object.entries(e.details).map(([k, v]) => k + " " + (typeof v === "object" ? JSON.stringify(v) : v)).join(", "));
    return row;
  }));
}

function choose(tab) {
  for (const other of $$("[role=tab]")) {
    const on = other === tab;
    other.setAttribute("aria-selected", String(on)); other.tabIndex = on ? 0 : -1;
    $("#" + other.getAttribute("aria-controls")).hidden = !on;
  }
  history.replaceState(null, "", "#" + tab.id.slice(4));
  poll();
  if (tab.id === "tab-operations") fillOptions();
}

async function showNode(id) {
  const node = (await json("/ui/api/nodes")).find((n) => n.node_id === id);
  if (!node) return;
  $("#node-detail-title").textContent = "Node " + id;
  const facts = { address: node.address, status: node.status, devices: node.device_count, shards: node.shard_count, "last seen": node.last_seen, ...node.metrics };
  for (const [shard, role] of Object.entries(node.role)) facts[shard] = role;
  $("#node-facts").replaceChildren(...Object.entries(facts).flatMap(([name, value]) => {
    const dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = name.replaceAll("_", " "); dd.textContent = String(value); return [dt, dd];
  }));
  $("#node-detail").showModal();
}

function confirmed(text) {
  const dialog = $("#confirm");
  $("#confirm-text").textContent = text;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

function signedIn(session) {
  csrf = session ? session.csrf_token : null;
  $("#sign-in").hidden = !!session; $("#operations").hidden = !session;
  $("#who").textContent = session ? "Signed in as " + session.id + " (" + session.roles.join(", ") + ")" : "";
  if (session) fillOptions();
}

async function fillOptions() {
  if (!csrf) return;
  const none = () => [];
  const [shards, devices, pools, backups] = await Promise.all([
    json("/ui/api/shards"), json("/ui/api/devices"), json("/ui/api/pools"), json("/ui/api/ops/backups").catch(none),
  ]);
  const ids = devices.map((d) => d.device_id);
  const lists = {
    shards: shards.map((s) => [s.shard_id, s.shard_id]),
    targets: [...pools.map((p) => ["pool:" + p.pool_id, "pool " + p.pool_id]), ...ids.map((d) => ["device:" + d, "device " + d])],
    devices: devices.filter((d) => d.state === "Healthy" || d.state === "Degraded").map((d) => [d.device_id, d.device_id + " (" + d.state + ")"]),
    backups: backups.map((b) => [b.snapshot_id, b.created_at.replace("T", " ").slice(0, 16) + ", " + b.object_count + " objects" + (b.include_data ? "" : ", metadata only")]).reverse(),
    evacuating: devices.filter((d) => d.state === "Evacuating").map((d) => [d.device_id, d.device_id]),
  };
  for (const select of $$("select[data-options]")) {
    const chosen = select.value, fixed = $$('option[value=""]', select);
    select.replaceChildren(...fixed, ...lists[select.dataset.options].map(([value, text]) => new Option(text, value)));
    if ([...select.options].some((o) => o.value === chosen)) select.value = chosen;
  }
}

const change = async (method, path, body) => (await ask(path, {
  method, headers: { "x-csrf-token": csrf || "", ...(body === undefined ? {} : { "content-type": "application/json" }) },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
})).json();

const operations = {
  maintenance: (f) => change("POST", "/ui/api/ops/maintenance", { enabled: f.enabled === "true", ...(f.shard_id ? { shard_id: f.shard_id } : {}) }),
  scrub: (f) => { const [kind, id] = f.target.split(/:(.*)/s); return change("POST", "/ui/api/ops/scrub", f.target ? { scope: kind, id } : {}); },
  backup: (f) => change("POST", "/ui/api/ops/backup", { include_data: f.include_data === "true" }),
  restore: (f) => change("POST", "/ui/api/ops/restore", { snapshot_id: f.snapshot_id }),
  evacuate: (f) => change("POST", "/ui/api/ops/devices/" + encodeURIComponent(f.device) + "/evacuate"),
  "cancel-evacuation": (f) => change("POST", "/ui/api/ops/devices/" + encodeURIComponent(f.device) + "/cancel-evacuation"),
  tuning: (f) => change("PUT", "/ui/api/ops/tuning", { [f.name]: Number(f.value) }),
  "sign-out": async () => { await change("DELETE", "/ui/api/session"); signedIn(null); return { message: "signed out" }; },
};

addEventListener("DOMContentLoaded", async () => {
  const list = $("[role=tablist]"), tabs = $$("[role=tab]");
  list.addEventListener("click", (e) => { const tab = e.target.closest("[role=tab]"); if (tab) choose(tab); });
  list.addEventListener("keydown", (e) => {
    const at = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[e.key];
    if (at < 0 || to === undefined) return;
    e.preventDefault();
    const tab = tabs[(to + tabs.length) % tabs.length]; tab.focus(); choose(tab);
  });
  document.addEventListener("click", (e) => { const row = e.target.closest("tr[data-node]"); if (row) showNode(row.dataset.node); });
  $("#event-filter").addEventListener("input", () => { showEvents().catch(() => {}); });
  $("#event-filter").addEventListener("submit", (e) => e.preventDefault());
  $("#sign-in").addEventListener("submit", async (e) => {
    e.preventDefault();
    const input = $("input", e.target), result = $("#op-result");
    try {
      const reply = await ask("/ui/api/session", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ token: input.value }) });
      signedIn(await reply.json()); result.textContent = "Signed in"; poll();
    } catch (error) { result.textContent = "Not signed in: " + error.message; }
    input.value = "";
  });
  for (const form of $$("form[data-op]")) form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const fields = Object.fromEntries(new FormData(form)), result = $("#op-result");
    // What is about to happen is named, so that nobody says yes to the wrong device.
    const chosen = $$("select, input", form).map((f) => f.labels[0].firstChild.textContent.trim() + ": " + (f.selectedOptions ? f.selectedOptions[0].text : f.value));
    if (form.dataset.confirm && !(await confirmed(form.dataset.confirm + " (" + chosen.join("; ") + ")"))) return;
    try {
      const reply = await operations[form.dataset.op](fields);
      result.textContent = "Done: " + (reply.message || form.dataset.op) + (reply.job_id ? " (job " + reply.job_id.slice(0, 12) + ")" : "");
    } catch (error) { result.textContent = "Refused: " + error.message; if (error.status === 401) signedIn(null); }
    poll(); fillOptions().catch(() => {});
  });
  const wanted = $("#tab-" + CSS.escape(location.hash.slice(1) || "overview"));
  json("/ui/api/session").then(signedIn, () => signedIn(null));
  choose(wanted || tabs[0]);
  setInterval(poll, pollMs);
  setInterval(freshness, 1000);
});
`;
