import { createRequire } from "node:module";
import { type Assets, openAssets } from "@seneschal/adapters/assets";
import { dashboardScript } from "./dashboard-script.ts";

const require = createRequire(import.meta.url);
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#0a5bb5" d="M2 2h12v4H2zm0 5h12v3H2zm0 4h12v3H2z"/></svg>`;

/** Everything the dashboard needs, from this installation; no request leaves it. */
export function openDashboardAssets(): Promise<Assets> {
  const script = "text/javascript; charset=utf-8";
  const style = "text/css; charset=utf-8";
  return openAssets([
    { name: "dashboard.js", mediaType: script, text: dashboardScript },
    { name: "dashboard.css", mediaType: style, text: dashboardStyle },
    { name: "icon.svg", mediaType: "image/svg+xml", text: icon },
    { name: "uplot.js", mediaType: script, file: require.resolve("uplot/dist/uPlot.iife.min.js") },
    { name: "uplot.css", mediaType: style, file: require.resolve("uplot/dist/uPlot.min.css") },
  ]);
}

/** The dashboard's style: light and dark, from 360 px up. */
const dashboardStyle = `:root{color-scheme:light dark;--bg:#f6f7f9;--panel:#fff;--text:#1b2230;--dim:#4d586b;--line:#c9d0da;--accent:#0a5bb5;--good:#146c2e;--warn:#8a4b00;--bad:#b3141b;--on:#fff}
@media (prefers-color-scheme:dark){:root{--bg:#11151c;--panel:#1a202b;--text:#e8ecf3;--dim:#a9b4c6;--line:#364154;--accent:#7db8ff;--good:#6fd08a;--warn:#f3b65a;--bad:#ff8b8b;--on:#0d1117}}
*{box-sizing:border-box}[hidden]{display:none!important}
body{margin:0;background:var(--bg);color:var(--text);font:15px/1.5 system-ui,sans-serif}
.skip{position:absolute;left:-999px}.skip:focus{left:8px;top:8px;background:var(--panel);padding:8px}
header{display:flex;flex-wrap:wrap;gap:4px 16px;align-items:baseline;padding:12px 16px;background:var(--panel);border-bottom:1px solid var(--line)}
h1{font-size:1.25rem;margin:0}h2{font-size:1.15rem}h3{font-size:1rem;margin:16px 0 8px}
#freshness,#who{margin:0;color:var(--dim)}.stale #freshness{color:var(--bad);font-weight:600}
nav{overflow-x:auto;background:var(--panel);border-bottom:1px solid var(--line)}
[role=tablist]{display:flex;padding:0 8px;min-width:max-content}
[role=tab]{border:0;background:none;color:var(--dim);padding:12px;font:inherit;cursor:pointer;border-bottom:3px solid transparent}
[role=tab][aria-selected=true]{color:var(--text);border-color:var(--accent);font-weight:600}
main{padding:8px 16px 32px;max-width:1280px;margin:auto}
:focus-visible{outline:3px solid var(--accent);outline-offset:1px}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(140px,1fr));gap:12px}@media(min-width:700px){.cards{grid-template-columns:repeat(4,1fr)}}
.card,.panel{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:12px}
.card h3,.panel h3{margin:0 0 4px;color:var(--dim);font-size:.9rem}.value{font-size:1.4rem;margin:0;font-weight:600}.note{margin:0;color:var(--dim);font-size:.85rem}
#operations{display:grid;grid-template-columns:repeat(auto-fill,minmax(240px,1fr));gap:12px}
.scroll{overflow-x:auto;margin-bottom:16px}
table{border-collapse:collapse;width:100%;background:var(--panel);border:1px solid var(--line)}
caption{text-align:left;color:var(--dim);padding:4px 0}
th,td{text-align:left;padding:6px 10px;border-bottom:1px solid var(--line);vertical-align:top}thead th{color:var(--dim);font-weight:600;white-space:nowrap}
tbody th{font-weight:600}.result{max-width:420px;overflow-wrap:anywhere}
.badge{display:inline-block;border:1px solid currentColor;border-radius:10px;padding:0 8px;font-size:.85rem;white-space:nowrap}
.healthy,.normal,.succeeded,.writable,.info{color:var(--good)}
.degraded,.warning,.evacuating,.running,.queued,.draining,.maintenance,.cancelled,.removed{color:var(--warn)}
.down,.critical,.failed,.unreachable,.full,.read_only,.error{color:var(--bad)}
.flag{color:var(--warn);font-size:.85rem}
.alerts{list-style:none;padding:0;margin:0;display:grid;gap:6px}.alerts li{background:var(--panel);border-left:4px solid currentColor;padding:8px 12px;overflow-wrap:anywhere}
.quiet{color:var(--dim)}
.row{display:flex;flex-wrap:wrap;gap:12px;align-items:end;margin-bottom:12px}
label{display:block;margin:6px 0;color:var(--dim)}select,input{display:block;width:100%;font:inherit;padding:8px;color:var(--text);background:var(--bg);border:1px solid var(--dim);border-radius:6px}
.row select,.row input{min-width:110px}
button{font:inherit;padding:8px 14px;border-radius:6px;border:1px solid var(--accent);background:var(--accent);color:var(--on);cursor:pointer}
button.link{background:none;border:0;color:var(--accent);padding:0;text-decoration:underline}
button.danger{background:var(--bad);border-color:var(--bad)}
meter,progress{width:90px;height:14px;vertical-align:middle}
.chart{background:var(--panel);border:1px solid var(--line);min-height:220px}.u-legend,.u-legend :is(th,td){border:0}
.bar{display:grid;grid-template-columns:minmax(80px,160px) 1fr auto;gap:8px;align-items:center}.bar meter{width:100%}
dialog{border:1px solid var(--line);border-radius:8px;background:var(--panel);color:var(--text);max-width:min(560px,92vw)}
dl{display:grid;grid-template-columns:auto 1fr;gap:4px 16px}dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}
#op-result{min-height:1.5em;font-weight:600}
`;
