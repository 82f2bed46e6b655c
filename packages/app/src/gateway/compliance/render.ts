import type { Json } from "@seneschal/core";
import { csvField } from "../audit/export.ts";

/** A report as rows `path,value`, RFC 4180: every figure of the JSON is one row, in its order. */
export function reportCsv(report: Json): string {
  const rows = ["path,value"];
  const walk = (path: string, value: Json): void => {
    const entries = Array.isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : undefined;
    if (entries === undefined || entries.length === 0) rows.push(`${csvField(path)},${csvField(scalar(value))}`);
    else for (const [key, item] of entries) walk(path === "" ? String(key) : `${path}.${key}`, item as Json);
  };
  walk("", report);
  return `${rows.join("\r\n")}\r\n`;
}

/** A report as one self-contained page that prints well; nothing in it is loaded or run. */
export function reportHtml(title: string, report: Json): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<style>body{font:14px/1.5 system-ui,sans-serif;margin:2rem;color:#111;background:#fff}table{border-collapse:collapse;margin:.25rem 0}
th,td{border:1px solid #999;padding:.25rem .5rem;text-align:left;vertical-align:top}th{background:#eee}</style></head>
<body><h1>${escapeHtml(title)}</h1>${html(report)}</body></html>
`;
}

function html(value: Json): string {
  if (Array.isArray(value)) {
    return value.length === 0 ? "none" : `<ol>${value.map((item) => `<li>${html(item as Json)}</li>`).join("")}</ol>`;
  }
  if (!isObject(value)) return escapeHtml(scalar(value));
  const rows = Object.entries(value).map(
    ([key, item]) => `<tr><th scope="row">${escapeHtml(key)}</th><td>${html(item)}</td></tr>`,
  );
  return rows.length === 0 ? "none" : `<table>${rows.join("")}</table>`;
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function scalar(value: Json): string {
  if (value === null) return "";
  return typeof value === "object" ? "none" : String(value);
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
