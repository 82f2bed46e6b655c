import { createRequire } from "node:module";
import { type Assets, openAssets } from "@seneschal/adapters/assets";
import { dashboardScript } from "./dashboard-script.ts";
import { dashboardStyle } from "./dashboard-style.ts";

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
